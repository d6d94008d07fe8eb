//! I8: a key belongs to its caller.

use std::collections::{BTreeMap, BTreeSet};

use super::books::{Books, told_success};
use super::refusal::calls_during;
use super::replay::difference;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I8;
use crate::checks::support::{Case, Request, Tally, note_blind, note_unjoined, outcome_line, requests, strays_among};
use crate::evidence::{Evidence, Outcome, Payment};
use crate::promise::IdempotencyPolicy;

const HANDED_OVER: &str = I8.bug_classes[0];
const REFUSED: &str = I8.bug_classes[1];
const BARE_KEY: &str = I8.bug_classes[2];

/// **I8** A key belongs to its caller: the same key from another caller is another payment.
///
/// - *Measure*: the steps `first` (one caller), `other` (another caller, the same keys, the same payload and another one)
///   and `again` (each caller its own once more); calls by trace; effects by key in both books.
/// - *Test*: each request of `other` is a success with a call of its own, not marked as a replay; as many settled rows and
///   charges as callers were told success; no request of `again` gets the other caller's answer.
/// - *False alarms*: none, answers, calls and effects are counted.
/// - *Inconclusive*: the first caller had no success; a request has no answer; calls that join to no request; no call at
///   all was seen on the link; the ledger was not read, or the bank kept no journal.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "key-scope".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "scope": ["caller"] }"#)?;
/// let finding = idempotency::key_belongs_to_caller(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn key_belongs_to_caller(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I8, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let promise = "the same key from another caller is another payment, with an answer and an effect of its own";
    let case = Case::new(I8, evidence, link, promise.to_owned());
    let books = Books::of(evidence, link);
    let others = requests(&books.joined, |o| o.step == "other");
    if others.is_empty() {
        return case.did_not_run("`first`, `other` and `again`");
    }
    let mut tally = Tally::default();
    // On a link where nothing is seen, a call that is missing is no answer out of another one's store.
    if !note_blind(&books.joined, &mut tally) {
        return case.conclude(tally, String::new());
    }
    for request in &others {
        other_caller(request, policy, &books, &mut tally);
    }
    let repeats = requests(&books.joined, |o| o.step == "again");
    for request in &repeats {
        own_answer(request, &mut tally);
    }
    for payment in books.joined.payments.iter().filter(|p| p.outcomes.iter().any(|o| o.step == "other")) {
        effects(payment, &books, &mut tally);
    }
    tally.count("keys of two callers", others.len());
    tally.count("repetitions", repeats.len());
    books.gaps(&mut tally);
    let pass = format!("{} keys were each a payment of its own for each caller", tally.judged);
    case.conclude(tally, pass)
}

fn same_caller(a: &Outcome, b: &Outcome) -> bool {
    a.caller == b.caller
}

/// A key that another caller has used already.
fn other_caller(request: &Request<'_, '_>, policy: &IdempotencyPolicy, books: &Books<'_>, tally: &mut Tally) {
    let (other, name) = (request.outcome, request.name());
    let earlier =
        request.payment.outcomes.iter().find(|o| told_success(o) && !same_caller(o, other) && o.ended <= other.sent);
    let Some(first) = earlier.filter(|_| other.caller.is_some()) else {
        let advice = "see the other findings first, and give the contract request.caller_header";
        tally.gap(format!("no other caller had a success under {name} before"), advice);
        return;
    };
    if other.reply().is_none() {
        tally.gap(format!("a request for {name} has no answer"), "give the request a longer timeout in the contract");
        return;
    }
    let calls = calls_during(request);
    let lines = vec![outcome_line(first, "the first caller"), outcome_line(other, "another caller, the same key")];
    let marked = policy.replay_marker.is_some() && other.reply().is_some_and(|r| r.marker.is_some());
    if told_success(other) && (calls.is_empty() || marked) {
        let how = if marked { ", marked as a replay" } else { ", without a call to the dependency" };
        let what = format!("the second caller of {name} was answered with a success{how}");
        // Where a call cannot be told from those of others, its absence proves nothing.
        if marked || !note_unjoined(strays_among(&books.joined, std::iter::once(other)).len(), tally) {
            tally.breach(HANDED_OVER, what, lines);
        }
    } else if !told_success(other) {
        let status = other.status().unwrap_or_default();
        let what = format!("the second caller of {name} was answered {status} for a payment of its own");
        let known = [Some(policy.in_flight), policy.mismatch].contains(&Some(status));
        let class = if known && calls.is_empty() { REFUSED } else { "" };
        tally.breach(class, what, lines);
    }
    tally.judged += 1;
}

/// A repetition: not the other caller's answer. Whether it is its own one, byte for byte, is for I3 to say.
fn own_answer(request: &Request<'_, '_>, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    let before = || request.payment.outcomes.iter().filter(|o| told_success(o) && o.ended <= again.sent);
    let own = before().find(|o| same_caller(o, again) && o.seq != again.seq);
    let (Some(own), Some(reply)) = (own, again.reply()) else {
        let advice = "see the other findings first, and give the request a longer timeout in the contract";
        tally.gap(format!("{name} was repeated without a success of its caller before, or has no answer"), advice);
        return;
    };
    let is = |o: &Outcome| o.reply().is_some_and(|r| difference(r, reply).is_none());
    let other = before().find(|o| !same_caller(o, again) && is(o));
    if let Some(other) = other.filter(|_| !is(own)) {
        let what = format!("a caller that repeated {name} got the other caller's answer");
        let own = outcome_line(own, "its own answer");
        let lines = vec![own, outcome_line(other, "the other caller's"), outcome_line(again, "the repetition")];
        tally.breach(HANDED_OVER, what, lines);
    }
}

/// As many effects as callers were told success.
fn effects(payment: &Payment<'_>, books: &Books<'_>, tally: &mut Tally) {
    let callers: BTreeSet<_> =
        payment.outcomes.iter().filter(|o| told_success(o)).map(|o| o.caller.as_deref()).collect();
    // Who was not answered may have had an effect all the same.
    let asked: BTreeSet<_> = payment.outcomes.iter().map(|o| o.caller.as_deref()).collect();
    let (rows, charges) = (payment.rows.iter().filter(|r| r.settled).count(), payment.charges.len());
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for attempt in &payment.attempts {
        if let Some(key) = attempt.key.as_deref() {
            *keys.entry(key).or_default() += 1;
        }
    }
    let told = callers.len();
    // Effects that join to nothing may be those that are missing here.
    let loose_rows = books.foreign_rows.iter().filter(|r| r.settled).count();
    let few_rows = books.read.is_some() && rows + loose_rows < told;
    let few_charges = books.journal && charges + books.joined.orphan_charges.len() < told;
    if few_rows || few_charges || rows > asked.len() || charges > asked.len() {
        let what = format!(
            "{told} callers were told success under {}, which left {rows} settled rows and {charges} charges",
            payment.name
        );
        let class = if few_charges && keys.len() < told { BARE_KEY } else { "" };
        tally.breach(class, what, books.lines(payment));
    }
}
