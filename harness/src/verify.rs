//! `verify`: a contract goes in, a verdict comes out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use judge::{Finding, Verdict};
use tokio::task::JoinSet;

use crate::battery::{Scenario, plan_in};
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::placement::Placement;
use crate::record::RunFolder;
use crate::session::Session;

/// How a contract is verified.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Scenario names or check ids; empty means all.
    pub only: Vec<String>,
    /// The run's seed; chosen at random when absent, and printed.
    pub seed: Option<u64>,
    /// The contract's file, for the manifest and the command that reproduces a failure.
    pub path: Option<PathBuf>,
    /// Where run folders go; default: `HARNESS_RUNS`, or `runs` at the root of the workspace.
    pub runs: Option<PathBuf>,
    /// Where the players are; default: what `HARNESS_RIG` asks for.
    pub placement: Option<Placement>,
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The verdict.
    pub verdict: Verdict,
    /// The run folder.
    pub folder: RunFolder,
}

/// What a caller may show while scenarios run.
pub trait Progress: Send + Sync {
    /// The service is being built, by this command.
    fn building(&self, command: &[String]);
    /// Scenarios of that number will run.
    fn planned(&self, scenarios: usize);
    /// A scenario runs.
    fn started(&self, scenario: &str);
    /// A scenario was judged.
    fn judged(&self, scenario: &str, findings: &[Finding]);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn building(&self, _: &[String]) {}
    fn planned(&self, _: usize) {}
    fn started(&self, _: &str) {}
    fn judged(&self, _: &str, _: &[Finding]) {}
}

/// Runs every scenario that the contract's promises ask for, judges the evidence, and writes the run folder.
///
/// # Errors
/// When nothing is left to run, or a rig fails. A broken promise is a verdict, not an error.
pub async fn verify(
    contract: Contract,
    options: &VerifyOptions,
    progress: Arc<dyn Progress>,
) -> Result<Verified, HarnessError> {
    let placement = options.placement.map_or_else(Placement::asked, Ok)?;
    let scenarios = chosen(&contract, placement, &options.only)?;
    let seed = options.seed.unwrap_or_else(rand::random);
    let (path, runs) = (options.path.as_deref(), options.runs.as_deref());
    let session = Session::start_in(placement, contract, seed, path, runs)?;
    session.build_shown(&*progress).await?;
    progress.planned(scenarios.len());
    let mut tasks = JoinSet::new();
    for scenario in scenarios {
        let (session, progress) = (session.clone(), progress.clone());
        tasks.spawn(async move {
            progress.started(scenario.name);
            let findings = session.judged(scenario).await?;
            progress.judged(scenario.name, &findings);
            Ok::<_, HarnessError>((scenario, findings))
        });
    }
    let mut findings = BTreeMap::new();
    let mut broken = None;
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok(Ok((scenario, found))) => drop(findings.insert(scenario.name, found)),
            // The others run on: what they find is written down before the first error is reported.
            Ok(Err(error)) => drop(broken.get_or_insert(error)),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    let only = &options.only;
    let findings = findings.into_values().flatten().filter(|f| is_chosen(only, &f.scenario, &f.check));
    let verdict = session.verdict(findings.collect());
    session.write(&verdict)?;
    if let Some(error) = broken {
        return Err(error);
    }
    Ok(Verified { verdict, folder: session.folder().clone() })
}

fn is_chosen(only: &[String], scenario: &str, check: &str) -> bool {
    only.is_empty() || only.iter().any(|o| o == scenario || o.eq_ignore_ascii_case(check))
}

fn chosen(contract: &Contract, placement: Placement, only: &[String]) -> Result<Vec<&'static Scenario>, HarnessError> {
    let planned = plan_in(placement, contract);
    for word in only {
        let known = Scenario::by_name(word).is_some()
            || judge::checks::CATALOGUE.iter().any(|i| i.id.eq_ignore_ascii_case(word));
        if !known {
            return Err(HarnessError::UnknownScenario {
                name: word.clone(),
                known: Scenario::names() + ", or a check id such as B4",
            });
        }
    }
    let wanted = |s: &&Scenario| {
        let checks = s.checks(contract);
        only.is_empty() || checks.iter().any(|c| is_chosen(only, s.name, c.info().id))
    };
    let chosen: Vec<_> = planned.into_iter().filter(wanted).collect();
    if chosen.is_empty() { Err(HarnessError::NothingChosen) } else { Ok(chosen) }
}
