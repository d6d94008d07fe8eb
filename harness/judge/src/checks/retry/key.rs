//! R13: one key for each payment.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R13;
use crate::checks::support::{Case, Tally, attempt_line, note_unjoined, strays_among};
use crate::evidence::{Attempt, Evidence, Joined, Payment, TraceId};
use crate::finding::Line;

const NEW_KEY: &str = R13.bug_classes[0];
const SHARED: &str = R13.bug_classes[1];
const FORGOTTEN: &str = R13.bug_classes[2];

/// **R13** A payment keeps one idempotency key over all its attempts, and no two payments share one.
///
/// - *Measure*: the key header of every attempt, also of those that a client's repetition of the same request caused.
///   Attempts are joined to payments by trace where the keys differ.
/// - *Test*: exactly one key a payment, present on every attempt; no key on the attempts of two payments.
/// - *False alarms*: none, keys are compared.
/// - *Inconclusive*: no payment has two attempts; attempts that join to no payment. Requests that the client itself sent
///   without a key are not judged.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-law".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry};
///
/// let finding = retry::key_is_stable("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn key_is_stable(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(R13, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let promise = "one key for each payment on all its attempts, shared with no other payment".to_owned();
    let case = Case::new(R13, evidence, link, promise);
    if evidence.outcomes.is_empty() {
        return case.did_not_run("`waves`, `case` or `point`");
    }
    let joined = Joined::of(evidence, link);
    let keyed: Vec<_> = joined.payments.iter().filter(|p| p.outcomes.iter().any(|o| o.key.is_some())).collect();
    let mut tally = Tally { judged: keyed.iter().filter(|p| p.attempts.len() > 1).count(), ..Tally::default() };
    tally.count("payments with two attempts or more", tally.judged);
    changed(&keyed, &mut tally);
    missing(&keyed, &mut tally);
    shared(&joined, &mut tally);
    note_unjoined(strays_among(&joined, evidence.outcomes.iter()).len(), &mut tally);
    if tally.judged == 0 && tally.gaps.is_empty() {
        tally.gap("no payment has two attempts, so no key could change", "run a scenario whose fault is retried");
    }
    let pass = format!("{} payments with two attempts or more kept one key each", tally.judged);
    case.conclude(tally, pass)
}

fn changed(payments: &[&Payment<'_>], tally: &mut Tally) {
    let keys = |p: &Payment<'_>| p.attempts.iter().filter_map(|a| a.key.clone()).collect::<BTreeSet<_>>();
    let found: Vec<_> = payments.iter().map(|p| (p, keys(p).len())).filter(|(_, n)| *n > 1).collect();
    let Some((first, n)) = found.first() else { return };
    let what = format!(
        "{} payments changed their key towards the dependency; the first used {n} keys on {} attempts",
        found.len(),
        first.attempts.len()
    );
    // A key that only changes from one client request to the next was not kept; within one it was drawn anew.
    let within = found.iter().any(|(p, _)| changes_within_a_request(p));
    let class = if within { NEW_KEY } else { FORGOTTEN };
    tally.breach(class, what, found.iter().flat_map(|(p, _)| lines(&p.attempts, "")).collect());
}

fn changes_within_a_request(p: &Payment<'_>) -> bool {
    p.attempts
        .windows(2)
        .any(|w| w[0].key != w[1].key && w[0].context.map(|c| c.trace) == w[1].context.map(|c| c.trace))
}

fn missing(payments: &[&Payment<'_>], tally: &mut Tally) {
    let keyless: Vec<&Attempt> =
        payments.iter().flat_map(|p| p.attempts.iter().copied()).filter(|a| a.key.is_none()).collect();
    if !keyless.is_empty() {
        let what = format!("{} attempts carry no key, though their client sent one", keyless.len());
        tally.breach(NEW_KEY, what, lines(&keyless, "no key"));
    }
}

fn shared(joined: &Joined<'_>, tally: &mut Tally) {
    let mut owner: HashMap<TraceId, &str> = HashMap::new();
    for payment in &joined.payments {
        owner.extend(payment.outcomes.iter().map(|o| (o.context.trace, payment.name.as_str())));
    }
    let mut by_key: BTreeMap<&str, BTreeMap<&str, &Attempt>> = BTreeMap::new();
    for attempt in joined.payments.iter().flat_map(|p| p.attempts.iter().copied()) {
        let name = attempt.context.and_then(|c| owner.get(&c.trace));
        if let (Some(key), Some(name)) = (attempt.key.as_deref(), name) {
            by_key.entry(key).or_default().entry(name).or_insert(attempt);
        }
    }
    let found: Vec<_> = by_key.into_iter().filter(|(_, payments)| payments.len() > 1).collect();
    let Some((key, payments)) = found.first() else { return };
    let what =
        format!("{} keys were used for more than one payment; {key} for {} payments", found.len(), payments.len());
    let line = |(name, a): (&&str, &&Attempt)| attempt_line(a, a.ordinal as usize, None, &format!("payment {name}"));
    tally.breach(SHARED, what, found.iter().flat_map(|(_, payments)| payments.iter().map(line)).collect());
}

fn lines(attempts: &[&Attempt], remark: &str) -> Vec<Line> {
    attempts.iter().enumerate().map(|(i, a)| attempt_line(a, i + 1, None, remark)).collect()
}
