//! Defects of the retry loop.

use harness::battery::{
    HUNG, ONE_EFFECT, PUSHBACK, RETRY_AFTER, RETRY_BUDGET, RETRY_CAP, RETRY_DEADLINE, RETRY_HERD, RETRY_LAW,
    RETRY_REPLICAS, RETRY_RESTART, RETRY_TABLE, Scenario,
};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::no_jitter("no-jitter", "R2", &["R5"], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::fixed_seed_jitter("fixed-seed-jitter", "R2", &["R3"], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::reused_draw("reused-draw", "R2", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::no_growth("no-growth", "R2", &["R4", "R5"], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::retry_storm("retry-storm", "R2", &["R3", "R5"], &[&RETRY_LAW, &RETRY_HERD])]
#[case::seed_from_constant("seed-from-constant", "R4", &[], &[&RETRY_RESTART, &RETRY_TABLE])]
#[case::replicas_share_seed("replicas-share-seed", "R4", &[], &[&RETRY_REPLICAS])]
#[case::cap_ignored("cap-ignored", "R5", &[], &[&RETRY_CAP])]
#[case::cap_swallows_jitter("cap-swallows-jitter", "R5", &[], &[&RETRY_CAP])]
#[case::overflow_hot_loop("overflow-hot-loop", "R5", &[], &[&RETRY_CAP])]
#[case::overflow_panics("overflow-panics", "R5", &[], &[&RETRY_CAP])]
#[case::attempts_off_by_one("attempts-off-by-one", "R1", &["R11"], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::retries_client_errors("retries-client-errors", "R6", &[], &[&RETRY_TABLE, &ONE_EFFECT])]
#[case::retry_after_ignored("retry-after-ignored", "R8", &[], &[&RETRY_AFTER])]
#[case::retry_after_minutes("retry-after-minutes-for-seconds", "R8", &[], &[&RETRY_AFTER])]
#[case::retry_after_sleeps("retry-after-sleeps-past-deadline", "R8", &["R9"], &[&RETRY_AFTER, &RETRY_DEADLINE])]
#[case::retries_after_client_left("retries-after-client-left", "R9", &[], &[&RETRY_DEADLINE, &HUNG])]
#[case::deadline_ignored("deadline-ignored", "R9", &["T1"], &[&RETRY_DEADLINE, &HUNG])]
#[case::retry_budget_ignored("retry-budget-ignored", "R10", &[], &[&RETRY_BUDGET])]
#[case::retry_budget_starves("retry-budget-starves", "R10", &[], &[&RETRY_BUDGET])]
#[case::pushback_ignored("pushback-ignored", "R14", &[], &[&PUSHBACK])]
#[case::resend_count_missing("resend-count-missing", "R15", &[], &[&RETRY_TABLE])]
#[case::span_per_payment("span-per-payment", "R15", &[], &[&RETRY_TABLE])]
#[case::no_attempt_timeout("no-attempt-timeout", "T1", &["R9", "R15", "B9"], &[&HUNG, &RETRY_DEADLINE])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
