//! A service in another language, by contract alone: the naive retry is found for the right reason.

use harness::contract::Contract;
use harness::judge::Ruling;
use harness::{Silent, VerifyOptions, verify};

/// Proves that a contract is enough: the Python service retries at once where its contract declares full jitter, and
/// that is what fails; what it does promise and keep (attempts, keys over retries) passes.
#[tokio::test(flavor = "multi_thread")]
async fn a_naive_python_service_is_failed_for_its_law() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/naive-python/contract.toml");
    let contract = Contract::load(path).expect("the contract is well formed");
    let options =
        VerifyOptions { only: vec!["retry-law".into(), "steady".into()], seed: Some(1), ..Default::default() };
    let verified = verify(contract, &options, std::sync::Arc::new(Silent)).await.expect("it runs");
    let failed: Vec<_> = verified.verdict.findings.iter().filter(|f| f.ruling == Ruling::Fail).collect();
    let ids: Vec<_> = failed.iter().map(|f| f.check.as_str()).collect();
    assert_eq!(ids, ["R2"], "{failed:#?}");
    assert!(failed[0].headline.contains("immediate"), "{}", failed[0].headline);
}
