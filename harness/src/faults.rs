//! Faults by the names that scenarios use, as rules of the proxy.

use std::time::Duration;

use chaos_proxy::{Delay, Effect, Fault as Strike, HoldThen, Phase, Rule, Schedule};
use judge::promise::Failure;

/// How long the gate of [`Fault::HoldReply`] waits before it lets go by itself: longer than any scenario needs, so that
/// a hold that is never released shows as one.
const HOLD_REPLY_MS: u64 = 30_000;

/// What goes wrong with an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The proxy answers with this status; the dependency is not asked.
    Status(u16),
    /// The connection is accepted and reset before a byte is read.
    Refuse,
    /// The request is read, then the connection is reset.
    Reset,
    /// The request is read, then the connection is closed.
    Cut,
    /// The request is passed on whole, then the connection is closed without waiting for the answer.
    CutAfterRequest,
    /// The answer is cut after its first byte of body.
    Torn,
    /// The dependency answered; the client gets a RST instead.
    LostReset,
    /// The dependency answered; the client gets a FIN instead.
    LostClose,
    /// The request is read and never answered.
    Hang,
    /// The dependency answered; the answer is kept back for this long.
    Slow(Duration),
    /// The dependency answered; the answer is held at a gate.
    HoldReply,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Status(status) => Fault::Status(status),
            Failure::Refuse => Fault::Refuse,
            Failure::Reset => Fault::Reset,
            Failure::Cut => Fault::Cut,
            Failure::Hang => Fault::Hang,
            Failure::Lost => Fault::LostReset,
        }
    }
}

impl Fault {
    /// Strikes every attempt.
    #[must_use]
    pub fn always(self) -> Disturbance {
        Disturbance { fault: self, schedule: Schedule::Always, uses: None, planned: 1, link: None }
    }

    /// Strikes the first `n` attempts of each key. A refused connection has no key yet: there it is the first `n`
    /// connections.
    #[must_use]
    pub fn first(self, n: u64) -> Disturbance {
        let (schedule, uses) = match self {
            Fault::Refuse => (Schedule::Always, Some(n)),
            _ => (Schedule::fail_first(n), None),
        };
        Disturbance { fault: self, schedule, uses, planned: n, link: None }
    }

    /// Strikes the n-th attempt of the link, the 2n-th and so on: a dependency that flaps.
    #[must_use]
    pub fn every(self, n: u64) -> Disturbance {
        Disturbance { fault: self, schedule: Schedule::every(n), uses: None, planned: 1, link: None }
    }

    fn strike(self) -> Strike {
        let at = Strike::at;
        match self {
            Fault::Status(status) => Strike::status(status),
            Fault::Refuse => Strike::refuse(),
            Fault::Reset => at(Phase::Request, Effect::Reset),
            Fault::Cut => Strike::cut_before(),
            Fault::CutAfterRequest => at(Phase::Forwarded, Effect::Close),
            Fault::Torn => Strike::cut_mid_body(1),
            Fault::LostReset => Strike::reply_lost(Effect::Reset),
            Fault::LostClose => Strike::reply_lost(Effect::Close),
            Fault::Hang => Strike::hang(),
            Fault::Slow(time) => at(Phase::Response, Effect::Delay(Delay::Ms(time.as_secs_f64() * 1e3))),
            Fault::HoldReply => at(Phase::Response, Effect::Hold { timeout_ms: HOLD_REPLY_MS, then: HoldThen::Reset }),
        }
    }
}

/// A fault with its schedule, and how often it is planned to strike at least.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbance {
    fault: Fault,
    schedule: Schedule,
    uses: Option<u64>,
    planned: u64,
    link: Option<String>,
}

impl Disturbance {
    /// How often it must strike at least for the scenario to have tested what it meant to. Less spoils the verdict.
    #[must_use]
    pub fn planned(mut self, strikes: usize) -> Self {
        self.planned = strikes as u64;
        self
    }

    /// Strikes on that link of the contract, in place of the main one.
    #[must_use]
    pub fn on(mut self, link: impl Into<String>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// The link that it strikes, when it names one.
    #[must_use]
    pub fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// The number of [`Disturbance::planned`].
    #[must_use]
    pub fn plans(&self) -> u64 {
        self.planned
    }

    /// The proxy's rule; `main` is the link that it strikes when it names none.
    #[must_use]
    pub fn rule(&self, id: impl Into<String>, main: &str) -> Rule {
        let link = self.link().unwrap_or(main);
        let mut rule = Rule::new(id, self.fault.strike()).link(link).schedule(self.schedule.clone());
        rule.uses = self.uses;
        rule
    }
}

impl From<Fault> for Disturbance {
    fn from(fault: Fault) -> Self {
        fault.always()
    }
}
