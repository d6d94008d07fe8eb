//! I10: a conflict at the dependency is a payment under way, not a failed one.

use std::collections::BTreeSet;

use super::books::{Books, attempt_lines, told_success};
use super::refusal::is_problem;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I10;
use crate::checks::support::{Case, Request, Tally, note_unjoined, outcome_line, requests, strays_among, unfired};
use crate::evidence::{Attempt, Evidence, Outcome};
use crate::finding::Line;
use crate::promise::IdempotencyPolicy;

const A_REFUSAL: &str = I10.bug_classes[0];
const NEW_KEY: &str = I10.bug_classes[1];

/// **I10** When the dependency says that a call with this key still runs, the service waits it out and reports no failure.
///
/// - *Measure*: the step `conflict`, whose first calls are answered with the declared reply, and `settled`, the same keys
///   once more: answers, the keys of the calls, effects in both books.
/// - *Test*: the client is told success; or that the payment is pending (the promised `in_flight`, or an answer marked as
///   degraded) and then success in `settled`. Every call of a payment carries one key. One effect.
/// - *False alarms*: none, answers, calls and effects are counted.
/// - *Inconclusive*: the reply never reached the service; a request has no answer; the ledger was not read.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "bank-conflict".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "waits_out": { "status": 409 } }"#)?;
/// let finding = idempotency::conflict_is_pending(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn conflict_is_pending(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I10, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let status = policy.waits_out.as_ref().map(|w| w.status);
    let words = status.map_or("not promised".to_owned(), |s| format!("{s}, waited out"));
    let case = Case::new(I10, evidence, link, format!("a call that still runs at the dependency: {words}"));
    let Some(status) = status else {
        let advice = "promise it in the contract: promises.idempotency.waits_out";
        let what = "it is not promised that a conflict is waited out".to_owned();
        return case.inconclusive(Tally::default(), what, advice.to_owned());
    };
    let books = Books::of(evidence, link);
    let asked = requests(&books.joined, |o| o.step == "conflict");
    if asked.is_empty() {
        return case.did_not_run("`conflict` and `settled`");
    }
    let mut tally = Tally::default();
    let mut conflicts = 0;
    for request in &asked {
        let met: Vec<&Attempt> = request.payment.attempts.iter().filter(|a| met(a, status)).copied().collect();
        conflicts += met.len();
        if met.is_empty() {
            let advice = "see that the service calls the dependency through the link that the contract names";
            tally.gap(format!("no call of {} was answered {status}", request.name()), advice);
            continue;
        }
        reported(request, policy, &met, &mut tally);
        kept_its_key(request, &mut tally);
        one_effect(request, &books, &mut tally);
        tally.judged += 1;
    }
    tally.count(&format!("calls answered {status}"), conflicts);
    note_unjoined(strays_among(&books.joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    books.gaps(&mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass =
        format!("{} payments met {status} at the dependency and were waited out, each with one effect", tally.judged);
    case.conclude(tally, pass)
}

fn met(attempt: &Attempt, status: u16) -> bool {
    attempt.fault.is_some() && attempt.reply.status == Some(status)
}

fn reported(request: &Request<'_, '_>, policy: &IdempotencyPolicy, met: &[&Attempt], tally: &mut Tally) {
    let (outcome, name) = (request.outcome, request.name());
    if told_success(outcome) {
        return;
    }
    let lines = |more: Option<&Outcome>| -> Vec<Line> {
        let mut lines = attempt_lines(met);
        lines.push(outcome_line(outcome, ""));
        lines.extend(more.map(|o| outcome_line(o, "asked again")));
        lines
    };
    let Some(reply) = outcome.reply() else {
        tally.gap(format!("{name} has no answer"), "give the request a longer timeout in the contract");
        return;
    };
    let pending = is_problem(outcome, policy.in_flight) || (outcome.succeeded() && reply.degraded.is_some());
    if !pending {
        let what = format!("{name} was under way at the dependency, and the client was told {}", reply.status);
        tally.breach(A_REFUSAL, what, lines(None));
        return;
    }
    let mut later = request.payment.outcomes.iter().copied().filter(|o| o.step == "settled");
    match later.clone().find(|o| told_success(o)) {
        Some(_) => {}
        None if later.clone().all(|o| o.reply().is_none()) => {
            tally.gap(format!("nobody was answered about {name} afterwards"), "run the whole scenario `bank-conflict`");
        }
        None => {
            let what = format!("{name} was called pending, and is still no success when asked for again");
            tally.breach("", what, lines(later.next_back()));
        }
    }
}

fn kept_its_key(request: &Request<'_, '_>, tally: &mut Tally) {
    let attempts = &request.payment.attempts;
    let keys: BTreeSet<_> = attempts.iter().map(|a| a.key.as_deref()).collect();
    if keys.len() > 1 {
        let what = format!("after the conflict {} was called under {} keys", request.name(), keys.len());
        tally.breach(NEW_KEY, what, attempt_lines(attempts));
    }
}

fn one_effect(request: &Request<'_, '_>, books: &Books<'_>, tally: &mut Tally) {
    let payment = request.payment;
    let confirmed = payment.outcomes.iter().any(|o| told_success(o));
    let settled = payment.rows.iter().any(|r| r.settled);
    let loose = books.foreign_rows.iter().any(|r| r.settled);
    let forgotten = confirmed && books.read.is_some() && !settled && !loose;
    if books.effects(payment) > 1 || forgotten {
        let (rows, charges) = (payment.rows.len(), payment.charges.len());
        let what = format!("{} left {rows} rows and {charges} charges, promised one effect", payment.name);
        tally.breach("", what, books.lines(payment));
    }
}
