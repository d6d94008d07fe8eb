//! R1: the number of attempts.

use std::collections::BTreeMap;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R1;
use crate::checks::support::{
    Case, Request, Tally, attempt_line, failed, failure, paused, requests, strays, succeeded,
};
use crate::evidence::{At, Attempt, Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Failure, RetryPolicy};

const OFF_BY_ONE: &str = R1.bug_classes[0];
const NESTED: &str = R1.bug_classes[1];
const LATE_TIMER: &str = R1.bug_classes[2];

/// **R1** A payment whose every attempt fails is tried exactly as often as promised; one that has succeeded is not tried
/// again.
///
/// - *Measure*: attempts of each client request at the proxy, connections refused by a fault included.
/// - *Test*: never more than `attempts`; exactly `attempts` when every attempt failed in a way that the table promises to
///   retry; none that arrived after one was answered with success.
/// - *False alarms*: none, attempts are counted.
/// - *Inconclusive*: no request failed for good; requests without an outcome; attempts that join to no request; missing
///   attempts on a machine that paused for longer than the noise bound, when each may have lasted its promised timeout.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-law".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::RetryPolicy};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503, "reset"] }"#)?;
/// let finding = retry::bounded_attempts(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("4 attempts"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn bounded_attempts(policy: &RetryPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R1, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str) -> Finding {
    let promise = format!("{} attempts in all for a payment that keeps failing, none after a success", policy.attempts);
    let case = Case::new(R1, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |_| true);
    if asked.is_empty() {
        return case.did_not_run("`waves` or `herd`");
    }
    let mut sorted = Sorted { pause: paused(evidence), ..Sorted::default() };
    let together = together(&asked);
    asked.iter().zip(together).for_each(|(r, together)| sorted.sort(r, policy, together, &joined));
    let mut tally = Tally::default();
    sorted.tally(policy, asked.len(), &mut tally);
    strangers(&joined, policy, asked.len(), &mut tally);
    if tally.judged == 0 && tally.gaps.is_empty() {
        tally.gap(
            "no payment met a failure on every attempt, so nobody knows where the service would have stopped",
            "run `retry-law` with a fault that strikes every attempt, and a failure that the contract promises to retry",
        );
    }
    let pass = format!("{} payments failed for good, each after exactly {} attempts", tally.judged, policy.attempts);
    case.conclude(tally, pass)
}

/// Requests by what they show.
#[derive(Default)]
struct Sorted<'j, 'r, 'a> {
    /// That the machine paused for longer than the noise bound.
    pause: Option<String>,
    over: Vec<&'r Request<'j, 'a>>,
    under: Vec<&'r Request<'j, 'a>>,
    late: Vec<(&'r Request<'j, 'a>, usize)>,
    exact: usize,
    unended: usize,
    blurred: usize,
    by_deadline: usize,
    unseen: usize,
    by_count: BTreeMap<usize, usize>,
}

impl<'j, 'r, 'a> Sorted<'j, 'r, 'a> {
    fn sort(&mut self, r: &'r Request<'j, 'a>, policy: &RetryPolicy, together: bool, joined: &Joined<'_>) {
        let most = policy.attempts as usize;
        // Whose connection was refused is only known when no other request ran.
        let crowded = !r.refused.is_empty() && together;
        let tries = if crowded { r.attempts.len() } else { r.tries() };
        *self.by_count.entry(tries).or_default() += 1;
        if let Some(at) = after_success(&r.attempts) {
            self.late.push((r, at));
            return;
        }
        if tries > most {
            self.over.push(r);
            return;
        }
        if r.blurred || crowded {
            self.blurred += 1;
            return;
        }
        if tries == 0 || !failed_for_good(r, policy) {
            return;
        }
        if tries == most {
            self.exact += 1;
        } else if r.outcome.reply().is_none() {
            self.unended += 1;
        } else if r.attempts.last().is_some_and(|a| policy.may_run_out(a.reply.ended.since(r.outcome.sent), tries - 1))
        {
            // A deadline that the next wait would outlast ends the attempts as promised.
            self.by_deadline += 1;
        } else if self.pause.is_some() && may_have_timed_out(r, policy, most - tries) {
            self.unseen += 1;
        } else if strays(joined, (r.outcome.sent, r.outcome.ended)).is_empty() {
            // The missing ones are not among those that join to no request.
            self.under.push(r);
        }
    }

    fn tally(&self, policy: &RetryPolicy, asked: usize, tally: &mut Tally) {
        let most = policy.attempts;
        tally.judged = self.exact;
        tally.count("payments", asked);
        tally.count("attempts promised", most as usize);
        tally.count("attempts of a payment, max", self.by_count.keys().next_back().copied().unwrap_or(0));
        tally.exhibit =
            self.by_count.iter().map(|(n, payments)| format!("{n} attempts: {payments} payments")).collect();
        if let Some(worst) = self.over.iter().map(|r| r.tries()).max() {
            let class = if worst > most as usize + 1 { NESTED } else { OFF_BY_ONE };
            let what = format!("{} of {asked} payments made up to {worst} attempts, promised {most}", self.over.len());
            tally.breach(class, what, self.over.iter().flat_map(|r| last_line(r, "one too many")).collect());
        }
        if let Some(least) = self.under.iter().map(|r| r.tries()).min() {
            let what = format!(
                "{} of {asked} payments were given up after as few as {least} attempts, promised {most}",
                self.under.len()
            );
            tally.breach(OFF_BY_ONE, what, self.under.iter().flat_map(|r| last_line(r, "the last one")).collect());
        }
        if !self.late.is_empty() {
            let what = format!("{} payments were tried again after a success", self.late.len());
            let line = |(r, at): &(&Request<'_, '_>, usize)| {
                attempt_line(r.attempts[*at], at + 1, at.checked_sub(1).map(|b| r.attempts[b]), "after a success")
            };
            tally.breach_unless(self.pause.as_deref(), LATE_TIMER, what, self.late.iter().map(line).collect());
        }
        if self.by_deadline > 0 {
            tally.count("payments that the deadline may have ended", self.by_deadline);
        }
        if self.unseen > 0 {
            let what = format!(
                "{} payments have fewer than {most} attempts, but the machine paused, and time enough for attempts that timed \
                 out before they reached the proxy",
                self.unseen
            );
            tally.gap(what, "run it again on a quieter machine");
        }
        if self.unended > 0 {
            let what =
                format!("{} payments had no outcome before the driver's limit, with attempts to go", self.unended);
            tally.gap(what, "give the request a longer timeout in the contract, or the retries a smaller base");
        }
        if self.blurred > 0 {
            let what = format!("for {} requests nobody can say which attempts were theirs", self.blurred);
            tally.gap(what, "pass the trace context of the client on to the dependency");
        }
    }
}

/// Attempts that no request explains: still bounded in all.
fn strangers(joined: &Joined<'_>, policy: &RetryPolicy, asked: usize, tally: &mut Tally) {
    let safe = |a: &Attempt| matches!(a.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let strangers: Vec<_> = joined.orphan_attempts.iter().filter(|a| !safe(a)).collect();
    if strangers.is_empty() {
        return;
    }
    let known: usize = joined.payments.iter().map(|p| p.attempts.len()).sum();
    let (total, most) = (known + strangers.len(), asked * policy.attempts as usize);
    if total > most {
        let what = format!("{total} attempts for {asked} requests, promised at most {most}");
        let lines = strangers.iter().map(|a| attempt_line(a, a.ordinal as usize, None, "joins to no request"));
        tally.breach(NESTED, what, lines.collect());
    } else {
        let what = format!("{} attempts carry neither a known key nor a known trace", strangers.len());
        tally.gap(what, "pass the client's trace context, or its key, on to the dependency");
    }
}

/// For each request, given in the order they were sent, whether another one ran at the same time.
fn together(asked: &[Request<'_, '_>]) -> Vec<bool> {
    let mut latest: Option<At> = None;
    let before = asked.iter().map(|r| {
        let ran = latest.is_some_and(|end| end > r.outcome.sent);
        latest = latest.max(Some(r.outcome.ended));
        ran
    });
    // Among those sent later the next one is the first that may have begun in time.
    let next = asked.iter().skip(1).map(|r| Some(r.outcome.sent)).chain([None]);
    before
        .zip(asked.iter().zip(next))
        .map(|(ran, (r, next))| ran || next.is_some_and(|n| n < r.outcome.ended))
        .collect()
}

/// Whether the request lasted so long that the attempts which were not seen may each have waited for the promised timeout,
/// e.g. for a connection that a paused machine did not accept.
pub(super) fn may_have_timed_out(r: &Request<'_, '_>, policy: &RetryPolicy, missing: usize) -> bool {
    let missing = u32::try_from(missing).unwrap_or(u32::MAX);
    let needed = policy.attempt_timeout.map(|timeout| timeout.saturating_mul(missing));
    needed.is_some_and(|needed| r.outcome.ended.since(r.outcome.sent) >= needed)
}

/// The first attempt that arrived after another one of the request had been answered with success.
fn after_success(attempts: &[&Attempt]) -> Option<usize> {
    let done = attempts.iter().filter(|a| succeeded(a)).map(|a| a.reply.ended).min()?;
    attempts.iter().position(|a| a.arrived > done)
}

/// Whether every attempt failed in a way that the table promises to retry.
pub(super) fn failed_for_good(r: &Request<'_, '_>, policy: &RetryPolicy) -> bool {
    let promised = |a: &&Attempt| failed(a) && failure(a).is_some_and(|f| policy.retries(f));
    r.attempts.iter().all(promised) && (r.refused.is_empty() || policy.retries(Failure::Refuse))
}

fn last_line(r: &Request<'_, '_>, remark: &str) -> Option<Line> {
    let n = r.attempts.len();
    let last = r.attempts.last()?;
    Some(attempt_line(last, n, n.checked_sub(2).map(|b| r.attempts[b]), remark))
}
