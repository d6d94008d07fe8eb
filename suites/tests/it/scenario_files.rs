//! The committed scenario files, played against the reference service.

use std::sync::Arc;

use harness::Silent;
use harness::judge::{Ruling, Verdict, render};
use harness::scenario::{RunOptions, ScenarioFile, run};
use rstest::rstest;

use crate::service::payments;

fn committed(name: &str) -> ScenarioFile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/scenarios");
    ScenarioFile::load(format!("{folder}/{name}.toml")).expect("a committed scenario is well formed")
}

async fn verdict(file: &ScenarioFile) -> Verdict {
    let options = RunOptions { seed: Some(1), ..RunOptions::default() };
    // The contract that the file names, with the binary of this test run.
    run(file, payments(), &options, Arc::new(Silent)).await.expect("it runs").verdict
}

fn report(verdict: &Verdict) -> String {
    render::terminal(verdict, &render::Style { color: false, width: 120 })
}

/// Proves that each scenario comes out as its file says: the sound variant keeps its promises, and the control is found
/// out by the checks that are named for it.
#[rstest]
#[case::retry_storm("retry-storm")]
#[case::lost_reply("lost-reply")]
#[case::slow_bank("slow-bank")]
#[case::flapping_bank("flapping-bank")]
#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_comes_out_as_its_file_says(#[case] name: &str) {
    let verdict = verdict(&committed(name)).await;
    assert_eq!(verdict.ruling, Ruling::Pass, "\n{}", report(&verdict));
}

/// Proves that a control which is not wrong fails the run, with a finding that says so: a scenario whose control passes
/// would prove nothing by the pass of the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_control_that_is_not_found_out_fails_the_run() {
    let mut file = committed("lost-reply");
    file.variants[0].env.clear();
    let verdict = verdict(&file).await;
    let failed: Vec<_> = verdict.findings.iter().filter(|f| f.ruling == Ruling::Fail).collect();
    assert_eq!(failed.len(), 1, "\n{}", report(&verdict));
    assert_eq!(failed[0].check, "H5");
    assert!(failed[0].headline.contains("I1 is PASS on the control, expected FAIL"), "{}", failed[0].headline);
}

/// Proves that a defect fails the variant that is meant to be sound: the scenario judges the service, not its own file.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_service_fails_the_scenario() {
    let mut file = committed("lost-reply");
    file.variants.retain(|v| !v.control);
    file.variants[0].env.insert("PAYMENTS_DEFECT".to_owned(), "new-key-per-attempt".to_owned());
    let verdict = verdict(&file).await;
    let failed: Vec<_> =
        verdict.findings.iter().filter(|f| f.ruling == Ruling::Fail).map(|f| f.check.as_str()).collect();
    assert!(failed.contains(&"R13"), "\n{}", report(&verdict));
}

/// Proves that a run is judged again from its folder, with the same findings.
#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_run_can_be_replayed() {
    let mut file = committed("lost-reply");
    file.load.payments = 5;
    file.faults[0].strikes = 5;
    file.text = text_of(&file);
    let options = RunOptions { seed: Some(2), ..RunOptions::default() };
    let ran = run(&file, payments(), &options, Arc::new(Silent)).await.expect("it runs");
    let again = harness::replay(&ran.folder).expect("it can be judged again");
    let rulings = |v: &Verdict| -> Vec<_> {
        v.findings.iter().map(|f| (f.scenario.clone(), f.check.clone(), f.ruling, f.headline.clone())).collect()
    };
    assert_eq!(rulings(&again), rulings(&ran.verdict));
    assert_eq!(again.ruling, Ruling::Pass, "\n{}", report(&again));
}

/// The text of a scenario that a test has changed.
fn text_of(file: &ScenarioFile) -> String {
    let mut short = file.text.replace("payments = 20", "payments = 5");
    short = short.replace("strikes = 20", "strikes = 5");
    assert_ne!(short, file.text);
    short
}
