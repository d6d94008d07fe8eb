//! Sound services pass, and each wrong one is failed with its class of bugs.

use judge::checks::{Check, catalogue, idempotency};
use judge::evidence::Evidence;
use judge::{Finding, Ruling};

use crate::scenarios::{
    TTL, both_scopes, conflict, expiry, expiry_at, memo, memo_with, policy, respelt, route_scope, scope,
};
use crate::service::Defect;
use crate::support::MS;

pub const LINK: &str = "bank";
pub const CALLER: &str = r#""caller""#;
pub const ROUTE: &str = r#""route""#;

pub fn i4(fingerprint: &str) -> Check {
    idempotency::mismatch_is_rejected(&policy(&format!(r#""fingerprint": "{fingerprint}""#)), LINK)
}

pub fn i7(memo: &str) -> Check {
    idempotency::failures_are_remembered(&policy(&format!(r#""memo": "{memo}""#)), LINK)
}

/// `scope`: the words of the contract, in quotes.
pub fn i8(scope: &str) -> Check {
    let promised = policy(&format!(r#""scope": [{scope}], "scope_route": "refund""#));
    idempotency::key_belongs_to_its_owner(&promised, LINK)
}

pub fn i9(after: &str) -> Check {
    idempotency::key_expires_as_declared(&policy(&format!(r#""ttl": "1500ms", "after_ttl": "{after}""#)), LINK)
}

pub fn i10() -> Check {
    idempotency::conflict_is_pending(&policy(r#""waits_out": { "status": 409 }"#), LINK)
}

pub fn passes(check: &Check, evidence: &Evidence) -> Finding {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert_eq!(finding.chance, None, "a pass claims no chance");
    finding
}

/// Fails with that class, lines that a person can look up, and no chance of a false alarm.
pub fn fails(check: &Check, evidence: &Evidence, class: Option<&str>) {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert_eq!(finding.bug_class.as_deref(), class, "{finding:#?}");
    assert!(!finding.lines.is_empty() && finding.lines.iter().any(|l| l.key.is_some()), "{finding:#?}");
    assert_eq!(finding.chance.and_then(|c| c.probability()), Some(0.0), "{finding:#?}");
    assert!(!finding.facts.is_empty() && !finding.measured.is_empty(), "{finding:#?}");
}

pub fn unclear(check: &Check, evidence: &Evidence, because: &str) {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains(because), "`{because}` is not in `{}`", finding.headline);
    assert!(finding.advice.is_some_and(|a| !a.is_empty()));
}

/// Proves that every policy of memory passes the service that keeps it, and that each service fails the other policies.
#[test]
fn memory_is_judged_by_the_declared_policy() {
    let services = [("2xx", 300), ("2xx+4xx", 500), ("all", 600)];
    let [forgotten, kept, _] = catalogue::I7.bug_classes else { panic!("three classes") };
    for (kept_by, forgets_from) in services {
        let evidence = memo_with(Defect::Sound, forgets_from);
        for (declared, declared_from) in services {
            if declared == kept_by {
                let finding = passes(&i7(declared), &evidence);
                assert!(finding.headline.contains('4'), "{}", finding.headline);
            } else {
                fails(&i7(declared), &evidence, Some(if forgets_from < declared_from { forgotten } else { kept }));
            }
        }
    }
}

/// Proves that a remembered answer must come back as it was.
#[test]
fn remembered_answers_come_back_unaltered() {
    let [forgotten, kept, altered] = catalogue::I7.bug_classes else { panic!("three classes") };
    fails(&i7("2xx+4xx"), &memo(Defect::AltersRefusals), Some(altered));
    fails(&i7("2xx+4xx"), &memo(Defect::ForgetsRefusals), Some(forgotten));
    fails(&i7("2xx+4xx"), &memo(Defect::KeepsFailures), Some(kept));
}

/// Proves that one owner's key is not another one's, be they callers or routes: neither its answer nor its refusal, here
/// or at the dependency.
#[test]
fn keys_belong_to_their_owners() {
    let (callers, routes) = catalogue::I8.bug_classes.split_at(3);
    for (word, classes, play) in [(CALLER, callers, scope as fn(Defect) -> Evidence), (ROUTE, routes, route_scope)] {
        let finding = passes(&i8(word), &play(Defect::Sound));
        assert!(finding.headline.starts_with("3 keys") && finding.headline.ends_with(word.trim_matches('"')));
        let [handed_over, refused, bare_key] = classes else { panic!("three classes each") };
        fails(&i8(word), &play(Defect::HandsOver), Some(handed_over));
        fails(&i8(word), &play(Defect::RefusesOthers), Some(refused));
        fails(&i8(word), &play(Defect::PassesBareKey), Some(bare_key));
        fails(&i8(word), &play(Defect::SwapsRepeats), Some(handed_over));
    }
}

/// Proves that of two promised scopes each is judged, and that the part of one that is not promised accuses nobody.
#[test]
fn each_promised_scope_is_judged() {
    let both = i8(r#""caller", "route""#);
    let finding = passes(&both, &both_scopes(Defect::Sound, Defect::Sound));
    assert!(finding.promise.contains("another caller") && finding.promise.contains("another route"), "{finding:#?}");
    assert_eq!(finding.headline.matches("3 keys").count(), 2, "{}", finding.headline);
    let (of_callers, of_routes) = (catalogue::I8.bug_classes[0], catalogue::I8.bug_classes[3]);
    let [by_caller, by_route] =
        [(Defect::HandsOver, Defect::Sound), (Defect::Sound, Defect::HandsOver)].map(|(c, r)| both_scopes(c, r));
    fails(&both, &by_caller, Some(of_callers));
    fails(&both, &by_route, Some(of_routes));
    passes(&i8(ROUTE), &by_caller);
    passes(&i8(CALLER), &by_route);
}

/// Proves that keys live as long as declared and no longer, under both promises of what comes after.
#[test]
fn keys_live_as_long_as_declared() {
    passes(&i9("new"), &expiry(Defect::Sound));
    passes(&i9("no_effect"), &expiry_at(Defect::Sound, false, TTL + 100 * MS));
    let [early, never, undeclared] = catalogue::I9.bug_classes else { panic!("three classes") };
    fails(&i9("new"), &expiry(Defect::ExpiresEarly), Some(early));
    fails(&i9("new"), &expiry(Defect::NeverExpires), Some(never));
    fails(&i9("no_effect"), &expiry(Defect::ExpiresUndeclared), Some(undeclared));
}

/// Proves that a conflict at the dependency must become neither a failure, nor a second charge, nor pending for ever.
#[test]
fn conflicts_are_waited_out() {
    passes(&i10(), &conflict(Defect::Sound));
    let [refusal, new_key] = catalogue::I10.bug_classes else { panic!("two classes") };
    fails(&i10(), &conflict(Defect::ConflictIsFailure), Some(refusal));
    fails(&i10(), &conflict(Defect::NewKeyAfterConflict), Some(new_key));
    fails(&i10(), &conflict(Defect::ConflictForEver), None);
}

/// Proves that a payload spelt otherwise is what the contract says: the same payment, or another payload.
#[test]
fn spelling_matters_as_declared() {
    passes(&i4("canonical"), &respelt(Defect::Sound, false));
    passes(&i4("bytes"), &respelt(Defect::Sound, true));
    fails(&i4("canonical"), &respelt(Defect::RawBytes, false), Some(catalogue::I4.bug_classes[2]));
    fails(&i4("bytes"), &respelt(Defect::IgnoresBytes, true), None);
}
