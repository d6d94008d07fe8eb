//! Latencies and failures of one step of one route.

use std::time::Duration;

use super::is_whole;
use crate::checks::support::ms;
use crate::evidence::Outcome;

/// Calls of a route, sorted by latency.
#[derive(Debug)]
pub(super) struct Calls<'e> {
    /// By latency, fastest first. A call without an answer counts with the time that it was waited for.
    all: Vec<&'e Outcome>,
}

impl<'e> Calls<'e> {
    pub(super) fn of(mut all: Vec<&'e Outcome>) -> Self {
        all.sort_by_key(|o| o.latency());
        Self { all }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Nearest-rank percentile of the latency; zero without calls.
    pub(super) fn percentile(&self, p: f64) -> Duration {
        let rank = (p * self.all.len() as f64).ceil() as usize;
        self.all.get(rank.clamp(1, self.all.len().max(1)) - 1).map_or(Duration::ZERO, |o| o.latency())
    }

    pub(super) fn failed(&self) -> impl Iterator<Item = &'e Outcome> {
        self.all.iter().copied().filter(|o| !is_whole(o))
    }

    /// Slowest first.
    pub(super) fn slower_than(&self, limit: Duration) -> impl Iterator<Item = &'e Outcome> {
        self.all.iter().rev().copied().take_while(move |o| o.latency() > limit)
    }

    /// Share of calls that worked.
    pub(super) fn success_rate(&self) -> f64 {
        1.0 - self.failed().count() as f64 / self.all.len().max(1) as f64
    }

    /// A row of the exhibit.
    pub(super) fn row(&self, name: &str) -> String {
        let cells: Vec<_> = [0.5, 0.9, 0.99, 1.0].map(|p| format!("{:>10}", ms(self.percentile(p)))).into();
        format!("{name:8} {:>5} {:>7.1} % {}", self.len(), 100.0 * self.success_rate(), cells.join(" "))
    }

    /// The head of the exhibit.
    pub(super) fn head(route: &str) -> String {
        format!("{route:8} {:>5} {:>9} {:>10} {:>10} {:>10} {:>10}", "calls", "success", "p50", "p90", "p99", "max")
    }
}
