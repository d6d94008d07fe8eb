//! I6: keys survive the death of the service.

use super::books::{Books, attempt_lines, told_success};
use super::lease::{dependency_died, killed, overdue, still_leased};
use super::refusal::calls_during;
use super::replay::difference;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I6;
use crate::checks::support::{Case, Request, Tally, attempt_line, note_unjoined, outcome_line, requests, strays_among};
use crate::evidence::{At, Evidence, Outcome, Payment};
use crate::promise::IdempotencyPolicy;

const NO_OWNER: &str = I6.bug_classes[0];
const CHARGES_AGAIN: &str = I6.bug_classes[1];
pub(super) const NEW_KEY: &str = I6.bug_classes[2];

/// **I6** A payment that was under way when the service was killed can be finished with its key after the restart, and a
/// finished one is still known.
///
/// - *Measure*: payments of the step `first` and their `replay` after a kill; payments of `accepted`, whose bank answer was
///   held while the service was killed, and the tries of `recover` after the restart; both books.
/// - *Test*: `replay` gives the first answer again (status, content type, bytes) without a call; every key of `accepted`
///   is answered with success within the tries of `recover`, and none is in flight later than the promised lease after the
///   kill; the keys of `dying/<fate>`, under which the dependency died, are answered with success in `revived/<n>`; every
///   key has exactly one settled row and one charge.
/// - *False alarms*: none, answers and effects are counted; the last renewal of a lease comes before the kill.
/// - *Inconclusive*: nothing was held, the service answered before it was killed, or it did not come up again; no memo is
///   promised, and a key under which the dependency died gets its first failure again and again; attempts, rows or charges
///   that join to no request; the ledger was not read afterwards, or the bank kept no journal.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "restart".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "survives_restart": true }"#)?;
/// let finding = idempotency::survives_crash(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn survives_crash(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I6, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let promise = "after a kill a finished payment is answered as before, and one under way can be finished, once";
    let case = Case::new(I6, evidence, link, promise.to_owned());
    let books = Books::of(evidence, link);
    let replays = requests(&books.joined, |o| o.step == "replay");
    let accepted = requests(&books.joined, |o| o.step == "accepted");
    if replays.is_empty() && accepted.is_empty() {
        return case.did_not_run("`replay`, `accepted` and `recover`");
    }
    let mut tally = Tally::default();
    tally.count("payments finished before the kill", replays.len());
    tally.count("payments under way at the kill", accepted.len());
    let all = replays.iter().chain(&accepted).flat_map(|r| r.payment.outcomes.iter().copied());
    note_unjoined(strays_among(&books.joined, all).len(), &mut tally);
    for request in &replays {
        replayed(request, &books, &mut tally);
    }
    let dead = accepted.iter().all(|r| recoveries(r.payment).all(|o| o.reply().is_none()));
    if !accepted.is_empty() && dead {
        let what = "no request was answered after the restart: the service did not come up again";
        tally.gap(what, "read the service's log in the run folder");
    } else {
        let at = killed(&accepted);
        for request in &accepted {
            recovered(request, (policy, at), &books, &mut tally);
            let tries: Vec<&Outcome> = recoveries(request.payment).collect();
            overdue(&tries, evidence, policy, at, &mut tally);
        }
    }
    dependency_died(evidence, (policy, link), &books, &mut tally);
    if replays.is_empty() || accepted.is_empty() {
        let missing = if replays.is_empty() { "replay" } else { "accepted" };
        tally.gap(format!("the step `{missing}` did not run"), "run the whole scenario `restart`");
    }
    let loose = books.foreign_rows.len() + books.joined.orphan_charges.len();
    if loose > 0 {
        let advice = "pass the client's key or trace context on, or map the key columns in the contract's [ledger]";
        tally.gap(format!("{loose} rows and charges join to no request"), advice);
    }
    books.gaps(&mut tally);
    let pass = format!("{} payments survived the death of the service, each with one effect", tally.judged);
    case.conclude(tally, pass)
}

/// A payment that had been answered before the kill.
fn replayed(request: &Request<'_, '_>, books: &Books<'_>, tally: &mut Tally) {
    let name = request.name();
    let first = request.payment.outcomes.iter().find(|o| told_success(o) && o.ended <= request.outcome.sent);
    let (Some(first), Some(again)) = (first, request.outcome.reply()) else {
        let what = format!("the payment {name} has no success before the kill, or no answer after it");
        tally.gap(what, "see the other findings first");
        return;
    };
    let calls = calls_during(request);
    if !calls.is_empty() {
        let what = format!("after the restart the finished payment {name} called the dependency again");
        let class = if calls.iter().any(|c| is_new_key(request.payment, c.key.as_deref())) { NEW_KEY } else { "" };
        tally.breach(class, what, attempt_lines(&calls));
    } else if let Some((member, _)) = first.reply().and_then(|r| difference(r, again)) {
        let what = format!("after the restart the payment {name} was answered with another {member}");
        tally.breach("", what, vec![outcome_line(first, "before"), outcome_line(request.outcome, "after")]);
    }
    one_effect(request.payment, books, tally);
    tally.judged += 1;
}

/// A payment that the bank had accepted when the service was killed.
fn recovered(
    request: &Request<'_, '_>,
    (policy, killed): (&IdempotencyPolicy, Option<At>),
    books: &Books<'_>,
    tally: &mut Tally,
) {
    let (payment, name) = (request.payment, request.name());
    let held = request.attempts.iter().any(|a| a.fault.as_ref().is_some_and(|f| f.held.is_some()));
    if !held || request.outcome.reply().is_some() {
        let why = if held { "was answered before the service was killed" } else { "was never held at the bank" };
        let advice = "see that the service calls the dependency through the link that the contract names";
        tally.gap(format!("the payment {name} {why}"), advice);
        return;
    }
    let tries: Vec<&Outcome> = recoveries(payment).collect();
    let Some(last) = tries.last() else {
        tally.gap(format!("nobody asked for {name} again after the restart"), "run the whole scenario `restart`");
        return;
    };
    if tries.iter().all(|o| !told_success(o)) && still_leased(last, policy, killed) {
        let what = format!("nobody asked for {name} again after its lease was over");
        tally.gap(what, "run the whole scenario `restart`");
    } else if !tries.iter().any(|o| told_success(o)) {
        let stuck = last.status() == Some(policy.in_flight);
        let class = if stuck { NO_OWNER } else { "" };
        let what = format!("{name} was under way at the kill and is still not finished after {} tries", tries.len());
        tally.breach(class, what, tries.iter().map(|o| outcome_line(o, "")).collect());
    }
    one_effect(payment, books, tally);
    tally.judged += 1;
}

fn recoveries<'p, 'a>(payment: &'p Payment<'a>) -> impl Iterator<Item = &'a Outcome> + 'p {
    payment.outcomes.iter().copied().filter(|o| o.step == "recover" || o.step.starts_with("recover/"))
}

/// Exactly one effect in both books, where some client was told success.
pub(super) fn one_effect(payment: &Payment<'_>, books: &Books<'_>, tally: &mut Tally) {
    let (rows, charges) = (payment.rows.len(), payment.charges.len());
    let confirmed = payment.outcomes.iter().any(|o| told_success(o));
    let doubled = rows > 1 || charges > 1;
    // A settled row that joins to nothing may be this payment's.
    let loose = books.foreign_rows.iter().any(|r| r.settled);
    let forgotten = !loose && confirmed && books.read.is_some() && !payment.rows.iter().any(|r| r.settled);
    if !doubled && !forgotten {
        return;
    }
    let what =
        format!("over the kill the payment {} left {rows} rows and {charges} charges, promised one", payment.name);
    let renamed = payment.attempts.iter().find(|a| is_new_key(payment, a.key.as_deref()));
    let class = match (charges > 1, renamed) {
        (true, Some(_)) => NEW_KEY,
        (true, None) => CHARGES_AGAIN,
        (false, _) => "",
    };
    let mut lines = books.lines(payment);
    lines.extend(renamed.map(|a| attempt_line(a, a.ordinal as usize, None, "another key than before the kill")));
    tally.breach(class, what, lines);
}

/// Whether that key differs from the one of the payment's first attempt.
pub(super) fn is_new_key(payment: &Payment<'_>, key: Option<&str>) -> bool {
    payment.attempts.first().is_some_and(|a| a.key.as_deref() != key)
}
