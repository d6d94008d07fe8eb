//! What proves nothing is inconclusive, and says what to do.

use judge::checks::{Check, idempotency};
use judge::evidence::{Answer, At, Evidence};

use crate::keys::{CALLER, LINK, ROUTE, i4, i7, i8, i9, i10, passes, unclear};
use crate::scenarios::{TTL, both_scopes, conflict, expiry, expiry_at, memo, policy, respelt, route_scope, scope};
use crate::service::Defect;
use crate::support::MS;

fn all() -> [(Check, Evidence); 6] {
    [
        (i4("canonical"), respelt(Defect::Sound, false)),
        (i7("2xx+4xx"), memo(Defect::Sound)),
        (i8(CALLER), scope(Defect::Sound)),
        (i8(ROUTE), route_scope(Defect::Sound)),
        (i9("new"), expiry(Defect::Sound)),
        (i10(), conflict(Defect::Sound)),
    ]
}

/// Proves that evidence without a request, and a promise that was not made, are never a pass.
#[test]
fn nothing_seen_is_inconclusive() {
    for (check, evidence) in all() {
        unclear(&check, &Evidence::new(evidence.header.clone()), "did not run");
    }
    let none = policy(r#""in_flight": 409"#);
    unclear(&idempotency::failures_are_remembered(&none, LINK), &memo(Defect::Sound), "promised");
    unclear(&idempotency::key_expires_as_declared(&none, LINK), &expiry(Defect::Sound), "promised");
    unclear(&idempotency::conflict_is_pending(&none, LINK), &conflict(Defect::Sound), "promised");
    unclear(&idempotency::key_belongs_to_its_owner(&none, LINK), &scope(Defect::Sound), "promised");
}

/// Proves that a scope whose part of the scenario did not run is not passed by that of another one.
#[test]
fn a_scope_that_nobody_tried_is_inconclusive() {
    let both = i8(r#""caller", "route""#);
    unclear(&both, &scope(Defect::Sound), "`route/other`");
    unclear(&both, &route_scope(Defect::Sound), "`other`");
    // What did run is judged all the same.
    assert_eq!(both.judge(&scope(Defect::HandsOver)).ruling, judge::Ruling::Fail);
}

/// Proves that owners who cannot be told apart prove nothing: the payments that should be two are then one.
#[test]
fn owners_without_a_name_are_inconclusive() {
    let mut evidence = scope(Defect::HandsOver);
    evidence.outcomes.iter_mut().for_each(|o| o.caller = None);
    unclear(&i8(CALLER), &evidence, "no other caller");
    let mut evidence = route_scope(Defect::HandsOver);
    evidence.outcomes.iter_mut().for_each(|o| o.route = None);
    unclear(&i8(ROUTE), &evidence, "no other route");
}

/// Proves that the order of the records decides nothing.
#[test]
fn the_order_of_records_does_not_matter() {
    for (check, evidence) in all() {
        let mut reversed = evidence.clone();
        reversed.attempts.reverse();
        reversed.outcomes.reverse();
        reversed.bank.reverse();
        reversed.faults.reverse();
        assert_eq!(check.judge(&evidence), check.judge(&reversed));
    }
}

/// Proves that a fault which did not strike as often as planned leaves nothing proved.
#[test]
fn a_fault_that_did_not_strike_is_inconclusive() {
    for (check, mut evidence) in [(i7("2xx+4xx"), memo(Defect::Sound)), (i10(), conflict(Defect::Sound))] {
        evidence.faults[0].fired = 0;
        unclear(&check, &evidence, "struck 0 times");
    }
    let mut evidence = conflict(Defect::Sound);
    evidence.attempts.retain(|a| a.fault.is_none());
    unclear(&i10(), &evidence, "no call of");
}

/// Proves that a class of failures which the policy treats apart must have been seen.
#[test]
fn a_class_of_failures_that_nobody_saw_is_inconclusive() {
    let mut evidence = memo(Defect::Sound);
    evidence.outcomes.retain(|o| !o.step.ends_with("/refused"));
    unclear(&i7("2xx+4xx"), &evidence, "4xx");
    evidence.outcomes.retain(|o| !o.step.ends_with("/failed"));
    unclear(&i7("2xx+4xx"), &evidence, "no failure");
}

/// Proves that requests without an answer are a gap.
#[test]
fn requests_without_an_answer_are_inconclusive() {
    for (check, evidence) in all() {
        let mut silent = evidence.clone();
        for outcome in &mut silent.outcomes {
            outcome.answer = Answer::TimedOut;
        }
        let finding = check.judge(&silent);
        assert_eq!(finding.ruling, judge::Ruling::Inconclusive, "{finding:#?}");
    }
}

/// Proves that without a ledger nobody knows how many effects two owners of a key had.
#[test]
fn effects_need_the_ledger() {
    for (word, mut evidence) in [(CALLER, scope(Defect::Sound)), (ROUTE, route_scope(Defect::Sound))] {
        evidence.ledger.clear();
        unclear(&i8(word), &evidence, "ledger");
    }
    let mut evidence = conflict(Defect::Sound);
    evidence.ledger.clear();
    unclear(&i10(), &evidence, "ledger");
}

/// Proves that an owner's success whose call nobody can name is not held against a sound service.
#[test]
fn calls_that_nobody_can_name_are_inconclusive() {
    let mut evidence = both_scopes(Defect::Sound, Defect::Sound);
    let second = |step: &str| step == "other" || step == "route/other";
    let other: Vec<_> = evidence.outcomes.iter().filter(|o| second(&o.step)).map(|o| o.context.trace).collect();
    for attempt in &mut evidence.attempts {
        if attempt.context.is_some_and(|c| other.contains(&c.trace)) {
            attempt.context = None;
            attempt.key = None;
        }
    }
    unclear(&i8(CALLER), &evidence, "carry neither");
    unclear(&i8(ROUTE), &evidence, "carry neither");
}

/// Proves that on a link where nothing is seen no missing call is held against the service: neither as another caller's
/// answer, nor as a key or a failure that is remembered for ever.
#[test]
fn nothing_seen_on_the_link_is_inconclusive() {
    let blind = |mut evidence: Evidence| {
        evidence.attempts.clear();
        evidence
    };
    unclear(&i8(CALLER), &blind(scope(Defect::Sound)), "no call of the whole scenario");
    unclear(&i8(ROUTE), &blind(route_scope(Defect::Sound)), "no call of the whole scenario");
    unclear(&i9("new"), &blind(expiry(Defect::Sound)), "no call of the whole scenario");
    unclear(&i7("2xx+4xx"), &blind(memo(Defect::Sound)), "no call of the whole scenario");
}

/// Proves that a key is not called known for ever because the calls of its new payment join to nothing.
#[test]
fn nameless_calls_are_no_key_that_never_expires() {
    let mut evidence = expiry(Defect::Sound);
    let again: Vec<_> = evidence.outcomes.iter().filter(|o| o.step == "expired").map(|o| o.context.trace).collect();
    for attempt in evidence.attempts.iter_mut().filter(|a| a.context.is_some_and(|c| again.contains(&c.trace))) {
        (attempt.context, attempt.key) = (None, None);
    }
    unclear(&i9("new"), &evidence, "carry neither");
}

/// Proves that what lies too near to the end of a key's life is judged neither way: a pause of the machine between the
/// two instants moves a repetition out of the verdict, and never into the wrong one.
#[test]
fn repetitions_near_the_end_of_a_key_are_not_judged() {
    unclear(&i9("new"), &expiry_at(Defect::Sound, true, TTL - 50 * MS), "surely after");
    // The late repetitions were answered after the end of the key's life: the others still stand.
    let mut paused = expiry(Defect::Sound);
    for outcome in paused.outcomes.iter_mut().filter(|o| o.step == "late") {
        outcome.ended = At(outcome.ended.0 + TTL);
    }
    passes(&i9("new"), &paused);
    for outcome in paused.outcomes.iter_mut().filter(|o| o.step == "within") {
        outcome.ended = At(outcome.ended.0 + TTL);
    }
    unclear(&i9("new"), &paused, "surely within");
}

/// Proves that a body which cannot be spelt otherwise is told, not passed.
#[test]
fn a_body_that_was_not_spelt_otherwise_is_inconclusive() {
    let mut evidence = respelt(Defect::Sound, false);
    for outcome in evidence.outcomes.iter_mut().filter(|o| o.step == "respelt") {
        outcome.payload = "bytes-100".to_owned();
    }
    unclear(&i4("canonical"), &evidence, "not spelt otherwise");
}
