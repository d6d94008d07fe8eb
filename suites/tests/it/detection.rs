//! Proof of detection: each named defect is failed by the check that owns it, and by no unrelated one.

use std::collections::BTreeSet;

use harness::battery::Scenario::{
    self, BreakerRecovery, BreakerRelapse, BreakerTrip, Duplicates, OneEffect, Restart, RetryHerd, RetryLaw, RetryTable,
};
use harness::judge::Ruling;
use harness::suite::session;
use rstest::rstest;

use crate::service::payments_with;

/// Proves that the owning check fails on the defect, over evidence that the sound build passes (see the other suites),
/// and that every other failing check is one whose promise the defect breaks as well.
#[rstest]
#[case::no_jitter("no-jitter", "R2", &[], &[RetryLaw, RetryTable])]
#[case::fixed_seed_jitter("fixed-seed-jitter", "R2", &[], &[RetryLaw, RetryTable])]
#[case::reused_draw("reused-draw", "R2", &[], &[RetryLaw, RetryTable])]
#[case::no_growth("no-growth", "R2", &[], &[RetryLaw, RetryTable])]
#[case::retry_storm("retry-storm", "R2", &["R3"], &[RetryLaw, RetryHerd])]
#[case::attempts_off_by_one("attempts-off-by-one", "R1", &[], &[RetryLaw, RetryTable])]
#[case::retries_client_errors("retries-client-errors", "R6", &[], &[RetryTable, OneEffect])]
#[case::new_key_per_attempt("new-key-per-attempt", "R13", &["I1"], &[OneEffect])]
#[case::body_changes_on_retry("body-changes-on-retry", "R12", &[], &[RetryTable])]
#[case::charge_before_row("charge-before-row", "I6", &["I1"], &[Restart, Duplicates])]
#[case::key_in_memory_only("key-in-memory-only", "I6", &["I1", "I3"], &[Restart, Duplicates])]
#[case::lost_reply_second_row("lost-reply-second-row", "I1", &["R13"], &[OneEffect])]
#[case::twins_both_run("twins-both-run", "I2", &["I1", "R13", "I3"], &[Duplicates])]
#[case::replay_reruns("replay-reruns", "I3", &[], &[Duplicates, OneEffect])]
#[case::replay_altered("replay-altered", "I3", &[], &[Duplicates, OneEffect])]
#[case::payload_not_checked("payload-not-checked", "I4", &[], &[Duplicates, OneEffect])]
#[case::threshold_off_by_one("threshold-off-by-one", "B1", &[], &[BreakerTrip, BreakerRecovery])]
#[case::breaker_per_request("breaker-per-request", "B1", &[], &[BreakerTrip, BreakerRecovery])]
#[case::open_calls_through("open-calls-through", "B2", &["B3"], &[BreakerTrip])]
#[case::breaker_open_too_short("breaker-open-too-short", "B3", &[], &[BreakerRecovery])]
#[case::never_half_opens("never-half-opens", "B3", &["B4", "B7"], &[BreakerRecovery])]
#[case::many_probes("many-probes", "B4", &[], &[BreakerRecovery, BreakerTrip])]
#[case::probe_failure_closes("probe-failure-closes", "B5", &[], &[BreakerRelapse])]
#[case::counter_not_reset("counter-not-reset", "B6", &[], &[BreakerRecovery])]
#[case::probe_stuck("probe-stuck", "B7", &[], &[BreakerRelapse])]
#[tokio::test(flavor = "multi_thread")]
async fn a_defect_is_failed_by_its_owner(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[Scenario],
) {
    let session = session(payments_with(defect)).expect("a session");
    let findings = session.findings(scenarios).await.expect("the rigs run");
    let failed: BTreeSet<_> = findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| f.check.as_str()).collect();
    let owned = findings.iter().find(|f| f.check == owner && f.ruling == Ruling::Fail);
    let unrelated: Vec<_> = failed.iter().filter(|c| **c != owner && !companions.contains(c)).collect();
    let rulings: Vec<_> = findings
        .iter()
        .filter(|f| f.ruling != Ruling::Pass)
        .map(|f| format!("{} {} in {}: {}", f.ruling.word(), f.check, f.scenario, f.headline))
        .collect();
    let seen = format!("{}\nrun folder: {}", rulings.join("\n"), session.folder().dir().display());
    assert!(owned.is_some(), "{owner} owns `{defect}` and did not fail:\n{seen}");
    assert!(unrelated.is_empty(), "unrelated checks failed on `{defect}`: {unrelated:?}\n{seen}");
    assert!(owned.is_some_and(|f| !f.lines.is_empty()), "{owner} failed without a line of evidence");
}

/// Proves that the suite names every defect that the service offers: a new one must find its owner.
#[test]
fn every_defect_has_its_case() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_payments"))
        .arg("--list-defects")
        .output()
        .expect("the service lists its defects");
    let listed = String::from_utf8(output.stdout).expect("the list is text");
    let source = include_str!("detection.rs");
    for line in listed.lines() {
        let mut cells = line.split('\t');
        let (name, owner) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        assert!(source.contains(&format!("(\"{name}\", \"{owner}\",")), "`{name}` ({owner}) has no case here");
    }
    assert!(listed.lines().count() >= 25, "{listed}");
}
