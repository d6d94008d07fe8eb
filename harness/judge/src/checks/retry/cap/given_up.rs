//! Payments that were given up before their last attempt: an exponent that overflows into an error ends them.

use crate::checks::retry::bounded::{failed_for_good, may_have_timed_out};
use crate::checks::support::{AT_ONCE, Request};
use crate::evidence::Answer;
use crate::promise::{Noise, RetryPolicy};

/// Requests whose every attempt failed, by what ended them.
#[derive(Debug, Default)]
pub(super) struct Ended<'j, 'r, 'a> {
    /// All attempts were made.
    pub whole: usize,
    /// Answered with attempts to go, and time for them.
    pub given_up: Vec<&'r Request<'j, 'a>>,
    /// Never answered, and no attempt came for longer than any wait: the last one was not made.
    pub silent: Vec<&'r Request<'j, 'a>>,
    /// The deadline may rightly have ended them.
    pub by_deadline: usize,
    /// The driver gave up on them.
    pub by_driver: usize,
    /// Nobody can say which attempts were theirs.
    pub blurred: usize,
    /// Paused: attempts that are missing may have timed out before they arrived.
    pub unseen: usize,
}

impl<'j, 'r, 'a> Ended<'j, 'r, 'a> {
    /// Sorts the requests of the step.
    pub fn of(asked: &'r [Request<'j, 'a>], policy: &RetryPolicy, noise: Noise, paused: bool) -> Self {
        let mut ended = Self::default();
        asked.iter().for_each(|request| ended.sort(request, policy, noise, paused));
        ended
    }

    fn sort(&mut self, r: &'r Request<'j, 'a>, policy: &RetryPolicy, noise: Noise, paused: bool) {
        if r.blurred || !r.refused.is_empty() {
            self.blurred += 1;
            return;
        }
        let Some(last) = r.attempts.last() else { return };
        if !failed_for_good(r, policy) {
            return;
        }
        let rank = r.attempts.len() - 1;
        if r.attempts.len() >= policy.attempts as usize {
            self.whole += 1;
        } else if policy.may_run_out(last.reply.ended.since(r.outcome.sent), rank) {
            self.by_deadline += 1;
        } else if matches!(r.outcome.answer, Answer::TimedOut | Answer::Left) {
            let (_, longest) = policy.backoff.waits(rank);
            let most = longest.saturating_add(noise.eps).saturating_add(AT_ONCE);
            if r.outcome.ended.since(last.reply.ended) > most {
                self.silent.push(r);
            } else {
                self.by_driver += 1;
            }
        } else if paused && may_have_timed_out(r, policy, policy.attempts as usize - r.attempts.len()) {
            self.unseen += 1;
        } else {
            self.given_up.push(r);
        }
    }

    /// Requests cut short by something else than the service's own retry loop: their long waits are the missing ones.
    pub fn cut(&self) -> usize {
        self.by_deadline + self.by_driver
    }
}
