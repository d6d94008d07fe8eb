//! Sound services pass, and each wrong one is failed with its class of bugs.

use judge::checks::{Check, catalogue, idempotency};
use judge::evidence::Evidence;
use judge::{Finding, Ruling};

use crate::scenarios::{TTL, conflict, expiry, expiry_at, memo, memo_with, policy, respelt, scope};
use crate::service::Defect;
use crate::support::MS;

pub const LINK: &str = "bank";

pub fn i4(fingerprint: &str) -> Check {
    idempotency::mismatch_is_rejected(&policy(&format!(r#""fingerprint": "{fingerprint}""#)), LINK)
}

pub fn i7(memo: &str) -> Check {
    idempotency::failures_are_remembered(&policy(&format!(r#""memo": "{memo}""#)), LINK)
}

pub fn i8() -> Check {
    idempotency::key_belongs_to_caller(&policy(r#""scope": ["caller"]"#), LINK)
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

/// Proves that one caller's key is not another one's: neither its answer nor its refusal, here or at the dependency.
#[test]
fn keys_belong_to_their_callers() {
    let finding = passes(&i8(), &scope(Defect::Sound));
    assert!(finding.headline.starts_with("3 keys"), "{}", finding.headline);
    let [handed_over, refused, bare_key] = catalogue::I8.bug_classes else { panic!("three classes") };
    fails(&i8(), &scope(Defect::HandsOver), Some(handed_over));
    fails(&i8(), &scope(Defect::RefusesOthers), Some(refused));
    fails(&i8(), &scope(Defect::PassesBareKey), Some(bare_key));
    fails(&i8(), &scope(Defect::SwapsRepeats), Some(handed_over));
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
