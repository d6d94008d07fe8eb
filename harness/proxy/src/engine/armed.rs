//! The handle of a rule in force.

use std::sync::Arc;
use std::time::Duration;

use evidence::FaultWindow;

use super::gate::Held;
use super::report::{RuleCount, RuleReport};
use super::{ArmedRule, Engine};
use crate::rules::Rule;

/// A rule in force. Dropping it takes the rule out of force and lets go what it holds.
///
/// What a rule has decided, it carries out: a call that was decided on before [`Armed::disarm`] may still be struck
/// after it (a `response/reset` whose upstream is slow). Let the calls in flight end first where that matters.
#[derive(Debug)]
#[must_use = "a rule is in force only as long as its handle lives"]
pub struct Armed {
    engine: Arc<Engine>,
    rule: Arc<ArmedRule>,
}

/// Something that a test waited for did not come in time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// Too few calls at a gate.
    #[error("rule `{rule}` held {seen} of {wanted} calls within {within:?}; check that its match and schedule fit")]
    Held {
        /// The rule.
        rule: String,
        /// How many were wanted.
        wanted: usize,
        /// How many were there at the end.
        seen: usize,
        /// How long was waited.
        within: Duration,
    },
    /// Too few strikes.
    #[error("rule `{rule}` struck {seen} of {wanted} times within {within:?}; check that its match and schedule fit")]
    Fired {
        /// The rule.
        rule: String,
        /// How many were wanted.
        wanted: u64,
        /// How many there were.
        seen: u64,
        /// How long was waited.
        within: Duration,
    },
    /// Too few arrivals.
    #[error("{seen} of {wanted} requests arrived on link `{link}` within {within:?}")]
    Arrivals {
        /// The link.
        link: String,
        /// How many were wanted.
        wanted: u64,
        /// How many there were.
        seen: u64,
        /// How long was waited.
        within: Duration,
    },
    /// Requests still in flight.
    #[error("{left} requests were still in flight on link `{link}` after {within:?}")]
    Busy {
        /// The link.
        link: String,
        /// How many.
        left: usize,
        /// How long was waited.
        within: Duration,
    },
}

impl Armed {
    pub(super) fn new(engine: Arc<Engine>, rule: Arc<ArmedRule>) -> Self {
        Self { engine, rule }
    }

    /// The rule's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.rule.rule.id
    }

    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &Rule {
        &self.rule.rule
    }

    /// Whether it is in force: its time to live, its lease, its scope or its link may have ended it.
    #[must_use]
    pub fn is_in_force(&self) -> bool {
        !self.rule.is_healed()
    }

    /// Epoch of the fault set that it came into force with: every decision of this or a later epoch saw it.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.rule.epoch
    }

    /// How often it struck. Zero after a scenario means that the scenario did not test what it meant to.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.rule.fired()
    }

    /// How often it decided to strike; more than [`Armed::fired`] while calls are on their way to the phase, and when
    /// they never reached it (the client left, the upstream failed).
    #[must_use]
    pub fn decided(&self) -> u64 {
        self.rule.decided()
    }

    /// Waits until it has struck `n` times.
    ///
    /// # Errors
    /// When `within` is over first.
    pub async fn wait_fired(&self, n: u64, within: Duration) -> Result<(), WaitError> {
        if self.rule.gate.until(within, || self.fired() >= n).await {
            return Ok(());
        }
        Err(WaitError::Fired { rule: self.id().to_owned(), wanted: n, seen: self.fired(), within })
    }

    /// The calls that it holds, in the order they reached the gate.
    #[must_use]
    pub fn held(&self) -> Vec<Held> {
        self.rule.gate.held()
    }

    /// Waits until it holds at least `n` calls, and returns them.
    ///
    /// # Errors
    /// When `within` is over first.
    pub async fn wait_held(&self, n: usize, within: Duration) -> Result<Vec<Held>, WaitError> {
        if self.rule.gate.until(within, || self.held().len() >= n).await {
            return Ok(self.held());
        }
        Err(WaitError::Held { rule: self.id().to_owned(), wanted: n, seen: self.held().len(), within })
    }

    /// Lets go the `n` calls that wait longest; returns how many there were.
    pub fn release(&self, n: usize) -> usize {
        self.rule.gate.release(n)
    }

    /// Lets go every call that waits now; returns how many there were. Later ones are held again.
    pub fn release_all(&self) -> usize {
        self.rule.gate.release(usize::MAX)
    }

    /// What it has counted so far, at most `limit` of it, sorted by link and by what is counted apart.
    #[must_use]
    pub fn counts(&self, limit: usize) -> Vec<RuleCount> {
        self.engine.counts(&self.rule, limit)
    }

    /// Lets its schedule start anew: for the calls of one key (or whatever it counts apart), or for all.
    pub fn reset_counts(&self, of: Option<&str>) {
        self.rule.reset_counts(of);
    }

    /// What became of it so far, its expectations among it.
    #[must_use]
    pub fn report(&self) -> RuleReport {
        self.rule.report()
    }

    /// Takes the rule out of force, lets go what it holds, and says what became of it.
    #[must_use]
    pub fn finish(self) -> RuleReport {
        self.engine.disarm(&self.rule);
        self.rule.report()
    }

    /// Takes the rule out of force, lets go what it holds, and returns the window in which it was in force. `planned`
    /// is 1 there: a rule that never struck spoils the verdict unless the caller knows better.
    pub fn disarm(self) -> FaultWindow {
        self.engine.disarm(&self.rule);
        self.rule.window()
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.engine.disarm(&self.rule);
    }
}
