//! Defects of keys, rows and replays.

use harness::battery::{
    BANK_CONFLICT, DUPLICATES, KEY_EXPIRY, KEY_MEMO, KEY_SCOPE, ONE_EFFECT, RESTART, RETRY_TABLE, Scenario,
};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::new_key_per_attempt("new-key-per-attempt", "R13", &["I1", "I6", "I10", "G3"], &[&ONE_EFFECT])]
#[case::body_changes_on_retry("body-changes-on-retry", "R12", &[], &[&RETRY_TABLE])]
#[case::charge_before_row("charge-before-row", "I6", &["I1"], &[&RESTART, &DUPLICATES])]
#[case::key_in_memory_only("key-in-memory-only", "I6", &["I1", "I3"], &[&RESTART, &DUPLICATES])]
#[case::lost_reply_second_row("lost-reply-second-row", "I1", &["R13", "I6"], &[&ONE_EFFECT])]
#[case::twins_both_run("twins-both-run", "I2", &["I1", "R13", "I3", "I6"], &[&DUPLICATES])]
#[case::replay_reruns("replay-reruns", "I3", &["I6", "I7"], &[&DUPLICATES, &ONE_EFFECT])]
#[case::replay_altered("replay-altered", "I3", &["I6", "I7"], &[&DUPLICATES, &ONE_EFFECT])]
#[case::fingerprint_on_raw_bytes("fingerprint-on-raw-bytes", "I4", &[], &[&DUPLICATES])]
#[case::lease_never_ends("lease-never-ends", "I6", &[], &[&RESTART])]
#[case::failures_not_remembered("failures-not-remembered", "I7", &[], &[&KEY_MEMO])]
#[case::failure_remembered("failure-remembered", "I7", &["I6"], &[&KEY_MEMO])]
#[case::key_scope_ignored("key-scope-ignored", "I8", &[], &[&KEY_SCOPE])]
#[case::key_route_ignored("key-route-ignored", "I8", &[], &[&KEY_SCOPE])]
#[case::key_expires_early("key-expires-early", "I9", &[], &[&KEY_EXPIRY])]
#[case::key_never_expires("key-never-expires", "I9", &[], &[&KEY_EXPIRY])]
#[case::bank_conflict_is_failure("bank-conflict-is-failure", "I10", &[], &[&BANK_CONFLICT])]
#[case::payload_not_checked("payload-not-checked", "I4", &[], &[&DUPLICATES, &ONE_EFFECT])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
