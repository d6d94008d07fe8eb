//! Defects of several layers, dependencies and routes.

use harness::battery::{AMPLIFICATION, BREAKER_ISOLATION, BULKHEAD, Scenario};
use rstest::rstest;

use super::{contract_is_failed_by, is_failed_by};
use crate::service::two_layers;

/// Proves that each defect is failed by its owner and by no unrelated check.
#[rstest]
#[case::shared_breaker("shared-breaker", "B11", &[], &[&BREAKER_ISOLATION])]
#[case::shared_pool("shared-pool", "T2", &[], &[&BULKHEAD])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    is_failed_by(defect, owner, companions, scenarios).await;
}

/// Proves the same of a defect that takes two layers to be seen.
#[rstest]
#[case::layers_multiply("layers-multiply", "R11", &[], &[&AMPLIFICATION])]
#[tokio::test(flavor = "multi_thread")]
async fn its_owner_fails_on_two_layers(
    #[case] defect: &str,
    #[case] owner: &str,
    #[case] companions: &[&str],
    #[case] scenarios: &[&Scenario],
) {
    contract_is_failed_by(two_layers().env("PAYMENTS_DEFECT", defect), defect, owner, companions, scenarios).await;
}
