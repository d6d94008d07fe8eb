//! R14: gRPC's pushback.

use std::time::Duration;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R14;
use crate::checks::support::{
    AT_ONCE, Case, EARLY, Late, Request, Tally, attempt_line, ms, note_unjoined, outcome_line, requests, strays_among,
};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, RetryPolicy};

const IGNORED: &str = R14.bug_classes[0];
const STOP_IGNORED: &str = R14.bug_classes[1];
const TAKEN_FOR_STOP: &str = R14.bug_classes[2];

/// **R14** A pushback of zero or more milliseconds is waited out in place of the law; one that is negative or cannot be read
/// ends the attempts.
///
/// - *Measure*: attempts of the payment of each step `pushback/<value>`, whose first attempt failed with that value in
///   `grpc-retry-pushback-ms`. The rule (gRFC A6) takes a signed 32-bit number without needless zeros.
/// - *Test*: after a number n from 0, one more attempt, between n - 2 ms and n plus the noise bound after the failure;
///   after any other value none, and an answer within half a second and the noise bound.
/// - *False alarms*: none. What came too early, too often or not at all is counted; lateness counts only while the canary
///   was within the noise bound.
/// - *Inconclusive*: a value whose fault never struck; no value to wait for, or none to stop at; a pause above the bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "pushback".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503], "pushback": true }"#)?;
/// let finding = retry::pushback_is_obeyed(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn pushback_is_obeyed(policy: &RetryPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R14, move |evidence| judge(evidence, &policy, &link, noise))
}

/// What a value of the header means: a wait, or (`None`) no further attempt.
fn read(text: &str) -> Option<Duration> {
    let n: i32 = text.parse().ok()?;
    let plain = n.to_string() == text;
    u64::try_from(n).ok().filter(|_| plain).map(Duration::from_millis)
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let promise = "a pushback from 0 ms is waited out, a negative or unreadable one ends the attempts".to_owned();
    let case = Case::new(R14, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| value(&o.step).is_some());
    if asked.is_empty() {
        return case.did_not_run("`pushback/<value>`");
    }
    let mut book = Book { policy, eps: noise.eps, tally: Tally::default(), late: Late::default(), seen: [0; 2] };
    book.tally.exhibit.push(format!("{:<12} {:<20} next attempt", "value", "promised"));
    for request in &asked {
        if let Some(value) = value(&request.outcome.step) {
            book.one(request, value);
        }
    }
    let Book { mut tally, late, seen, .. } = book;
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    for (n, what) in seen.into_iter().zip(["a wait", "a stop"]) {
        if n == 0 && tally.breaches.is_empty() && tally.gaps.is_empty() && late.len() == 0 {
            tally.gap(format!("no payment was told {what}"), "run the whole scenario `pushback`");
        }
    }
    tally.count("values judged", tally.judged);
    late.settle(evidence, noise, &mut tally);
    let pass = format!("{} waits were kept to the millisecond bound, {} stops ended the attempts", seen[0], seen[1]);
    case.conclude(tally, pass)
}

fn value(step: &str) -> Option<&str> {
    step.strip_prefix("pushback/")
}

struct Book<'x> {
    policy: &'x RetryPolicy,
    eps: Duration,
    tally: Tally,
    late: Late,
    /// Waits and stops that were judged.
    seen: [usize; 2],
}

impl Book<'_> {
    fn one(&mut self, r: &Request<'_, '_>, value: &str) {
        let Some(first) = r.attempts.first().filter(|a| a.fault.is_some()) else {
            let what = format!("the pushback of {value:?} never struck the payment of its step");
            self.tally.gap(what, "see that the service calls the dependency through the link that the contract names");
            return;
        };
        if r.blurred || self.policy.attempts < 2 {
            self.tally
                .gap("nobody can say which attempts belong to which request", "pass the client's trace context on");
            return;
        }
        let next = r.attempts.get(1);
        let gap = next.map(|n| n.arrived.seconds_from(first.reply.ended) * 1e3);
        let came = gap.map_or_else(|| "none".to_owned(), |g| format!("after {g:.1} ms"));
        let wait = read(value);
        let promised = wait.map_or_else(|| "none".to_owned(), |w| format!("after {}", ms(w)));
        self.tally.exhibit.push(format!("{value:<12} {promised:<20} {came}"));
        let lines = || lines(r, value);
        match (wait, next) {
            (Some(wait), Some(n)) if n.arrived < first.reply.ended + wait - EARLY => {
                self.tally.breach(
                    IGNORED,
                    format!("a pushback of {value} ms was not waited out: the next attempt came {came}"),
                    lines(),
                );
            }
            (Some(wait), Some(n)) if n.arrived > first.reply.ended + wait + self.eps => {
                self.late.breach(
                    IGNORED,
                    format!("a pushback of {value} ms was not kept: the next attempt came {came}"),
                    lines(),
                );
            }
            (Some(_), None) if r.outcome.reply().is_some() => {
                self.tally.breach(TAKEN_FOR_STOP, format!("a pushback of {value} ms ended the attempts"), lines());
            }
            (Some(wait), None) if r.outcome.ended > first.reply.ended + wait + self.eps => {
                self.late.breach(IGNORED, format!("after a pushback of {value} ms no attempt came"), lines());
            }
            (Some(_), None) => {
                self.tally.gap(
                    format!("the payment that was told {value} ms has no outcome"),
                    "give the request a longer timeout",
                );
                return;
            }
            (None, Some(_)) => {
                self.tally.breach(
                    STOP_IGNORED,
                    format!("a pushback of {value:?} asks for no further attempt, and one came {came}"),
                    lines(),
                );
            }
            (None, None) if r.outcome.ended > first.reply.ended + AT_ONCE + self.eps => {
                let took = ms(r.outcome.ended.since(first.reply.ended));
                self.late.breach(
                    STOP_IGNORED,
                    format!("after a pushback of {value:?} the client was answered only {took} later"),
                    lines(),
                );
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.seen[usize::from(wait.is_none())] += 1;
        self.tally.judged += 1;
    }
}

fn lines(r: &Request<'_, '_>, value: &str) -> Vec<Line> {
    let attempts = r.attempts.iter().take(3).enumerate().map(|(i, a)| {
        let told = if i == 0 { format!("grpc-retry-pushback-ms: {value}") } else { String::new() };
        attempt_line(a, i + 1, i.checked_sub(1).map(|b| r.attempts[b]), &told)
    });
    attempts.chain([outcome_line(r.outcome, "")]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that only a plain 32-bit number from 0 is a wait.
    #[test]
    fn values_are_read_as_the_rule_says() {
        for (text, wait) in [("0", 0), ("1", 1), ("300", 300), ("2147483647", 2_147_483_647)] {
            assert_eq!(read(text), Some(Duration::from_millis(wait)), "{text}");
        }
        for stop in ["-1", "-0", "", "soon", "007", "+5", "1.5", "2147483648", " 5"] {
            assert_eq!(read(stop), None, "{stop:?}");
        }
    }
}
