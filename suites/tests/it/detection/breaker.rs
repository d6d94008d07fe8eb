//! Defects of the circuit breaker.

use harness::battery::{BREAKER_RECOVERY, BREAKER_RELAPSE, BREAKER_TRIP, Scenario};
use rstest::rstest;

use super::is_failed_by;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::threshold_off_by_one("threshold-off-by-one", "B1", &[], &[&BREAKER_TRIP, &BREAKER_RECOVERY])]
#[case::breaker_per_request("breaker-per-request", "B1", &[], &[&BREAKER_TRIP, &BREAKER_RECOVERY])]
#[case::open_calls_through("open-calls-through", "B2", &["B3"], &[&BREAKER_TRIP])]
#[case::breaker_open_too_short("breaker-open-too-short", "B3", &[], &[&BREAKER_RECOVERY])]
#[case::never_half_opens("never-half-opens", "B3", &["B4", "B7", "G3"], &[&BREAKER_RECOVERY])]
#[case::many_probes("many-probes", "B4", &[], &[&BREAKER_RECOVERY, &BREAKER_TRIP])]
#[case::probe_failure_closes("probe-failure-closes", "B5", &[], &[&BREAKER_RELAPSE])]
#[case::counter_not_reset("counter-not-reset", "B6", &[], &[&BREAKER_RECOVERY])]
#[case::probe_stuck("probe-stuck", "B7", &[], &[&BREAKER_RELAPSE])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}
