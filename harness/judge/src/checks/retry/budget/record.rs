//! What moves a budget, with the stretch of time in which each movement happened.

use std::collections::HashSet;
use std::ptr;
use std::time::Duration;

use crate::checks::support::{Request, failed, failure, succeeded};
use crate::evidence::{At, Attempt, Joined};
use crate::promise::{Failure, RetryPolicy};

/// A retry that was made: it took from the budget between the failure and its own arrival.
#[derive(Debug)]
pub(super) struct Retry<'a> {
    pub before: &'a Attempt,
    pub attempt: &'a Attempt,
    /// Its place in the request, from 1.
    pub rank: usize,
    /// Whether it followed a time-out.
    pub after_timeout: bool,
}

impl Retry<'_> {
    /// The failure that it follows, or its own arrival when the proxy saw that first: a service that gives up on an attempt
    /// knows of its end before the proxy does.
    pub fn from(&self) -> At {
        self.before.reply.ended.min(self.attempt.arrived)
    }

    pub fn to(&self) -> At {
        self.attempt.arrived
    }
}

/// A retry that was not made although only a budget could forbid it.
#[derive(Debug)]
pub(super) struct Denial<'j, 'a> {
    pub request: &'j Request<'j, 'a>,
    pub last: &'a Attempt,
    /// Place of the last attempt in the request, from 0.
    pub rank: usize,
    pub after_timeout: bool,
}

impl Denial<'_, '_> {
    pub fn at(&self) -> At {
        self.last.reply.ended
    }
}

/// A request that succeeded.
#[derive(Debug)]
pub(super) struct Success {
    pub at: At,
    /// Whether its last retry, if it made any, followed a time-out.
    pub retried: Option<bool>,
}

/// Everything that moves a budget, each list in the order of time.
#[derive(Debug, Default)]
pub(super) struct Record<'j, 'a> {
    pub retries: Vec<Retry<'a>>,
    pub denials: Vec<Denial<'j, 'a>>,
    pub successes: Vec<Success>,
    /// Ends of attempts that failed in a way that is retried.
    pub failures: Vec<At>,
    /// Arrivals of first attempts.
    pub begun: Vec<At>,
    /// Arrival and end of every attempt.
    pub live: Vec<(At, At)>,
    /// Requests that a retry could still have followed when the driver gave up on them.
    pub without_outcome: usize,
}

impl<'j, 'a> Record<'j, 'a> {
    pub fn of(asked: &'j [Request<'j, 'a>], joined: &Joined<'a>, policy: &RetryPolicy, eps: Duration) -> Self {
        let mut record = Self::default();
        asked.iter().for_each(|r| record.request(r, policy, eps));
        record.nameless(asked, joined);
        record.retries.sort_by_key(|r| (r.to(), r.from()));
        record.denials.sort_by_key(Denial::at);
        record.successes.sort_by_key(|s| s.at);
        record.failures.sort_unstable();
        record.begun.sort_unstable();
        record
    }

    /// Attempts of no request: each may be the first of a payment, and each success one that fills the budget. They are no
    /// retries, and what follows from a retry that was not made is not to be concluded beside them.
    fn nameless(&mut self, asked: &[Request<'_, '_>], joined: &Joined<'_>) {
        let named: HashSet<*const Attempt> =
            asked.iter().flat_map(|r| &r.attempts).map(|a| ptr::from_ref(*a)).collect();
        let all = joined.payments.iter().flat_map(|p| &p.attempts).chain(&joined.orphan_attempts);
        for attempt in all.filter(|a| !named.contains(&ptr::from_ref(**a))) {
            self.begun.push(attempt.arrived);
            self.live.push((attempt.arrived, attempt.reply.ended));
            if succeeded(attempt) {
                // What ends a retry of a time-out gives the most back.
                self.successes.push(Success { at: attempt.reply.ended, retried: Some(true) });
            }
        }
    }

    fn request(&mut self, r: &'j Request<'j, 'a>, policy: &RetryPolicy, eps: Duration) {
        let retryable = |a: &Attempt| failed(a) && failure(a).is_some_and(|f| policy.retries(f));
        let timed_out = |a: &Attempt| failure(a) == Some(Failure::Hang);
        self.begun.extend(r.attempts.first().map(|a| a.arrived));
        for (i, &attempt) in r.attempts.iter().enumerate() {
            self.live.push((attempt.arrived, attempt.reply.ended));
            if retryable(attempt) {
                self.failures.push(attempt.reply.ended);
            }
            if let Some(before) = i.checked_sub(1).map(|b| r.attempts[b]) {
                self.retries.push(Retry { before, attempt, rank: i, after_timeout: timed_out(before) });
            }
        }
        let Some(&last) = r.attempts.last() else { return };
        let rank = r.attempts.len() - 1;
        if succeeded(last) {
            let retried = rank.checked_sub(1).map(|b| timed_out(r.attempts[b]));
            self.successes.push(Success { at: last.reply.ended, retried });
        } else if retryable(last) && rank + 1 < policy.attempts as usize {
            if r.outcome.reply().is_none() {
                self.without_outcome += 1;
            } else if !had_to_stop(r, last, rank, policy, eps) {
                self.denials.push(Denial { request: r, last, rank, after_timeout: timed_out(last) });
            }
        }
    }
}

/// Whether something else than a budget may have ended the attempts: the deadline, or what the dependency asked for.
fn had_to_stop(r: &Request<'_, '_>, last: &Attempt, rank: usize, policy: &RetryPolicy, eps: Duration) -> bool {
    let spent = last.reply.ended.since(r.outcome.sent).saturating_add(eps);
    last.reply.retry_after.is_some() || policy.may_run_out(spent, rank)
}
