//! Breaches that only a clock can show: a pause of the machine looks the same, so they count on a quiet one.

use std::time::Duration;

use super::case::Breach;
use super::{Tally, pause};
use crate::evidence::Evidence;
use crate::finding::Line;
use crate::promise::Noise;

/// How long an answer that promises no wait may take beyond the noise bound: a ledger is written and a reply sent.
pub(in crate::checks) const AT_ONCE: Duration = Duration::from_millis(500);

/// How much before its time something may be seen that was not early: what a timer, and the proxy's clock, round away.
pub(in crate::checks) const EARLY: Duration = Duration::from_millis(2);

/// Breaches of a time limit, kept apart until the machine's pauses are known.
#[derive(Debug, Default)]
pub(in crate::checks) struct Late(Vec<Breach>);

impl Late {
    /// Notes something that came later than promised.
    pub fn breach(&mut self, class: &'static str, what: String, lines: Vec<Line>) {
        self.0.push(Breach { what, class, lines });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds them to what was counted when the machine was quiet. When it was not, nothing is known about times: neither
    /// that something was late nor, since a delay hides what came too early, that nothing was.
    pub fn settle(self, evidence: &Evidence, noise: Noise, tally: &mut Tally) {
        match pause(evidence, noise) {
            Some((why, advice)) => tally.gap(why, advice),
            None => tally.breaches.extend(self.0),
        }
    }
}
