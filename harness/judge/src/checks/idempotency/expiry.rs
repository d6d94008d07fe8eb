//! I9: how long a key is known.

use std::time::Duration;

use super::books::{Books, attempt_lines, told_success};
use super::refusal::calls_during;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I9;
use crate::checks::support::{
    Case, Request, Tally, ms, note_blind, note_unjoined, outcome_line, requests, strays_among,
};
use crate::evidence::{Attempt, BankEntry, Evidence, Outcome};
use crate::promise::{AfterTtl, IdempotencyPolicy};

const EARLY: &str = I9.bug_classes[0];
const NEVER: &str = I9.bug_classes[1];
const UNDECLARED: &str = I9.bug_classes[2];

/// **I9** A key is known for as long as declared; after that a repetition has a new effect only where the contract says so.
///
/// - *Measure*: the steps `within`, `late` and `expired`, whose keys succeeded in `first`: answers and calls.
/// - *Test*: a repetition that *ended* before the first request was sent plus the declared time makes no call under another
///   key and has no charge of its own. One that was *sent* after the first answer plus the declared time and the noise bound makes a call of its own
///   where the contract says `new`, and makes none where it does not.
/// - *False alarms*: none. Whatever lies between both bounds is not judged, so that a pause of the machine changes nothing.
/// - *Inconclusive*: originals without a success; no repetition surely within, or none surely after; calls that join to no
///   request; no call at all was seen on the link; no time is promised.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "key-expiry".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "ttl": "24h", "after_ttl": "new" }"#)?;
/// let finding = idempotency::key_expires_as_declared(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn key_expires_as_declared(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I9, move |evidence| judge(evidence, &policy, &link))
}

/// Where in the life of its key a repetition lies, as far as its two instants tell.
enum Age {
    Within,
    After,
    Between,
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let after = match policy.after_ttl {
        AfterTtl::New => "then it is a new payment",
        AfterTtl::NoEffect => "then it has no effect",
    };
    let life = policy.ttl.map_or("an undeclared time".to_owned(), ms);
    let case = Case::new(I9, evidence, link, format!("a key is known for {life}; {after}"));
    let Some(ttl) = policy.ttl else {
        let advice = "promise a time in the contract: promises.idempotency.ttl";
        return case.inconclusive(Tally::default(), "no life of a key is promised".to_owned(), advice.to_owned());
    };
    let books = Books::of(evidence, link);
    let repeats = requests(&books.joined, |o| matches!(o.step.as_str(), "within" | "late" | "expired"));
    if repeats.is_empty() {
        return case.did_not_run("`first`, `within`, `late` and `expired`");
    }
    let mut tally = Tally::default();
    // On a link where nothing is seen, a call that is missing is no key that is still known.
    if !note_blind(&books.joined, &mut tally) {
        return case.conclude(tally, String::new());
    }
    let eps = Duration::from_nanos(evidence.header.eps_ns);
    let (mut early, mut later, mut between) = (0, 0, 0);
    for request in &repeats {
        let Some(first) = original(request, &mut tally) else { continue };
        // A call that nobody can name may be the one that is missing.
        let strays = strays_among(&books.joined, std::iter::once(request.outcome)).len();
        match age(first, request.outcome, ttl, eps) {
            Age::Within => {
                early += 1;
                known(request, first, ttl, &mut tally);
            }
            Age::After => {
                later += 1;
                expired((request, strays), first, policy.after_ttl, &mut tally);
            }
            Age::Between => between += 1,
        }
        note_unjoined(strays, &mut tally);
    }
    tally.judged = early + later;
    tally.count("repetitions within the life of their key", early);
    tally.count("repetitions after it", later);
    tally.count("repetitions too near to its end to judge", between);
    for (n, when) in [(early, "within"), (later, "after")] {
        if n == 0 {
            let advice = "run it again on a quieter machine, or declare a longer time for the run";
            tally.gap(format!("no repetition lay surely {when} the life of its key"), advice);
        }
    }
    let pass = format!("{early} keys were known within {life}; {later} were asked for later, {after}");
    case.conclude(tally, pass)
}

/// The success that began the life of the key.
fn original<'a>(request: &Request<'_, 'a>, tally: &mut Tally) -> Option<&'a Outcome> {
    let first = request.payment.outcomes.iter().copied().filter(|o| o.step == "first").find(|o| told_success(o));
    if first.is_none() || request.outcome.reply().is_none() {
        let what = format!("the payment {} did not succeed, or its repetition has no answer", request.name());
        tally.gap(what, "see the other findings first");
        return None;
    }
    first
}

fn age(first: &Outcome, again: &Outcome, ttl: Duration, eps: Duration) -> Age {
    if again.ended <= first.sent + ttl {
        Age::Within
    } else if again.sent >= first.ended + ttl + eps {
        Age::After
    } else {
        Age::Between
    }
}

/// Calls of a repetition that are about another payment than the original: under another key, or with a charge of their own.
/// What is asked again under the same key moves nothing, and is for I3 to judge.
fn new_effect<'a>(request: &Request<'_, 'a>, first: &Outcome) -> Vec<&'a Attempt> {
    let payment = request.payment;
    let calls = calls_during(request);
    let trace = |c: &&BankEntry| c.context.is_some_and(|c| c.trace == request.outcome.context.trace);
    let charged = payment.charges.iter().any(trace);
    let before: Vec<_> = payment.attempts.iter().filter(|a| a.arrived <= first.ended).map(|a| &a.key).collect();
    let renamed = calls.iter().any(|c| c.key.is_some() && !before.contains(&&c.key));
    if charged || renamed { calls } else { Vec::new() }
}

fn known(request: &Request<'_, '_>, first: &Outcome, ttl: Duration, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    let old = ms(again.ended.since(first.sent));
    let calls = new_effect(request, first);
    if !calls.is_empty() {
        let mut lines = vec![outcome_line(first, "the original"), outcome_line(again, &format!("{old} later at most"))];
        lines.extend(attempt_lines(&calls));
        let what = format!("the key {name} was {old} old at most, of {} declared, and ran again", ms(ttl));
        tally.breach(EARLY, what, lines);
    }
}

fn expired((request, strays): (&Request<'_, '_>, usize), first: &Outcome, after: AfterTtl, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    let old = ms(again.sent.since(first.ended));
    let calls = calls_during(request);
    let mut lines = vec![outcome_line(first, "the original"), outcome_line(again, &format!("{old} later at least"))];
    match after {
        AfterTtl::New if calls.is_empty() && strays > 0 => {}
        AfterTtl::New if calls.is_empty() => {
            tally.breach(NEVER, format!("the key {name} was {old} old at least and is still not forgotten"), lines);
        }
        AfterTtl::New if !told_success(again) => {
            let what = format!("the key {name} was {old} old at least, and its new payment did not succeed");
            tally.breach("", what, lines);
        }
        AfterTtl::NoEffect if !new_effect(request, first).is_empty() => {
            lines.extend(attempt_lines(&calls));
            let what = format!("the key {name} had expired, and its repetition called the dependency");
            tally.breach(UNDECLARED, what, lines);
        }
        AfterTtl::New | AfterTtl::NoEffect => {}
    }
}
