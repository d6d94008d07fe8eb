//! `replay`: judges a run again from its folder, without any player.

use std::collections::BTreeMap;
use std::sync::Arc;

use judge::Verdict;
use judge::evidence::Evidence;

use crate::battery::Scenario;
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::record::RunFolder;
use crate::scenario::{self, COPY, ScenarioFile, Variant};

/// Judges a run again from its folder, without any player.
///
/// # Errors
/// When the folder is not a run, has no contract, or holds no evidence that this build can read.
pub fn replay(folder: &RunFolder) -> Result<Verdict, HarnessError> {
    let text = folder.contract()?.ok_or_else(|| HarnessError::NoContract { run: folder.id().to_owned() })?;
    let contract = Contract::parse(&text, &format!("{}/contract.toml", folder.id()))?;
    // A scenario that ran twice (see `Session::judged`) is judged by its last evidence.
    let mut last: BTreeMap<String, Evidence> = BTreeMap::new();
    for scenario in folder.scenarios()? {
        let (evidence, _) = scenario.read_tolerant()?;
        let newer =
            last.get(&evidence.header.scenario).is_none_or(|e| e.header.time.wall_ns < evidence.header.time.wall_ns);
        if newer {
            last.insert(evidence.header.scenario.clone(), evidence);
        }
    }
    let mut findings = Vec::new();
    if let Some(text) = folder.read(COPY)? {
        let file = ScenarioFile::parse(&text, &format!("{}/{COPY}", folder.id()))?;
        let of = |v: &Variant| Some((v.name.clone(), Arc::new(last.remove(&file.scenario_of(v))?)));
        let evidences = file.variants.iter().filter_map(of).collect();
        findings = scenario::judge(&file, &contract, &evidences);
    }
    for (name, evidence) in &last {
        let scenario = Scenario::by_name(name)
            .ok_or_else(|| HarnessError::UnknownScenario { name: name.clone(), known: Scenario::names() })?;
        findings.extend(scenario.judge(&contract, evidence));
    }
    if findings.is_empty() {
        return Err(HarnessError::NothingToJudge { run: folder.id().to_owned() });
    }
    let manifest = folder.manifest();
    let mut verdict = Verdict::of(folder.id(), &contract.service.name, manifest.seed, &manifest.placement, findings);
    verdict.not_promised = contract.not_promised();
    Ok(verdict)
}
