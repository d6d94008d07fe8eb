//! Faults by the names that scenarios use, as rules of the proxy.

use std::time::Duration;

use chaos_proxy::{Delay, Effect, Fault as Strike, HoldThen, OrdinalRange, Per, Phase, Rule, Schedule, Step, Then};
use judge::promise::{Failure, PendingReply};

/// How long the gates of [`Fault::HoldReply`] and [`Fault::Hold`] wait before they let go by themselves: longer than any
/// scenario needs, so that a hold that is never released shows as one.
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
    /// The request is held at a gate before it is passed on: a dependency that hangs until it is let go.
    Hold,
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
        Disturbance::of(self.strike())
    }

    /// Strikes the first `n` attempts of each key. A refused connection has no key yet: there it is the first `n`
    /// connections.
    #[must_use]
    pub fn first(self, n: u64) -> Disturbance {
        let mut disturbance = self.always().planned(usize::try_from(n).unwrap_or(usize::MAX));
        match self {
            Fault::Refuse => disturbance.rule.uses = Some(n),
            _ => disturbance.rule.schedule = Schedule::fail_first(n),
        }
        disturbance
    }

    /// Strikes the n-th attempt of the link, the 2n-th and so on: a dependency that flaps.
    #[must_use]
    pub fn every(self, n: u64) -> Disturbance {
        self.always().scheduled(Schedule::every(n))
    }

    pub(crate) fn strike(self) -> Strike {
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
            Fault::Hold => Strike::hold(HOLD_REPLY_MS),
            Fault::HoldReply => at(Phase::Response, Effect::Hold { timeout_ms: HOLD_REPLY_MS, then: HoldThen::Reset }),
        }
    }
}

/// A fault with its schedule, and how often it is planned to strike at least.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbance {
    /// The proxy's rule, without its name and its link.
    rule: Rule,
    planned: u64,
    link: Option<String>,
}

impl Disturbance {
    /// Strikes every attempt with any fault of the proxy's grammar.
    #[must_use]
    pub fn of(strike: Strike) -> Self {
        Self { rule: Rule::new("", strike), planned: 1, link: None }
    }

    /// Strikes attempts in the order they arrive, each with the next of these steps.
    #[must_use]
    pub fn in_turn(steps: impl IntoIterator<Item = Step>, per: Per, then: Then) -> Self {
        let steps: Vec<_> = steps.into_iter().collect();
        let planned = steps.iter().filter(|s| **s != Step::Pass).count() as u64;
        let rule = Rule::sequence("", []).schedule(Schedule::Sequence { steps, per, then });
        Self { rule, planned, link: None }
    }

    /// Answers the first `n` attempts of each key as the dependency does while a call with it still runs.
    #[must_use]
    pub fn pending_first(n: u64, reply: &PendingReply) -> Self {
        let headers = [("content-type".to_owned(), reply.content_type.clone())].into();
        let effect = Effect::Reply { status: reply.status, headers, body: reply.body.clone(), retry_after: None };
        Self::of(Strike::at(Phase::Request, effect)).scheduled(Schedule::fail_first(n))
    }

    /// Sets which of the attempts it strikes.
    #[must_use]
    pub fn scheduled(mut self, schedule: Schedule) -> Self {
        self.rule.schedule = schedule;
        self
    }

    /// Looks at the first attempt of each key only.
    #[must_use]
    pub fn on_first_attempts(mut self) -> Self {
        self.rule.matching.ordinal = Some(OrdinalRange { from: None, to: Some(1) });
        self
    }

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

    /// Strikes the first `n` attempts on the link and no other.
    #[must_use]
    pub fn only(mut self, n: usize) -> Self {
        self.rule.uses = Some(n as u64);
        self.planned(n)
    }

    /// The number of [`Disturbance::planned`].
    #[must_use]
    pub fn plans(&self) -> u64 {
        self.planned
    }

    /// The proxy's rule; `main` is the link that it strikes when it names none.
    #[must_use]
    pub fn rule(&self, id: impl Into<String>, main: &str) -> Rule {
        Rule { id: id.into(), ..self.rule.clone() }.link(self.link().unwrap_or(main))
    }
}

impl From<Fault> for Disturbance {
    fn from(fault: Fault) -> Self {
        fault.always()
    }
}
