//! From the evidences of the variants to findings: the same when the run is fresh and when it is read from a folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use judge::Finding;
use judge::checks::storm;
use judge::evidence::Evidence;
use judge::expect::{expected_numbers, known_bad};

use super::{ScenarioFile, Variant, checks};
use crate::contract::Contract;

impl ScenarioFile {
    /// Name of a variant's scenario in evidence, reports and progress.
    #[must_use]
    pub fn scenario_of(&self, variant: &Variant) -> String {
        format!("{}/{}", self.name, variant.name)
    }
}

/// The findings over what there is, in the order of the variants. `evidences` are by variant name; `contract` is the
/// scenario's, applied.
pub(crate) fn judge(
    file: &ScenarioFile,
    contract: &Contract,
    evidences: &BTreeMap<String, Arc<Evidence>>,
) -> Vec<Finding> {
    let control = file.variants.iter().find(|v| v.control).and_then(|v| evidences.get(&v.name));
    let mut findings = Vec::new();
    for variant in &file.variants {
        if let Some(evidence) = evidences.get(&variant.name) {
            // A control that never ran leaves S1 without a verdict, not unsaid.
            let none = || Arc::new(Evidence::new(evidence.header.clone()));
            let control = control.cloned().unwrap_or_else(none);
            findings.extend(of_variant(file, contract, variant, evidence, Some(&control)));
        }
    }
    findings
}

/// The findings over one variant's evidence, S1 and its numbers only with the control's beside it; those that a control is expected to be failed by become one of their own.
pub(super) fn of_variant(
    file: &ScenarioFile,
    contract: &Contract,
    variant: &Variant,
    evidence: &Evidence,
    control: Option<&Arc<Evidence>>,
) -> Vec<Finding> {
    let mut findings: Vec<_> = checks::of(file, contract).iter().map(|check| check.judge(evidence)).collect();
    let compares = file.checks.iter().any(|c| c == "S1") && !variant.control;
    if let (true, Some(control), Some(policy)) = (compares, control, contract.promises.retry.as_ref()) {
        let link = contract.main_link();
        let check = storm::storm_replay(policy, link, contract.noise, file.storm.window, control.clone());
        findings.push(check.judge(evidence));
    }
    let mut more = Vec::new();
    if variant.control {
        let expected: Vec<_> = variant.expect.iter().map(|(id, ruling)| (id.clone(), *ruling)).collect();
        more.push(known_bad(&evidence.header, &expected, &findings));
    }
    let mut numbers = variant.numbers.clone();
    if control.is_none() {
        numbers.retain(|bound| bound.check != "S1");
    }
    if !numbers.is_empty() {
        more.push(expected_numbers(&evidence.header, &numbers, &findings));
    }
    findings.retain(|f| !variant.expect.contains_key(&f.check));
    findings.extend(more);
    findings
}
