//! Defects that show under load alone.

use harness::battery::{OVERLOAD, RECOVERY, Scenario};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::retry_queue_never_drains("retry-queue-never-drains", "S2", &["R1", "R2", "R6", "R8", "R9", "R10", "R11", "R14", "R15", "B9", "B12"], &[&RECOVERY])]
#[case::no_load_shedding("no-load-shedding", "S3", &[], &[&OVERLOAD])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
