//! The timing law of retries, for each law the reference service knows.

use std::time::Duration;

use harness::battery::{
    HUNG, PUSHBACK, RETRY_AFTER, RETRY_BUDGET, RETRY_CAP, RETRY_DEADLINE, RETRY_HERD, RETRY_LAW, RETRY_REPLICAS,
    RETRY_RESTART, RETRY_TABLE, Scenario,
};
use harness::judge::law::LawSpec;
use harness::suite::{Judged, session};
use rstest::rstest;

use crate::service::{payments, payments_backing_off};

const BASE: Duration = Duration::from_millis(200);
const CAP: Duration = Duration::from_secs(5);

/// Proves that the gaps at the proxy follow the declared law: 100 clients with three retries each, judged by the seven
/// tests at their false-alarm bound of 1e-7 each.
#[rstest]
#[case::full(LawSpec::full(BASE).cap(CAP))]
#[case::equal(LawSpec::equal(BASE).cap(CAP))]
#[case::decorrelated(LawSpec::decorrelated(Duration::from_millis(100)).cap(CAP))]
#[case::plus_minus(LawSpec::plus_minus(BASE, 0.25).cap(CAP))]
#[case::exponential(LawSpec::exponential(BASE).cap(CAP))]
#[case::fixed(LawSpec::fixed(BASE))]
#[case::immediate(LawSpec::immediate())]
#[tokio::test(flavor = "multi_thread")]
async fn gaps_follow_the_declared_law(#[case] law: LawSpec) -> Judged {
    session(payments_backing_off(&law))?.judge(&[&RETRY_LAW]).await
}

/// Proves that no wait is above the cap and none falls below what the law draws there, over 75 attempts, 67 of their waits at
/// the cap: with jitter, without, and where each wait hangs on the one before. Each of three tests has a bound of 1e-7.
#[rstest]
#[case::full(LawSpec::full(BASE).cap(CAP))]
#[case::exponential(LawSpec::exponential(BASE).cap(CAP))]
#[case::decorrelated(LawSpec::decorrelated(BASE).cap(CAP))]
#[tokio::test(flavor = "multi_thread")]
async fn the_cap_holds(#[case] law: LawSpec) -> Judged {
    session(payments_backing_off(&law))?.judge(&[&RETRY_CAP]).await
}

/// Proves that a herd that failed together does not come back together: the fullest window stays below its bound.
#[tokio::test(flavor = "multi_thread")]
async fn a_herd_disperses() -> Judged {
    session(payments())?.judge(&[&RETRY_HERD]).await
}

/// Proves that a restart draws the waits anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_restart_draws_anew() -> Judged {
    session(payments())?.judge(&[&RETRY_RESTART]).await
}

/// Proves that each failure of the table is retried exactly when the contract says so.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_retryable_is_retried() -> Judged {
    session(payments())?.judge(&[&RETRY_TABLE]).await
}

/// Proves that retries keep to what limits them: the dependency's `Retry-After` and pushback, the deadline and the client's
/// leaving, the budget of all; and that a client is answered in time by a service whose dependency hangs.
#[rstest]
#[case::retry_after(&RETRY_AFTER)]
#[case::deadline(&RETRY_DEADLINE)]
#[case::budget(&RETRY_BUDGET)]
#[case::pushback(&PUSHBACK)]
#[case::hung(&HUNG)]
#[tokio::test(flavor = "multi_thread")]
async fn retries_keep_to_their_limits(#[case] scenario: &Scenario) -> Judged {
    session(payments())?.judge(&[scenario]).await
}

/// Proves that two replicas draw their waits apart.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_do_not_draw_alike() -> Judged {
    session(payments())?.judge(&[&RETRY_REPLICAS]).await
}
