//! R9: the deadline of a request, and a client that leaves.

use std::time::Duration;

use super::told::Told;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R9;
use crate::checks::support::{
    AT_ONCE, Case, Late, Request, Tally, attempt_line, failed, ms, note_unjoined, outcome_line, requests, strays_among,
    succeeded,
};
use crate::evidence::{Answer, At, Attempt, Evidence, Joined, Outcome, TimeBase};
use crate::finding::Line;
use crate::promise::{Noise, RetryPolicy};

const NOT_LOOKED_AT: &str = R9.bug_classes[0];
const ATTEMPT_RUNS_ON: &str = R9.bug_classes[1];
const WAITS_FOR_NOTHING: &str = R9.bug_classes[2];
const OUTLIVES: &str = R9.bug_classes[3];

/// **R9** No attempt is begun after the deadline or after the client has left, none runs on past the deadline, and no wait is
/// begun that the deadline would end.
///
/// - *Measure*: arrivals and ends of attempts at the proxy against the instants at which the client sent, got its answer, or
///   closed its connection.
/// - *Test*: with a promised deadline nothing arrives or ends later than the send, the deadline and the noise bound, and
///   the client is answered by then; after a last failed attempt it is answered within half a second and the noise
///   bound. With `stops_when_client_leaves` nothing arrives later than the noise bound after the client closed.
/// - *False alarms*: none; all of it is lateness, which counts only while the canary was within the noise bound.
/// - *Inconclusive*: no payment reached its deadline; no client left while attempts were to come, or it was not watched for
///   as long as the next one could take; a pause above the bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-deadline".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503], "deadline": "3s" }"#)?;
/// let finding = retry::deadline_and_cancel(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("3000.0 ms"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn deadline_and_cancel(policy: &RetryPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R9, move |evidence| judge(evidence, &policy, &link, noise))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let case = Case::new(R9, evidence, link, promise(policy));
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, is_ours);
    if asked.is_empty() {
        return case.did_not_run("`hung`, `told-to-wait` or `left/<how>`");
    }
    let watched = evidence.steps.iter().map(|s| s.to).max().unwrap_or_default();
    let base = evidence.header.time;
    let (tally, late) = (Tally::default(), Late::default());
    let mut book = Book { policy, base, eps: noise.eps, watched, tally, late, reached: 0, left: 0 };
    for request in &asked {
        if request.blurred {
            let what = format!("nobody can say which attempts of {} belong to which request", request.name());
            book.tally.gap(what, "pass the trace context of the client on to the dependency");
            continue;
        }
        policy.deadline.into_iter().for_each(|deadline| book.deadline(request, deadline));
        if policy.stops_when_client_leaves {
            book.cancel(request);
        }
    }
    book.witnesses(&asked);
    let Book { mut tally, late, reached, left, .. } = book;
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    tally.count("payments", asked.len());
    tally.count("payments ended by their deadline", reached);
    tally.count("clients that left with attempts to come", left);
    late.settle(evidence, noise, &mut tally);
    tally.judged = reached + left;
    let pass = format!(
        "{reached} payments ended by their deadline, and {left} whose clients had left made no further attempt"
    );
    case.conclude(tally, pass)
}

fn is_ours(o: &Outcome) -> bool {
    matches!(o.step.as_str(), "hung" | "told-to-wait") || o.step.starts_with("left/")
}

fn promise(policy: &RetryPolicy) -> String {
    let deadline = policy.deadline.map(|d| format!("all attempts and waits end within {}", ms(d)));
    let cancel = policy.stops_when_client_leaves.then(|| "no attempt is begun for a client that has left".to_owned());
    let words: Vec<_> = deadline.into_iter().chain(cancel).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join("; ") }
}

struct Book<'x> {
    policy: &'x RetryPolicy,
    base: TimeBase,
    eps: Duration,
    watched: At,
    tally: Tally,
    late: Late,
    reached: usize,
    left: usize,
}

impl Book<'_> {
    fn deadline(&mut self, r: &Request<'_, '_>, deadline: Duration) {
        let over = r.outcome.sent + deadline + self.eps;
        let since = |at: At| ms(at.since(r.outcome.sent));
        let late = self.late.len();
        if let Some(i) = r.attempts.iter().position(|a| a.arrived > over) {
            let what = format!(
                "attempt {} arrived {} after the request, deadline {}",
                i + 1,
                since(r.attempts[i].arrived),
                ms(deadline)
            );
            self.late.breach(NOT_LOOKED_AT, what, lines(r, "after the deadline"));
        } else if let Some(a) = r.attempts.iter().find(|a| a.reply.ended > over) {
            let what = format!(
                "an attempt ran on until {} after the request, deadline {}",
                since(a.reply.ended),
                ms(deadline)
            );
            self.late.breach(ATTEMPT_RUNS_ON, what, lines(r, ""));
        } else if let Some(wait) = self.idle(r) {
            let what = format!(
                "the client was answered {} after the last attempt had failed: a wait that led to no attempt",
                ms(wait)
            );
            self.late.breach(WAITS_FOR_NOTHING, what, lines(r, ""));
        } else if r.outcome.ended > over {
            let what = format!("the client was answered after {}, deadline {}", since(r.outcome.ended), ms(deadline));
            self.late.breach(NOT_LOOKED_AT, what, lines(r, ""));
        }
        let cut_short = !r.outcome.succeeded()
            && r.outcome.reply().is_some()
            && r.attempts.last().is_some_and(|a| failed(a) && self.no_time_for_more(r, a))
            && r.attempts.len() < self.policy.attempts as usize;
        let spent = r.outcome.latency().saturating_add(self.eps) >= deadline;
        let broke = self.late.len() > late;
        self.reached += usize::from(cut_short || broke || (spent && !r.attempts.is_empty()));
    }

    /// Whether the deadline can have been the reason that no attempt followed: the wait would not have fitted. Whoever gives
    /// up with time to spare has not shown that it keeps a deadline.
    fn no_time_for_more(&self, r: &Request<'_, '_>, last: &Attempt) -> bool {
        let spent = last.reply.ended.since(r.outcome.sent).saturating_add(self.eps);
        let told = last.reply.retry_after.as_deref().map_or(Duration::ZERO, |text| match Told::read(text) {
            Told::Seconds(wait) => wait,
            Told::Date(wall) => self.base.from_wall(wall).since(last.reply.ended),
            Told::Unusable => Duration::ZERO,
        });
        self.policy.may_run_out(spent.saturating_add(told), r.attempts.len() - 1)
    }

    /// The time from the last failure to the answer when it is too long to be anything but a wait.
    fn idle(&self, r: &Request<'_, '_>) -> Option<Duration> {
        let last = r.attempts.last().filter(|a| failed(a))?;
        let wait = r.outcome.ended.since(last.reply.ended);
        // A client that left on purpose was not made to wait.
        (wait > AT_ONCE.saturating_add(self.eps) && r.outcome.answer != Answer::Left).then_some(wait)
    }

    /// Attempts that arrived after the client was gone: it closed on purpose, or its own limit ran out.
    fn cancel(&mut self, r: &Request<'_, '_>) {
        if !matches!(r.outcome.answer, Answer::Left | Answer::TimedOut) {
            return;
        }
        let gone = r.outcome.ended;
        let after: Vec<_> = r.attempts.iter().filter(|a| a.arrived > gone + self.eps).collect();
        if let Some(first) = after.first() {
            let what = format!(
                "{} attempts arrived after the client had left, the first one {} later",
                after.len(),
                ms(first.arrived.since(gone))
            );
            self.late.breach(OUTLIVES, what, lines(r, ""));
            self.left += 1;
            return;
        }
        let Some(last) = r.attempts.last() else { return };
        let to_come = r.attempts.len() < self.policy.attempts as usize && !succeeded(last);
        let (_, longest) = self.policy.backoff.waits(r.attempts.len() - 1);
        if !to_come {
            return;
        }
        if self.watched < last.reply.ended.max(gone) + longest {
            let what = format!("{} was not watched for as long as its next wait could have taken", r.name());
            self.tally.gap(what, "run the whole scenario; it watches for the longest wait of the law");
            return;
        }
        self.left += 1;
    }

    /// What must have been seen for a pass to mean something.
    fn witnesses(&mut self, asked: &[Request<'_, '_>]) {
        if self.policy.deadline.is_some() && self.reached == 0 {
            let what = "no payment reached its deadline";
            self.tally.gap(what, "run `retry-deadline`: its faults last longer than the deadline; see H2");
        }
        let left = asked.iter().any(|r| r.outcome.step.starts_with("left/"));
        if self.policy.stops_when_client_leaves && self.left == 0 && (left || self.policy.deadline.is_none()) {
            let what = "no client left while attempts were still to come";
            self.tally.gap(what, "run `retry-deadline` against a service that makes more than two attempts; see R1");
        } else if self.policy.stops_when_client_leaves && !left {
            self.tally.gap("the evidence holds no client that left", "run the whole scenario `retry-deadline`");
        }
    }
}

fn lines(r: &Request<'_, '_>, remark: &str) -> Vec<Line> {
    let attempts = r.attempts.iter().enumerate().map(|(i, a)| {
        let last = i + 1 == r.attempts.len();
        attempt_line(a, i + 1, i.checked_sub(1).map(|b| r.attempts[b]), if last { remark } else { "" })
    });
    attempts.chain([outcome_line(r.outcome, "")]).collect()
}
