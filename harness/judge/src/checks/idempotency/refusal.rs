//! I4 and I5: requests that must be refused before anything happens.

use super::books::{Books, asked_amount, attempt_lines, told_success};
use super::spelling;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::{I4, I5};
use crate::checks::support::{
    Case, Request, Tally, charge_line, note_blind, note_unjoined, outcome_line, requests, row_line, strays_among,
};
use crate::evidence::{Attempt, Evidence, Outcome};
use crate::promise::{Fingerprint, IdempotencyPolicy};

const KEY_ALONE: &str = I4.bug_classes[0];
const OVERWRITES: &str = I4.bug_classes[1];
const EMPTY_KEY: &str = I5.bug_classes[0];
const MADE_UP: &str = I5.bug_classes[1];

/// **I4** A known key with another payload is refused with the declared status, and nothing happens to the original.
///
/// - *Measure*: the answers of the step `mismatch`, the calls that they caused, the original's row and charge; where a
///   fingerprint is promised also the step `respelt`, the original's values in other bytes.
/// - *Test*: the declared status as problem details; no call; one effect, still over the original amount. By a `canonical`
///   fingerprint `respelt` is a success, by `bytes` it is refused like any other payload.
/// - *False alarms*: none, answers and calls are counted.
/// - *Inconclusive*: the key's first payment did not succeed; no answer; the status is not promised; no call of the whole
///   scenario was seen on the link, the ledger was not read after the last request, or the bank kept no journal.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "duplicates".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "mismatch": 422 }"#)?;
/// let finding = idempotency::mismatch_is_rejected(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn mismatch_is_rejected(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I4, move |evidence| judge_mismatch(evidence, &policy, &link))
}

/// **I5** A payment without a key is refused with the declared status before anything happens.
///
/// - *Measure*: the answers of the step `missing`, and the calls and effects that they caused.
/// - *Test*: the declared status as problem details; no call; no row and no charge.
/// - *False alarms*: none, answers and calls are counted.
/// - *Inconclusive*: no answer; the status is not promised; no call of the whole scenario was seen on the link, the
///   ledger was not read after the last request, or the bank kept no journal.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "duplicates".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "missing": 400 }"#)?;
/// let finding = idempotency::missing_key_is_rejected(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn missing_key_is_rejected(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I5, move |evidence| judge_missing(evidence, policy.missing, &link))
}

fn judge_mismatch(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let status = policy.mismatch;
    let words = status.map_or("not promised".to_owned(), |s| format!("{s} as problem details"));
    let case = Case::new(I4, evidence, link, format!("a known key with another payload: {words}, and no call"));
    let Some(status) = status else {
        let advice = "promise a status in the contract: promises.idempotency.mismatch";
        return case.inconclusive(
            Tally::default(),
            "a changed payload is not promised to be refused".to_owned(),
            advice.to_owned(),
        );
    };
    let books = Books::of(evidence, link);
    let asked = requests(&books.joined, |o| o.step == "mismatch");
    if asked.is_empty() {
        return case.did_not_run("`mismatch`");
    }
    let mut tally = Tally::default();
    for request in &asked {
        let known = request.payment.outcomes.iter().any(|o| told_success(o) && o.ended <= request.outcome.sent);
        if !known {
            let what = format!("the first payment of {} had not succeeded, so nothing could mismatch", request.name());
            tally.gap(what, "see the other findings first: the original payment failed");
            continue;
        }
        refused(request, &books, (status, KEY_ALONE), &mut tally);
        original(request, &books, &mut tally);
    }
    note_blind(&books.joined, &mut tally);
    books.gaps(&mut tally);
    let mut pass = format!("{} changed payloads were refused with {status}, without a call", tally.judged);
    if let Some(fingerprint) = policy.fingerprint {
        spelling::judge(&books, fingerprint, status, &mut tally);
        let words = match fingerprint {
            Fingerprint::Canonical => "the same payload spelt otherwise was the same payment",
            Fingerprint::Bytes => "the same payload in other bytes was refused as another one",
        };
        pass = format!("{pass}; {words}");
    }
    case.conclude(tally, pass)
}

fn judge_missing(evidence: &Evidence, status: Option<u16>, link: &str) -> Finding {
    let words = status.map_or("not promised".to_owned(), |s| format!("{s} as problem details"));
    let case = Case::new(I5, evidence, link, format!("a payment without a key: {words}, no call and no effect"));
    let Some(status) = status else {
        let advice = "promise a status in the contract: promises.idempotency.missing";
        return case.inconclusive(
            Tally::default(),
            "a missing key is not promised to be refused".to_owned(),
            advice.to_owned(),
        );
    };
    let books = Books::of(evidence, link);
    let asked = requests(&books.joined, |o| o.step == "missing");
    if asked.is_empty() {
        return case.did_not_run("`missing`");
    }
    let mut tally = Tally::default();
    for request in &asked {
        refused(request, &books, (status, MADE_UP), &mut tally);
        let read = books.read.unwrap_or_default();
        let mut lines: Vec<_> =
            request.payment.rows.iter().map(|r| row_line(r, read, "from a keyless request")).collect();
        lines.extend(request.payment.charges.iter().map(|c| charge_line(c, "from a keyless request")));
        if !lines.is_empty() {
            tally.breach(MADE_UP, "a payment without a key took effect".to_owned(), lines);
        }
    }
    let nameless: Vec<_> = books.foreign_rows.iter().filter(|r| r.key.as_deref().is_none_or(str::is_empty)).collect();
    if !nameless.is_empty() {
        let lines = nameless.iter().map(|r| row_line(r, books.read.unwrap_or_default(), "without a key")).collect();
        tally.breach(EMPTY_KEY, format!("{} rows without a key were left behind", nameless.len()), lines);
    }
    note_blind(&books.joined, &mut tally);
    books.gaps(&mut tally);
    let pass = format!("{} payments without a key were refused with {status}, without a call", tally.judged);
    case.conclude(tally, pass)
}

/// The answer to a request that must be refused, and its calls.
fn refused(request: &Request<'_, '_>, books: &Books<'_>, (status, class): (u16, &'static str), tally: &mut Tally) {
    let (outcome, step) = (request.outcome, &request.outcome.step);
    if outcome.reply().is_none() {
        let what = format!("a request of `{step}` has no answer");
        tally.gap(what, "give the request a longer timeout in the contract");
    } else if !is_problem(outcome, status) {
        let got = outcome.status().unwrap_or_default();
        let form = if got == status { " without problem details" } else { "" };
        let what = format!("{step}: the client got {got}{form}, promised {status} as problem details");
        let class = if outcome.succeeded() { class } else { "" };
        tally.breach(class, what, vec![outcome_line(outcome, "")]);
    }
    let calls = calls_during(request);
    if !calls.is_empty() {
        let what = format!("{step}: {} calls reached the dependency for a request that must be refused", calls.len());
        tally.breach(class, what, attempt_lines(&calls));
    }
    note_unjoined(strays_among(&books.joined, std::iter::once(outcome)).len(), tally);
    tally.judged += 1;
}

/// The original's effect, which the changed payload must not touch.
fn original(request: &Request<'_, '_>, books: &Books<'_>, tally: &mut Tally) {
    let payment = request.payment;
    let asked = asked_amount(payment);
    let changed = payment.rows.iter().find(|r| r.amount.is_some() && asked.is_some() && r.amount != asked);
    if let Some(row) = changed {
        let what =
            format!("the row of {} no longer holds the amount of the original, {}", payment.name, asked.unwrap_or(0));
        tally.breach(
            OVERWRITES,
            what,
            vec![row_line(row, books.read.unwrap_or_default(), "after the changed payload")],
        );
    }
}

/// Calls that a request caused: those of its trace, and where the service hands no trace on, those of its key while it
/// ran.
pub(in crate::checks) fn calls_during<'a>(request: &Request<'_, 'a>) -> Vec<&'a Attempt> {
    let o = request.outcome;
    let mine = |a: &&&Attempt| match a.context {
        Some(c) if c.trace == o.context.trace => true,
        Some(c) if request.payment.outcomes.iter().any(|x| x.context.trace == c.trace) => false,
        _ => (o.sent..=o.ended).contains(&a.arrived),
    };
    request.payment.attempts.iter().filter(mine).copied().collect()
}

/// Whether the answer is that status as problem details (RFC 9457): the media type, and a `status` member that, where
/// there is one, repeats the wire's.
pub(super) fn is_problem(o: &Outcome, status: u16) -> bool {
    o.reply().is_some_and(|r| {
        let media = r.content_type.as_deref().unwrap_or_default();
        let typed = media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/problem+json");
        r.status == status && typed && r.problem_status.is_none_or(|s| s == status)
    })
}
