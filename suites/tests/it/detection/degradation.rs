//! Defects of what is answered while the bank cannot be asked.

use harness::battery::{DEGRADATION, Scenario};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::degraded_unmarked("degraded-unmarked", "G1", &[], &[&DEGRADATION])]
#[case::degraded_too_old("degraded-too-old", "G2", &[], &[&DEGRADATION])]
// An age that starts over is also below the true one, and outlives its bound.
#[case::degraded_stored_as_fresh("degraded-stored-as-fresh", "G3", &["G2"], &[&DEGRADATION])]
#[case::confirmed_without_row("confirmed-without-row", "G4", &[], &[&DEGRADATION])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
