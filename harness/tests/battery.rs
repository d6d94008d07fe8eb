//! The catalogue and the battery tell the same story.

use std::collections::BTreeMap;

use harness::battery::{SCENARIOS, STEADY};
use harness::contract::Contract;
use harness::judge::checks::CATALOGUE;

fn reference() -> Contract {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/payments/contract.toml");
    Contract::load(path).expect("the reference contract is well formed")
}

/// Proves that `harness explain` names, for each check, exactly the scenarios that judge by it when everything is
/// promised, and that every check of the catalogue is judged somewhere.
#[test]
fn the_catalogue_names_the_scenarios_of_each_check() {
    let contract = reference();
    let mut judged: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for scenario in SCENARIOS {
        for check in scenario.checks(&contract) {
            judged.entry(check.info().id).or_default().push(scenario.name);
        }
    }
    for info in CATALOGUE {
        let mut judged = judged.remove(info.id).unwrap_or_default();
        let mut told: Vec<_> = match info.scenario {
            "scenario files" => Vec::new(),
            "all" => SCENARIOS.iter().map(|s| s.name).collect(),
            "all timed" => SCENARIOS.iter().filter(|s| s.timed).map(|s| s.name).collect(),
            some => some.split(", ").collect(),
        };
        judged.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, judged, "{}", info.id);
    }
    assert!(judged.is_empty(), "not in the catalogue: {judged:?}");
}

/// Proves that a contract without promises is not checked for any, and is told what it did not promise.
#[test]
fn nothing_is_checked_that_is_not_promised() {
    let mut contract = reference();
    contract.promises = Default::default();
    contract.ledger = None;
    contract.telemetry.spans = false;
    let planned: Vec<_> = harness::battery::plan(&contract).iter().map(|s| s.name).collect();
    assert_eq!(planned, ["steady"]);
    let ids: Vec<_> = STEADY.checks(&contract).iter().map(|c| c.info().id).collect();
    assert_eq!(ids, ["H2", "H4"]);
    let missing: Vec<_> = contract.not_promised().into_iter().flat_map(|n| n.checks).collect();
    for promised in ["R1", "R2", "R3", "R6", "I1", "I2", "I3", "B1", "B4", "H3"] {
        assert!(missing.iter().any(|c| c == promised), "{promised} is not listed: {missing:?}");
    }
}
