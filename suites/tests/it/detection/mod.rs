//! Proof of detection: each named defect is failed by the check that owns it, and by no unrelated one. One file a family.

mod breaker;
mod degradation;
mod idempotency;
mod retry;
mod row;
mod storm;
mod topology;

use std::collections::BTreeSet;

use harness::battery::{Scenario, plan};
use harness::contract::Contract;
use harness::judge::{Finding, Ruling};
use harness::suite::session;

use crate::service::{payments, payments_with};

/// Runs the defect through the scenarios. The owning check must fail, over evidence that the sound build passes (see the
/// other suites), and every other failing check must be one whose promise the defect breaks as well.
async fn is_failed_by(defect: &str, owner: &str, companions: &[&str], scenarios: &[&Scenario]) {
    contract_is_failed_by(payments_with(defect), defect, owner, companions, scenarios).await;
}

/// The same for a contract of the case's own.
async fn contract_is_failed_by(
    contract: Contract,
    defect: &str,
    owner: &str,
    companions: &[&str],
    scenarios: &[&Scenario],
) {
    let everything = plan(&contract);
    let scenarios = if row::folder().is_some() { &everything[..] } else { scenarios };
    let session = session(contract).expect("a session");
    let mut findings = Vec::new();
    for scenario in scenarios {
        // A companion that failed is not what the case is about: a pause may still have kept the owner from its ruling.
        let ruled = |found: &[Finding]| !found.iter().any(|f| f.check == owner && f.ruling == Ruling::Inconclusive);
        findings.extend(session.judged_until(scenario, ruled).await.expect("the rigs run"));
    }
    row::leave(defect, owner, companions, &findings);
    let failed: BTreeSet<_> = findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| f.check.as_str()).collect();
    let owned = findings.iter().find(|f| f.check == owner && f.ruling == Ruling::Fail);
    let unrelated: Vec<_> = failed.iter().filter(|c| **c != owner && !companions.contains(c)).collect();
    let rulings: Vec<_> = findings
        .iter()
        .filter(|f| f.ruling != Ruling::Pass)
        .map(|f| format!("{} {} in {}: {}", f.ruling.word(), f.check, f.scenario, f.headline))
        .collect();
    let seen = format!("{}\nrun folder: {}", rulings.join("\n"), session.folder().dir().display());
    assert!(owned.is_some(), "{owner} owns `{defect}` and did not fail:\n{seen}");
    assert!(unrelated.is_empty(), "unrelated checks failed on `{defect}`: {unrelated:?}\n{seen}");
    assert!(owned.is_some_and(|f| !f.lines.is_empty()), "{owner} failed without a line of evidence");
}

/// Proves that every check passes the sound service; it is the matrix's first row.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_fails_the_sound_service() {
    if row::folder().is_none() {
        // The other suites run the battery on the sound service.
        return;
    }
    let session = session(payments()).expect("a session");
    let findings = session.findings(&plan(&payments())).await.expect("the rigs run");
    row::leave("sound", "-", &[], &findings);
    let failed: Vec<_> = findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| &f.headline).collect();
    assert!(failed.is_empty(), "{failed:?}\nrun folder: {}", session.folder().dir().display());
}

/// Proves that the suite names every defect that the service offers: a new one must find its owner.
#[test]
fn every_defect_has_its_case() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_payments"))
        .arg("--list-defects")
        .output()
        .expect("the service lists its defects");
    let listed = String::from_utf8(output.stdout).expect("the list is text");
    let cases = [
        include_str!("retry.rs"),
        include_str!("idempotency.rs"),
        include_str!("breaker.rs"),
        include_str!("storm.rs"),
        include_str!("degradation.rs"),
        include_str!("topology.rs"),
    ]
    .concat();
    for line in listed.lines() {
        let mut cells = line.split('\t');
        let (name, owner) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let case = format!("\"{name}\", \"{owner}\",");
        assert!(cases.contains(&case), "`{name}` ({owner}) has no case here");
    }
    assert!(listed.lines().count() >= 25, "{listed}");
}
