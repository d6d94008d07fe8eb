//! I8: a key belongs to its owner.

use std::collections::{BTreeMap, BTreeSet};

use super::books::{Books, told_success};
use super::owner::Owner;
use super::refusal::calls_during;
use super::replay::difference;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I8;
use crate::checks::support::{Case, Request, Tally, note_blind, note_unjoined, outcome_line, requests, strays_among};
use crate::evidence::{Evidence, Outcome, Payment};
use crate::promise::IdempotencyPolicy;

/// **I8** A key belongs to its owner, by the promised scope its caller, its route or both: the same key from another
/// caller, or on another route, is another payment.
///
/// - *Measure*: the steps `first` (one caller), `other` (another caller, the same keys, the same payload and another one)
///   and `again` (each caller its own once more); the same on two routes in `route/first`, `route/other` and
///   `route/again`; calls by trace; effects by key in both books.
/// - *Test*: each request of `other` is a success with a call of its own, not marked as a replay; as many settled rows and
///   charges as owners were told success; no request of `again` gets the other owner's answer.
/// - *False alarms*: none, answers, calls and effects are counted.
/// - *Inconclusive*: no scope is promised, or the steps of a promised one are not there; the first owner had no success; a
///   request has no answer; calls that join to no request; no call at all was seen on the link; the ledger was not read, or
///   the bank kept no journal.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "key-scope".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "scope": ["caller", "route"], "scope_route": "refund" }"#)?;
/// let finding = idempotency::key_belongs_to_its_owner(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("on another route"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn key_belongs_to_its_owner(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I8, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let kinds = Owner::kinds(&policy.scope);
    let words = |of: fn(&Owner) -> &'static str, between: &str| {
        kinds.iter().map(|owner| of(owner)).collect::<Vec<_>>().join(between)
    };
    let promise = format!(
        "the same key {} is another payment, with an answer and an effect of its own",
        words(|o| o.elsewhere, ", and ")
    );
    if kinds.is_empty() {
        let case = Case::new(I8, evidence, link, "not promised".to_owned());
        let advice = "promise it in the contract: promises.idempotency.scope";
        return case.inconclusive(
            Tally::default(),
            "a key is not promised to belong to anybody".to_owned(),
            advice.to_owned(),
        );
    }
    let case = Case::new(I8, evidence, link, promise);
    // By the payment's route alone the other route's effects would be nobody's.
    let books = Books::among(evidence, link, |o| o.is_payment() || o.key.is_some());
    let asked = |owner: &Owner| books.joined.payments.iter().flat_map(|p| &p.outcomes).any(|o| o.step == owner.other);
    if !kinds.iter().any(|owner| asked(owner)) {
        return case.did_not_run(&words(|o| o.steps, ", "));
    }
    let mut tally = Tally::default();
    // On a link where nothing is seen, a call that is missing is no answer out of another one's store.
    if !note_blind(&books.joined, &mut tally) {
        return case.conclude(tally, String::new());
    }
    let passes: Vec<_> = kinds.iter().map(|owner| part(owner, policy, &books, &mut tally)).collect();
    books.gaps(&mut tally);
    case.conclude(tally, passes.join("; "))
}

/// One kind of owner; what to say if it passes.
fn part(owner: &Owner, policy: &IdempotencyPolicy, books: &Books<'_>, tally: &mut Tally) -> String {
    let others = requests(&books.joined, |o| o.step == owner.other);
    if others.is_empty() {
        let what = format!("the evidence holds no request of the steps {}", owner.steps);
        tally.gap(what, "run the whole scenario key-scope, under the contract that it is judged by");
    }
    let before = tally.judged;
    for request in &others {
        second_owner(owner, request, policy, books, tally);
    }
    let judged = tally.judged - before;
    let repeats = requests(&books.joined, |o| o.step == owner.again);
    for request in &repeats {
        own_answer(owner, request, tally);
    }
    for payment in books.joined.payments.iter().filter(|p| p.outcomes.iter().any(|o| o.step == owner.other)) {
        effects(owner, payment, books, tally);
    }
    let noun = owner.noun;
    tally.count(&format!("keys of two {noun}s"), others.len());
    tally.count(&format!("repetitions by {noun}"), repeats.len());
    format!("{judged} keys were each a payment of its own for each {noun}")
}

/// A key that another owner has used already.
fn second_owner(
    owner: &Owner,
    request: &Request<'_, '_>,
    policy: &IdempotencyPolicy,
    books: &Books<'_>,
    tally: &mut Tally,
) {
    let (other, name, noun) = (request.outcome, request.name(), owner.noun);
    let earlier =
        request.payment.outcomes.iter().find(|o| told_success(o) && !owner.is_one(o, other) && o.ended <= other.sent);
    let Some(first) = earlier.filter(|_| (owner.of)(other).is_some()) else {
        tally.gap(format!("no other {noun} had a success under {name} before"), owner.advice);
        return;
    };
    if other.reply().is_none() {
        tally.gap(format!("a request for {name} has no answer"), "give the request a longer timeout in the contract");
        return;
    }
    let calls = calls_during(request);
    let remark = format!("another {noun}, the same key");
    let lines = vec![outcome_line(first, &format!("the first {noun}")), outcome_line(other, &remark)];
    let marked = policy.replay_marker.is_some() && other.reply().is_some_and(|r| r.marker.is_some());
    if told_success(other) && (calls.is_empty() || marked) {
        let how = if marked { ", marked as a replay" } else { ", without a call to the dependency" };
        let what = format!("the second {noun} of {name} was answered with a success{how}");
        // Where a call cannot be told from those of others, its absence proves nothing.
        if marked || !note_unjoined(strays_among(&books.joined, std::iter::once(other)).len(), tally) {
            tally.breach(owner.handed_over, what, lines);
        }
    } else if !told_success(other) {
        let status = other.status().unwrap_or_default();
        let what = format!("the second {noun} of {name} was answered {status} for a payment of its own");
        let known = [Some(policy.in_flight), policy.mismatch].contains(&Some(status));
        let class = if known && calls.is_empty() { owner.refused } else { "" };
        tally.breach(class, what, lines);
    }
    tally.judged += 1;
}

/// A repetition: not the other owner's answer. Whether it is its own one, byte for byte, is for I3 to say.
fn own_answer(owner: &Owner, request: &Request<'_, '_>, tally: &mut Tally) {
    let (again, name, noun) = (request.outcome, request.name(), owner.noun);
    let before = || request.payment.outcomes.iter().filter(|o| told_success(o) && o.ended <= again.sent);
    let own = before().find(|o| owner.is_one(o, again) && o.seq != again.seq);
    let (Some(own), Some(reply)) = (own, again.reply()) else {
        let advice = "see the other findings first, and give the request a longer timeout in the contract";
        tally.gap(format!("{name} was repeated without a success of its {noun} before, or has no answer"), advice);
        return;
    };
    let is = |o: &Outcome| o.reply().is_some_and(|r| difference(r, reply).is_none());
    let other = before().find(|o| !owner.is_one(o, again) && is(o));
    if let Some(other) = other.filter(|_| !is(own)) {
        let what = format!("the repetition of {name} got the other {noun}'s answer");
        let own = outcome_line(own, "its own answer");
        let other = outcome_line(other, &format!("the other {noun}'s"));
        tally.breach(owner.handed_over, what, vec![own, other, outcome_line(again, "the repetition")]);
    }
}

/// As many effects as owners were told success.
fn effects(owner: &Owner, payment: &Payment<'_>, books: &Books<'_>, tally: &mut Tally) {
    let successes = payment.outcomes.iter().filter(|o| told_success(o));
    let told = successes.map(|o| (owner.of)(o)).collect::<BTreeSet<_>>().len();
    // Who was not answered may have had an effect all the same.
    let asked = payment.outcomes.iter().map(|o| (owner.of)(o)).collect::<BTreeSet<_>>().len();
    let (rows, charges) = (payment.rows.iter().filter(|r| r.settled).count(), payment.charges.len());
    let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
    for attempt in &payment.attempts {
        if let Some(key) = attempt.key.as_deref() {
            *keys.entry(key).or_default() += 1;
        }
    }
    // Effects that join to nothing may be those that are missing here.
    let loose_rows = books.foreign_rows.iter().filter(|r| r.settled).count();
    let few_rows = books.read.is_some() && rows + loose_rows < told;
    let few_charges = books.journal && charges + books.joined.orphan_charges.len() < told;
    if few_rows || few_charges || rows > asked || charges > asked {
        let (name, noun) = (&payment.name, owner.noun);
        let what = format!(
            "{told} {noun}s were told success under {name}, which left {rows} settled rows and {charges} charges"
        );
        let class = if few_charges && keys.len() < told { owner.bare_key } else { "" };
        tally.breach(class, what, books.lines(payment));
    }
}
