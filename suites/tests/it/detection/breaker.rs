//! Defects of the circuit breaker.

use harness::battery::{
    BREAKER_CROWD, BREAKER_LATE, BREAKER_OUTCOMES, BREAKER_RECOVERY, BREAKER_RELAPSE, BREAKER_TRIP, BREAKER_WINDOW,
    Scenario,
};
use harness::judge::promise::BreakerPolicy;
use rstest::rstest;

use super::{contract_is_failed_by, is_failed_by};
use crate::service::{payments_breaking, slow_calls, windowed};

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::threshold_off_by_one("threshold-off-by-one", "B1", &["B9"], &[&BREAKER_TRIP, &BREAKER_RECOVERY])]
#[case::breaker_per_request("breaker-per-request", "B1", &["B9"], &[&BREAKER_TRIP, &BREAKER_RECOVERY])]
#[case::open_calls_through("open-calls-through", "B2", &["B3", "B13"], &[&BREAKER_TRIP])]
#[case::breaker_open_too_short("breaker-open-too-short", "B3", &["B2"], &[&BREAKER_RECOVERY])]
#[case::never_half_opens("never-half-opens", "B3", &["B4", "B7", "G3", "S2"], &[&BREAKER_RECOVERY])]
#[case::many_probes("many-probes", "B4", &["B9"], &[&BREAKER_RECOVERY, &BREAKER_TRIP])]
#[case::probe_failure_closes("probe-failure-closes", "B5", &["B9"], &[&BREAKER_RELAPSE])]
#[case::counter_not_reset("counter-not-reset", "B6", &[], &[&BREAKER_RECOVERY])]
#[case::probe_stuck("probe-stuck", "B7", &[], &[&BREAKER_RELAPSE])]
#[case::half_open_forever("half-open-forever", "B6", &["B3", "B4", "B9", "B11", "G3", "S2"], &[&BREAKER_RECOVERY])]
#[case::stale_success_closes("stale-success-closes", "B8", &["B12", "B13"], &[&BREAKER_LATE])]
#[case::stale_failure_reopens("stale-failure-reopens", "B8", &[], &[&BREAKER_LATE])]
#[case::stale_frees_permit("stale-frees-permit", "B8", &[], &[&BREAKER_LATE])]
#[case::client_errors_trip("client-errors-trip", "B9", &[], &[&BREAKER_OUTCOMES])]
#[case::ignored_error_closes("ignored-error-closes-half-open", "B9", &[], &[&BREAKER_OUTCOMES])]
#[case::cancelled_counts_as_success("cancelled-counts-as-success", "B9", &["B5"], &[&BREAKER_OUTCOMES])]
#[case::trip_late_under_concurrency("trip-late-under-concurrency", "B10", &["B9"], &[&BREAKER_CROWD])]
#[case::endpoint_lies_open("endpoint-lies-open", "B12", &[], &[&BREAKER_TRIP])]
#[case::not_permitted_miscounted("not-permitted-miscounted", "B12", &[], &[&BREAKER_TRIP])]
#[case::skips_half_open("skips-half-open", "B13", &["B4", "B5", "B8", "B9"], &[&BREAKER_RECOVERY])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}

/// The same for defects that only show under another promise than the reference contract's.
#[rstest]
#[case::window_never_slides("window-never-slides", "B1", windowed(), &[], &[&BREAKER_WINDOW])]
#[case::slow_calls_not_counted("slow-calls-not-counted", "B9", slow_calls(), &[], &[&BREAKER_OUTCOMES])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails_by_another_promise(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] policy: BreakerPolicy,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    let contract = payments_breaking(policy).env("PAYMENTS_DEFECT", defect);
    contract_is_failed_by(contract, defect, owner, companions, scenarios).await;
}
