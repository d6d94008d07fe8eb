//! Each mistake against the checks that must and must not fail it.

use std::collections::BTreeSet;

use judge::checks::catalogue;
use judge::{Finding, MAX_LINES, Ruling};

use crate::machine::Defect;
use crate::scenarios::battery;
use crate::{policy, windowed};

fn failed(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| f.check.as_str()).collect()
}

/// Proves detection and attribution: the checks that fail a wrong breaker are its owners, on several seeds; and every
/// failure carries what a person needs.
#[test]
fn each_wrong_breaker_is_failed_by_its_owners_only() {
    let growing = judge::promise::BreakerPolicy { growth: 2.0, ..policy() };
    let table: Vec<(Defect, judge::promise::BreakerPolicy, &[&str])> = vec![
        (Defect::OpensLate, policy(), &["B1"]),
        (Defect::OpensEarly, policy(), &["B1"]),
        (Defect::SuccessForgetsNothing, policy(), &["B1", "B6"]),
        (Defect::SuccessForgetsNothing, windowed(), &["B1", "B6"]),
        (Defect::PerRequest, policy(), &["B1"]),
        (Defect::Leaks, policy(), &["B2", "B3"]),
        (Defect::OpenTooShort, policy(), &["B3"]),
        // Its Retry-After is honest about what is left, which is more than was declared.
        (Defect::OpenTooLong, policy(), &["B2", "B3", "B4"]),
        (Defect::NeverHalfOpens, policy(), &["B3", "B4"]),
        (Defect::ManyProbes, policy(), &["B4"]),
        (Defect::QueuesBehindProbe, policy(), &["B4"]),
        (Defect::FailureCloses, policy(), &["B5"]),
        (Defect::FailureStaysHalfOpen, policy(), &["B5"]),
        (Defect::NoGrowth, growing, &["B3"]),
        (Defect::CounterNotReset, windowed(), &["B6"]),
        (Defect::SuccessStaysHalfOpen, policy(), &["B6"]),
        (Defect::StuckProbe, policy(), &["B7"]),
        (Defect::SlowReject, policy(), &["B2"]),
        (Defect::WrongStatus, policy(), &["B2"]),
        (Defect::WrongProblem, policy(), &["B2"]),
        (Defect::RetryAfterTooLong, policy(), &["B2"]),
        (Defect::RetryAfterGarbage, policy(), &["B2"]),
    ];
    for (defect, policy, owners) in table {
        for seed in 0..20 {
            let findings = battery(&policy, defect, seed);
            let owners: BTreeSet<&str> = owners.iter().copied().collect();
            let seen: Vec<_> = findings.iter().map(|f| (&f.check, &f.scenario, f.ruling, &f.headline)).collect();
            assert_eq!(failed(&findings), owners, "{defect:?}, seed {seed}: {seen:#?}");
            findings.iter().filter(|f| f.ruling == Ruling::Fail).for_each(complete);
        }
    }
}

/// A failure carries lines, the state timeline, its chance, and a class of bugs that its entry names.
fn complete(finding: &Finding) {
    assert!(!finding.lines.is_empty() && finding.lines.len() <= MAX_LINES, "{finding:#?}");
    assert!(finding.exhibit.iter().any(|l| l.contains("closed")), "no timeline: {finding:#?}");
    assert_eq!(finding.chance.and_then(|c| c.probability()), Some(0.0), "{finding:#?}");
    let info = catalogue::info(&finding.check).expect("in the catalogue");
    assert!(info.bug_classes.contains(&finding.bug_class.as_deref().unwrap_or("none")), "{finding:#?}");
    assert_eq!(finding.subject, "payments -> bank");
}

/// Proves that the words name the defect: the first thing a person reads says where, how many, and how many were
/// declared.
#[test]
fn headlines_say_what_was_seen() {
    let headline = |defect, check: &str| {
        let findings = battery(&policy(), defect, 1);
        let found = findings.iter().find(|f| f.check == check && f.ruling == Ruling::Fail);
        found.map(|f| f.headline.clone()).unwrap_or_default()
    };
    assert_eq!(
        headline(Defect::ManyProbes, "B4"),
        "probe/1: 32 backend calls while the probe was held, declared 1 (and 2 more)"
    );
    assert_eq!(headline(Defect::OpensLate, "B1"), "trip: opened after 6 failures, declared threshold 5");
    assert_eq!(
        headline(Defect::PerRequest, "B1"),
        "trip: 10 failures arrived and the breaker never opened, declared threshold 5"
    );
    assert!(headline(Defect::StuckProbe, "B7").contains("the breaker is stuck"));
    assert!(headline(Defect::WrongStatus, "B2").starts_with("trip: a rejected call got 500, declared 503"));
}
