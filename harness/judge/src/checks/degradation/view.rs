//! The scenario `degradation` as all its checks see it: answers, and what each can rest on.

use std::time::Duration;

use crate::checks::idempotency::calls_during;
use crate::checks::support::{Request, Tally, outcome_line, requests, succeeded, unfired};
use crate::evidence::{At, Attempt, ClientReply, Evidence, Joined, Outcome};
use crate::finding::Line;

/// The steps in which every call to the dependency fails.
const OUTAGE: [&str; 3] = ["outage/ask", "outage/read", "outage/old"];
/// Steps of payments; all others read confirmations.
const PAYMENTS: [&str; 2] = ["seed", "outage/ask"];

/// Everything that was asked in one evidence.
pub(super) struct View<'a> {
    pub joined: Joined<'a>,
    eps: Duration,
}

/// One request, with the calls of its own that succeeded.
pub(super) struct Seen<'j, 'a> {
    pub request: Request<'j, 'a>,
    pub answered: Vec<&'a Attempt>,
}

impl<'a> View<'a> {
    pub fn of(evidence: &'a Evidence, link: &str) -> Self {
        Self { joined: Joined::of(evidence, link), eps: Duration::from_nanos(evidence.header.eps_ns) }
    }

    /// The requests that `wanted` picks, in the order they were sent.
    pub fn seen(&self, wanted: impl Fn(&Outcome) -> bool) -> Vec<Seen<'_, 'a>> {
        let found = requests(&self.joined, wanted).into_iter();
        found
            .map(|request| {
                let calls = calls_during(&request);
                let answered = calls.into_iter().filter(|a| succeeded(a)).collect();
                Seen { request, answered }
            })
            .collect()
    }

    /// Successes of the outage: degraded, whatever they say of themselves.
    pub fn degraded(&self) -> Vec<Seen<'_, 'a>> {
        let mut found = self.seen(|o| in_outage(o) && o.succeeded());
        found.retain(|s| s.answered.is_empty());
        found
    }

    /// When the client can last have learned something about that payment from the dependency, before that moment: the
    /// end of the request behind which a call succeeded. A success that nobody can name may be about any payment.
    pub fn learned(&self, seen: &Seen<'_, 'a>, before: At) -> Option<At> {
        let payment = seen.request.payment;
        let own = payment.attempts.iter().filter(|a| succeeded(a)).map(|a| {
            let trace = a.context.map(|c| c.trace);
            let asked = payment.outcomes.iter().find(|o| Some(o.context.trace) == trace);
            asked.map_or(a.reply.ended + self.eps, |o| o.ended)
        });
        let nameless = self.joined.orphan_attempts.iter().filter(|a| succeeded(a)).map(|a| a.reply.ended + self.eps);
        own.chain(nameless).filter(|at| *at <= before).max()
    }

    /// The least age that an answer can have.
    pub fn least_age(&self, seen: &Seen<'_, 'a>) -> Option<Duration> {
        let sent = seen.request.outcome.sent;
        Some(sent.since(self.learned(seen, sent)?))
    }
}

impl<'a> Seen<'_, 'a> {
    pub fn outcome(&self) -> &'a Outcome {
        self.request.outcome
    }

    pub fn reply(&self) -> Option<&'a ClientReply> {
        self.outcome().reply()
    }

    pub fn is_marked(&self) -> bool {
        self.reply().is_some_and(|r| r.degraded.is_some())
    }

    pub fn line(&self, remark: &str) -> Line {
        outcome_line(self.outcome(), remark)
    }
}

pub(super) fn in_outage(o: &Outcome) -> bool {
    OUTAGE.contains(&o.step.as_str())
}

/// Whether it reads a confirmation.
pub(super) fn reads(o: &Outcome) -> bool {
    !PAYMENTS.contains(&o.step.as_str())
}

/// What every check of this family needs: that the outage was one, and that something was degraded in it.
pub(super) fn common_gaps(evidence: &Evidence, link: &str, degraded: usize, tally: &mut Tally) {
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    if degraded == 0 {
        let advice = "let [isolate.degradation] switch the fallback on, and see what is answered during the outage";
        tally.gap("no success was answered during the outage, so that nothing was degraded", advice);
    }
}
