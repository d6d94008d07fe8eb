//! One client request and what it caused on the link.

use std::collections::HashMap;

use crate::evidence::{Attempt, Connection, End, Joined, Outcome, Payment, TraceId};
use crate::promise::Failure;

/// A client request with its attempts.
#[derive(Debug, Clone)]
pub(in crate::checks) struct Request<'j, 'a> {
    /// What the client saw.
    pub outcome: &'a Outcome,
    /// The payment that it asked for.
    pub payment: &'j Payment<'a>,
    /// Its attempts, in the order they arrived.
    pub attempts: Vec<&'a Attempt>,
    /// Connections that a fault refused while the request ran: attempts without a name.
    pub refused: &'j [&'a Connection],
    /// Whether the payment has attempts that none of its requests can be named the cause of: it was asked for more than
    /// once and the service hands no trace on.
    pub blurred: bool,
}

impl Request<'_, '_> {
    /// Attempts and refused connections together.
    pub fn tries(&self) -> usize {
        self.attempts.len() + self.refused.len()
    }

    /// Key or trace, for people.
    pub fn name(&self) -> &str {
        &self.payment.name
    }
}

/// What some requests caused on the link: their attempts, and the connections refused between the first send and the last
/// answer. A refused connection has no name, so of requests that overlap each would claim it; here it counts once.
pub(in crate::checks) fn caused(joined: &Joined<'_>, asked: &[Request<'_, '_>]) -> usize {
    let attempts: usize = asked.iter().map(|r| r.attempts.len()).sum();
    let from = asked.iter().map(|r| r.outcome.sent).min();
    let to = asked.iter().map(|r| r.outcome.ended).max();
    let Some((from, to)) = from.zip(to) else { return attempts };
    attempts + joined.refused.iter().filter(|c| (from..=to).contains(&c.accepted)).count()
}

/// The requests that `wanted` picks, in the order they were sent.
pub(in crate::checks) fn requests<'j, 'a>(
    joined: &'j Joined<'a>,
    wanted: impl Fn(&Outcome) -> bool,
) -> Vec<Request<'j, 'a>> {
    let mut found = Vec::new();
    for payment in &joined.payments {
        if !payment.outcomes.iter().any(|o| wanted(o)) {
            continue;
        }
        let alone = payment.outcomes.len() == 1;
        // One request owns all attempts; only of several must each find its own.
        let mut by_trace: HashMap<TraceId, Vec<&'a Attempt>> = HashMap::new();
        let mut untraced = 0;
        if !alone {
            by_trace.extend(payment.outcomes.iter().map(|o| (o.context.trace, Vec::new())));
            for attempt in &payment.attempts {
                match attempt.context.and_then(|c| by_trace.get_mut(&c.trace)) {
                    Some(own) => own.push(attempt),
                    None => untraced += 1,
                }
            }
        }
        for outcome in payment.outcomes.iter().copied().filter(|o| wanted(o)) {
            let attempts = if alone {
                payment.attempts.clone()
            } else {
                by_trace.get(&outcome.context.trace).cloned().unwrap_or_default()
            };
            let refused = joined.refused_during(outcome);
            found.push(Request { outcome, payment, attempts, refused, blurred: !alone && untraced > 0 });
        }
    }
    found.sort_by_key(|r| (r.outcome.sent, r.outcome.seq));
    found
}

/// Whether the service got a whole reply that is no error.
pub(in crate::checks) fn succeeded(a: &Attempt) -> bool {
    a.reply.end == End::Replied && a.reply.status.is_some_and(|s| s < 400)
}

/// Whether the attempt is known to have failed for the service.
pub(in crate::checks) fn failed(a: &Attempt) -> bool {
    !succeeded(a) && a.reply.end != End::Unfinished
}

/// How an attempt failed, in the words of the retryable table; `None` when it did not, or nobody can say.
pub(in crate::checks) fn failure(a: &Attempt) -> Option<Failure> {
    // Once the request had been passed on whole, what the service lost was the answer.
    let passed_on = a.upstream.sent.is_some();
    match a.reply.end {
        End::Replied => a.reply.status.filter(|s| *s >= 400).map(Failure::Status),
        End::Reset | End::Cut | End::UpstreamFailed if passed_on => Some(Failure::Lost),
        End::Reset => Some(Failure::Reset),
        End::Cut | End::UpstreamFailed => Some(Failure::Cut),
        End::ClientLeft => Some(Failure::Hang),
        End::Unfinished | End::Malformed => None,
    }
}
