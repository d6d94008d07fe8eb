//! The retries of a herd and their fullest windows.

use std::time::Duration;

use super::gaps::Gaps;
use crate::checks::support::{Request, attempt_line};
use crate::finding::Line;
use crate::law::Law;
use crate::promise::RetryPolicy;
use crate::stats::{Alpha, Tail, TestResult, peak};

/// The windows, as shares of the base. A short one is the most telling; a long one still holds a herd that the machine,
/// busy with the herd itself, has smeared.
pub(super) const SHARES: [u32; 3] = [10, 5, 4];

/// Shorter windows would measure timers.
const SHORTEST_WINDOW: Duration = Duration::from_millis(5);

/// The retries of a herd.
pub(in crate::checks) struct Herd<'a> {
    /// Those that retried.
    pub clients: usize,
    /// Promised retries of each.
    pub retries: usize,
    /// Promised retries that did not come.
    pub missing: usize,
    /// Seconds from each client's own first failure, waits only.
    pub offsets: Vec<f64>,
    /// By the proxy's clock, in seconds.
    arrivals: Vec<f64>,
    /// Seconds between the earliest and the latest first failure.
    pub spread: f64,
    gaps: Gaps<'a>,
}

impl<'a> Herd<'a> {
    /// The herd of those requests.
    pub fn of(asked: &[Request<'_, 'a>], policy: &RetryPolicy) -> Self {
        let mut gaps = Gaps::of(asked, policy);
        // Attempts beyond the promised ones are for R1 to count.
        let retries = (policy.attempts as usize).saturating_sub(1);
        gaps.rows.iter_mut().for_each(|row| row.truncate(retries));
        let mut offsets = Vec::new();
        for row in &gaps.rows {
            offsets.extend(row.iter().scan(0.0, |at, gap| {
                *at += gap.seconds();
                Some(*at)
            }));
        }
        let firsts = || gaps.rows.iter().filter_map(|row| row.first()).map(|gap| gap.before.reply.ended.0);
        let spread = firsts().max().zip(firsts().min()).map_or(0.0, |(last, first)| (last - first) as f64 / 1e9);
        Herd {
            clients: gaps.rows.iter().filter(|row| !row.is_empty()).count(),
            retries,
            missing: gaps.missing,
            arrivals: gaps.iter().map(|gap| gap.after.arrived.0 as f64 / 1e9).collect(),
            offsets,
            spread,
            gaps,
        }
    }

    /// The most retries in any window of that many seconds, placed by the proxy's clock.
    pub fn by_the_clock(&self, window: f64) -> usize {
        peak::max_sliding(&self.arrivals, window).0
    }

    /// The retries of the fullest window.
    pub fn lines(&self, window: f64) -> Vec<Line> {
        let start = peak::max_sliding(&self.offsets, window).1;
        let inside = self.gaps.iter().zip(&self.offsets).filter(|(_, at)| (start..=start + window).contains(*at));
        inside
            .map(|(gap, at)| {
                let remark = format!("{:.1} ms of waiting after its first failure", 1e3 * at);
                attempt_line(gap.after, gap.rank + 1, Some(gap.before), &remark)
            })
            .collect()
    }

    /// The peaks of all windows that the profile can resolve, the one that says most first.
    pub fn peaks(&self, law: &Law, slack: Duration) -> Vec<Peak> {
        let base = if law.base().is_zero() { law.waits(0).1 } else { law.base() };
        // A level that is split cannot leave (0, 1/2): the default is what it would be.
        let alpha = Alpha::new(Alpha::DEFAULT.split(SHARES.len())).unwrap_or_default();
        let mut peaks: Vec<Peak> = SHARES
            .iter()
            .filter_map(|share| self.peak(law, slack, (base / *share).max(SHORTEST_WINDOW), alpha))
            .collect();
        let said = |p: &Peak| p.result.statistic / p.result.critical;
        let rank = |p: &Peak| (p.result.rejected, p.telling);
        peaks.sort_by(|a, b| rank(b).cmp(&rank(a)).then(said(b).total_cmp(&said(a))));
        peaks
    }

    fn peak(&self, law: &Law, slack: Duration, window: Duration, alpha: Alpha) -> Option<Peak> {
        let (clients, retries) = (self.clients, self.retries);
        let setup = peak::Herd { clients, retries, window, slack, alpha, sliding: true };
        let result = peak::test(&self.offsets, &setup, law).ok()?;
        let by_the_clock = self.by_the_clock(window.as_secs_f64());
        // What the canary measured may also have torn a herd apart: then the window must hold it all the same.
        let telling = result.critical <= clients as f64 && window >= slack;
        Some(Peak { window, by_the_clock, telling, result })
    }
}

/// The fullest window of one length.
pub(in crate::checks) struct Peak {
    /// Its length.
    pub window: Duration,
    /// Retries in the fullest one by the proxy's clock, whenever their clients failed.
    pub by_the_clock: usize,
    /// Whether a herd that returns as one would be ruled out.
    pub telling: bool,
    /// Count, m* and chance.
    pub result: TestResult,
}

impl Peak {
    /// Chance on a correct service, for the best of all windows.
    pub fn chance(&self) -> Tail {
        self.result.tail.of_several(SHARES.len())
    }
}
