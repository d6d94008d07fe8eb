//! Defects of the retry loop.

use harness::battery::{ONE_EFFECT, RETRY_HERD, RETRY_LAW, RETRY_TABLE, Scenario};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::no_jitter("no-jitter", "R2", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::fixed_seed_jitter("fixed-seed-jitter", "R2", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::reused_draw("reused-draw", "R2", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::no_growth("no-growth", "R2", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::retry_storm("retry-storm", "R2", &["R3"], &[&RETRY_LAW, &RETRY_HERD])]
#[case::attempts_off_by_one("attempts-off-by-one", "R1", &[], &[&RETRY_LAW, &RETRY_TABLE])]
#[case::retries_client_errors("retries-client-errors", "R6", &[], &[&RETRY_TABLE, &ONE_EFFECT])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
