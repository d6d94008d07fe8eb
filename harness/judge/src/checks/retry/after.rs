//! R8: `Retry-After`.

use std::collections::BTreeSet;

use super::told::{Due, Kind};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R8;
use crate::checks::support::{
    AT_ONCE, Case, EARLY, Late, Request, Tally, attempt_line, failed, failure, ms, note_unjoined, outcome_line,
    requests, strays_among, unfired,
};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, OnTop, RetryAfterPolicy, RetryPolicy};

const IGNORED: &str = R8.bug_classes[0];
const UNIT: &str = R8.bug_classes[1];
const SLEPT_OUT: &str = R8.bug_classes[2];
const UNUSABLE: &str = R8.bug_classes[3];
const DATE: &str = R8.bug_classes[4];

/// **R8** A usable `Retry-After` is waited out, an unusable one leaves the law alone, and one that is longer than the limit
/// or the time left ends the attempts at once.
///
/// - *Measure*: for each failed attempt that carried the field, the instant it ended and the arrival of the next attempt,
///   both at the proxy. Dates are placed on the proxy's clock by the run's time base.
/// - *Test*: the next attempt arrives no earlier than the value asks for, less 2 ms, plus the floor of what is declared on
///   top; no later than the value, the ceiling of what is on top, and the noise bound (a date: one second more). After
///   a value that is too long there is no attempt, and the client is answered within half a second and the noise bound.
/// - *False alarms*: none. What came too early or not at all is counted; lateness counts only while the canary was
///   within the noise bound.
/// - *Inconclusive*: a kind of value that no attempt was told; a pause above the bound; attempts that join to no request.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-after".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryAfterPolicy, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [429, 503] }"#)?;
/// let after = RetryAfterPolicy::default();
/// let finding = retry::retry_after_is_honoured(&policy, &after, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("waited out"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn retry_after_is_honoured(policy: &RetryPolicy, after: &RetryAfterPolicy, link: &str, noise: Noise) -> Check {
    let (policy, after, link) = (policy.clone(), *after, link.to_owned());
    Check::new(R8, move |evidence| judge(evidence, (&policy, &after), &link, noise))
}

fn judge(evidence: &Evidence, (policy, after): (&RetryPolicy, &RetryAfterPolicy), link: &str, noise: Noise) -> Finding {
    let case = Case::new(R8, evidence, link, promise(policy, after));
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == "told");
    if asked.is_empty() {
        return case.did_not_run("`told`");
    }
    let mut book =
        Book { policy, after, noise, evidence, tally: Tally::default(), late: Late::default(), seen: BTreeSet::new() };
    book.tally.exhibit.push(format!("{:<6} {:<31} {:<24} next attempt", "status", "Retry-After", "promised"));
    asked.iter().for_each(|r| book.request(r));
    let Book { mut tally, late, seen, .. } = book;
    // Whoever reads nothing has no trouble with dates of its own.
    tally.breaches.sort_by_key(|b| b.class != IGNORED);
    let own_limit = policy.deadline.is_some() || after.limit.is_some();
    let kinds = [Kind::Seconds, Kind::Date, Kind::Now, Kind::Unusable, Kind::TooLong];
    for kind in kinds.into_iter().filter(|k| *k != Kind::TooLong || own_limit) {
        if !seen.contains(&kind) && tally.breaches.is_empty() && late.len() == 0 {
            let why = unfired(evidence, link).into_iter().next().map_or_else(String::new, |w| format!(": {w}"));
            let what = format!("no attempt with another one to go was told {}{why}", kind.word());
            tally.gap(what, "run the whole scenario `retry-after`; see H2 and R1");
        }
    }
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    late.settle(evidence, noise, &mut tally);
    let judged = tally.judged;
    tally.count("attempts told when to come again", judged);
    case.conclude(tally, format!("{judged} values of Retry-After were followed, unusable and too long ones included"))
}

fn promise(policy: &RetryPolicy, after: &RetryAfterPolicy) -> String {
    let on_top = match after.jitter {
        OnTop::None => "with nothing on top".to_owned(),
        OnTop::Law => "with one draw of the backoff law on top".to_owned(),
        OnTop::UpTo(most) => format!("with up to {} on top", ms(most)),
    };
    let limit = after.limit.map(|l| format!("its limit of {}", ms(l)));
    let deadline = policy.deadline.map(|d| format!("its deadline of {}", ms(d)));
    let limits: Vec<_> = limit.into_iter().chain(deadline).collect();
    let beyond =
        if limits.is_empty() { String::new() } else { format!("; beyond {}, fails at once", limits.join(" or ")) };
    format!("a usable Retry-After is waited out {on_top}, an unusable one leaves the law alone{beyond}")
}

struct Book<'x> {
    policy: &'x RetryPolicy,
    after: &'x RetryAfterPolicy,
    noise: Noise,
    evidence: &'x Evidence,
    tally: Tally,
    late: Late,
    seen: BTreeSet<Kind>,
}

impl Book<'_> {
    fn request(&mut self, r: &Request<'_, '_>) {
        if r.blurred {
            let what = format!("nobody can say which attempts of {} belong to which request", r.name());
            self.tally.gap(what, "pass the trace context of the client on to the dependency");
            return;
        }
        for (k, attempt) in r.attempts.iter().enumerate() {
            let Some(text) = attempt.reply.retry_after.as_deref() else { continue };
            let retryable = failed(attempt) && failure(attempt).is_some_and(|f| self.policy.retries(f));
            if retryable && k + 1 < self.policy.attempts as usize {
                self.told(r, k, text);
            }
        }
    }

    fn told(&mut self, r: &Request<'_, '_>, k: usize, text: &str) {
        let (attempt, eps) = (r.attempts[k], self.noise.eps);
        let at = (attempt, k, r.outcome.sent);
        let due = Due::after(at, text, (self.policy, self.after), (self.evidence.header.time, eps));
        let next = r.attempts.get(k + 1).map(|n| n.arrived);
        self.show(r, k, text, &due);
        match (due.retried, next) {
            // The value lies within the noise of a limit: either is right.
            (None, _) => return,
            (Some(true), Some(next)) if next < due.earliest - EARLY => {
                let class = match due.kind {
                    Kind::Unusable => UNUSABLE,
                    Kind::Date => DATE,
                    _ => IGNORED,
                };
                self.breach(
                    class,
                    r,
                    k,
                    format!("{text:?} was not waited out: the next attempt came after {}", gap(r, k)),
                );
            }
            (Some(true), Some(next)) if next > due.latest + eps => {
                let class = if due.kind == Kind::Unusable { UNUSABLE } else { UNIT };
                let what = format!(
                    "{text:?} was waited out for {}, at most {} are promised",
                    gap(r, k),
                    ms(due.latest.since(attempt.reply.ended))
                );
                self.late.breach(class, what, lines(r, k));
            }
            (Some(true), None) => self.not_retried(r, k, text, &due),
            (Some(false), Some(next)) => {
                let slept = next >= due.earliest - EARLY;
                let class = if slept { SLEPT_OUT } else { IGNORED };
                self.breach(
                    class,
                    r,
                    k,
                    format!("{text:?} is longer than it may wait, and it tried again after {}", gap(r, k)),
                );
            }
            (Some(false), None) => {
                let wait = r.outcome.ended.since(attempt.reply.ended);
                if wait > AT_ONCE.saturating_add(eps) {
                    let what = format!(
                        "{text:?} is longer than it may wait, and the client was answered only {} later",
                        ms(wait)
                    );
                    self.late.breach(SLEPT_OUT, what, lines(r, k));
                }
            }
            (Some(true), Some(_)) => {}
        }
        self.seen.insert(due.kind);
        self.tally.judged += 1;
    }

    fn not_retried(&mut self, r: &Request<'_, '_>, k: usize, text: &str, due: &Due) {
        let class = match due.kind {
            Kind::Unusable => UNUSABLE,
            Kind::Date | Kind::Now => DATE,
            _ => UNIT,
        };
        if r.outcome.reply().is_some() {
            self.breach(
                class,
                r,
                k,
                format!("{text:?} ended the attempts, {} of {} were made", k + 1, self.policy.attempts),
            );
        } else if r.outcome.ended > due.latest + self.noise.eps {
            let waited = ms(r.outcome.ended.since(r.attempts[k].reply.ended));
            self.late.breach(class, format!("after {text:?} no attempt came within {waited}"), lines(r, k));
        } else {
            let what = format!("the payment that was told {text:?} has no outcome");
            self.tally.gap(what, "give the request a longer timeout in the contract");
        }
    }

    fn breach(&mut self, class: &'static str, r: &Request<'_, '_>, k: usize, what: String) {
        self.tally.breach(class, what, lines(r, k));
    }

    fn show(&mut self, r: &Request<'_, '_>, k: usize, text: &str, due: &Due) {
        let status = r.attempts[k].reply.status.unwrap_or(0);
        let from = r.attempts[k].reply.ended;
        let promised = match due.retried {
            Some(true) => format!(
                "{:.0} to {:.0} ms",
                due.earliest.since(from).as_secs_f64() * 1e3,
                due.latest.since(from).as_secs_f64() * 1e3
            ),
            Some(false) => "none, at once".to_owned(),
            None => "either".to_owned(),
        };
        let seen = if r.attempts.len() > k + 1 { format!("after {}", gap(r, k)) } else { "none".to_owned() };
        let short: String = text.chars().take(31).collect();
        self.tally.exhibit.push(format!("{status:<6} {short:<31} {promised:<24} {seen}"));
    }
}

/// Time from attempt `k` to the next one, in words.
fn gap(r: &Request<'_, '_>, k: usize) -> String {
    r.attempts
        .get(k + 1)
        .map_or_else(String::new, |n| format!("{:.1} ms", n.arrived.seconds_from(r.attempts[k].reply.ended) * 1e3))
}

fn lines(r: &Request<'_, '_>, k: usize) -> Vec<Line> {
    let remark = format!("Retry-After: {}", r.attempts[k].reply.retry_after.as_deref().unwrap_or_default());
    let before = k.checked_sub(1).map(|b| r.attempts[b]);
    let mut lines = vec![attempt_line(r.attempts[k], k + 1, before, &remark)];
    lines.extend(r.attempts.get(k + 1).map(|n| attempt_line(n, k + 2, Some(r.attempts[k]), "")));
    lines.push(outcome_line(r.outcome, ""));
    lines
}
