//! `verify`: a contract goes in, a verdict comes out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use judge::evidence::Evidence;
use judge::{Finding, Ruling, Verdict, render};
use tokio::task::JoinSet;

use crate::battery::{Scenario, plan};
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::lanes::Lanes;
use crate::place::{Builder, ProcessSpec, Ready};
use crate::record::{ChildRegister, ContractText, RunFolder, Start, runs_root};
use crate::rig::{Rig, RigError, RigSpec, working_directory};

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
    let scenarios = chosen(&contract, &options.only)?;
    let seed = options.seed.unwrap_or_else(rand::random);
    let session = Session::start(contract, seed, options.path.as_deref(), options.runs.as_deref())?;
    if let Some(command) = &session.contract.service.build {
        progress.building(command);
        session.build().await?;
    }
    progress.planned(scenarios.len());
    let mut tasks = JoinSet::new();
    for scenario in scenarios {
        let (session, progress) = (session.clone(), progress.clone());
        tasks.spawn(async move {
            progress.started(scenario.name());
            let findings = session.judged(scenario).await?;
            progress.judged(scenario.name(), &findings);
            Ok::<_, HarnessError>((scenario, findings))
        });
    }
    let mut findings = BTreeMap::new();
    let mut broken = None;
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok(Ok((scenario, found))) => drop(findings.insert(scenario.name(), found)),
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
    Ok(Verified { verdict, folder: session.folder })
}

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
    for (name, evidence) in &last {
        let scenario = Scenario::by_name(name).ok_or_else(|| HarnessError::UnknownScenario {
            name: name.clone(),
            known: Scenario::ALL.map(Scenario::name).join(", "),
        })?;
        findings.extend(judge_one(scenario, &contract, evidence));
    }
    if findings.is_empty() {
        return Err(HarnessError::NothingToJudge { run: folder.id().to_owned() });
    }
    let manifest = folder.manifest();
    let mut verdict = Verdict::of(folder.id(), &contract.service.name, manifest.seed, &manifest.placement, findings);
    verdict.not_promised = contract.not_promised();
    Ok(verdict)
}

/// One run: a contract, a folder, what was built, the lanes.
#[derive(Debug, Clone)]
pub struct Session {
    contract: Arc<Contract>,
    seed: u64,
    path: Option<PathBuf>,
    reproduced_by: Option<String>,
    folder: RunFolder,
    register: ChildRegister,
    builder: Builder,
    lanes: Lanes,
}

impl Session {
    /// Makes the run folder.
    ///
    /// # Errors
    /// When the folder cannot be written or the lanes are set wrongly.
    pub fn start(
        contract: Contract,
        seed: u64,
        path: Option<&Path>,
        runs: Option<&Path>,
    ) -> Result<Self, HarnessError> {
        let here = std::env::current_dir().unwrap_or_default();
        let root = runs.map_or_else(|| runs_root(&here), Path::to_owned);
        let text =
            ContractText { path: path.unwrap_or(Path::new("<builder>")).to_owned(), text: contract.text.clone() };
        let start = Start { contract: Some(text), seed, placement: "process".to_owned(), tree: contract.dir.clone() };
        let (folder, register) = RunFolder::create(&root, &start)?;
        let lanes = Lanes::of_this_machine().map_err(HarnessError::Lanes)?;
        Ok(Self {
            contract: Arc::new(contract),
            seed,
            path: path.map(Path::to_owned),
            reproduced_by: None,
            folder,
            register,
            builder: Builder::default(),
            lanes,
        })
    }

    /// The run folder.
    #[must_use]
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Builds the service, once for the run, before any scenario begins.
    ///
    /// # Errors
    /// When the build fails, with its last lines.
    pub async fn build(&self) -> Result<(), RigError> {
        let service = &self.contract.service;
        if service.cwd.as_deref().is_some_and(|cwd| cwd.contains('{')) {
            // A folder of the run that is not there yet: the first scenario builds.
            return Ok(());
        }
        // Nothing is started by this: what it is ready for does not matter.
        let mut spec = ProcessSpec::new(&service.name, service.command.clone(), Ready::line("built"));
        spec.build = service.build.clone();
        spec.cwd = working_directory(&self.contract, service.cwd.clone());
        Ok(self.builder.build(&spec).await?)
    }

    /// What a rig of this run is started with.
    #[must_use]
    pub fn rig(&self, scenario: &str) -> RigSpec {
        RigSpec::new(self.contract.clone(), scenario, self.folder.clone(), self.lanes.clone())
            .seed(self.seed)
            .builder(self.builder.clone())
            .register(self.register.clone())
    }

    /// Runs a scenario of the battery and gives out its sealed evidence.
    ///
    /// # Errors
    /// When the rig fails.
    pub async fn record(&self, scenario: Scenario) -> Result<Evidence, RigError> {
        let spec = self.rig(scenario.name()).isolate(scenario.isolation()).timed(scenario.is_timed());
        let rig = Rig::start(spec).await?;
        scenario.run(&rig).await?;
        rig.finish().await
    }

    /// Runs a scenario and judges it. When its verdicts hang on times, one of them is inconclusive, and the canary says
    /// that the machine paused for more than half of the noise bound, it runs once more, and the second evidence counts
    /// whatever it says. A failure is never run again.
    ///
    /// # Errors
    /// When the rig fails.
    pub async fn judged(&self, scenario: Scenario) -> Result<Vec<Finding>, HarnessError> {
        let evidence = self.record(scenario).await?;
        let mut findings = judge_one(scenario, &self.contract, &evidence);
        let half = self.contract.noise.eps.as_nanos() / 2;
        let disturbed = evidence.canary_max_ns().is_some_and(|pause| u128::from(pause) > half);
        let worst = findings.iter().map(|f| f.ruling).max();
        if scenario.is_timed() && disturbed && worst == Some(Ruling::Inconclusive) {
            findings = judge_one(scenario, &self.contract, &self.record(scenario).await?);
        }
        for finding in findings.iter_mut().filter(|f| f.ruling != Ruling::Pass) {
            finding.reproduce = Some(self.how_to_reproduce(scenario.name()));
        }
        Ok(findings)
    }

    /// Puts findings together.
    #[must_use]
    pub fn verdict(&self, findings: Vec<Finding>) -> Verdict {
        let mut verdict = Verdict::of(self.folder.id(), &self.contract.service.name, self.seed, "process", findings);
        verdict.not_promised = self.contract.not_promised();
        verdict
    }

    /// Writes the verdict beside the evidence.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, verdict: &Verdict) -> Result<(), HarnessError> {
        self.folder.write_atomic("verdict.json", render::json(verdict).as_bytes())?;
        self.folder.write_atomic("junit.xml", render::junit(verdict).as_bytes())?;
        let plain = render::Style { color: false, width: 120 };
        self.folder.write_atomic("report.txt", render::terminal(verdict, &plain).as_bytes())?;
        Ok(())
    }

    /// Sets the command that findings name for showing them again.
    #[must_use]
    pub fn reproduced_by(mut self, command: String) -> Self {
        self.reproduced_by = Some(command);
        self
    }

    /// The command that shows a scenario's findings again, with the variables that were handed through.
    pub(crate) fn how_to_reproduce(&self, scenario: &str) -> String {
        if let Some(command) = &self.reproduced_by {
            return command.clone();
        }
        let passed = self.contract.service.pass_env.iter().filter(|n| n.as_str() != "RUST_BACKTRACE");
        let mut words: Vec<String> = passed.filter_map(|n| std::env::var(n).ok().map(|v| format!("{n}={v}"))).collect();
        let path = self.path.as_deref().map_or_else(|| "CONTRACT".to_owned(), |p| p.display().to_string());
        // Under `cargo run` the program is not on the PATH.
        let program = if std::env::var_os("CARGO").is_some() { "cargo run -p harness-cli --" } else { "harness" };
        words.push(format!("{program} verify {path} --seed {} --only {scenario}", self.seed));
        words.join(" ")
    }
}

fn judge_one(scenario: Scenario, contract: &Contract, evidence: &Evidence) -> Vec<Finding> {
    scenario.checks(contract).iter().map(|check| check.judge(evidence)).collect()
}

fn is_chosen(only: &[String], scenario: &str, check: &str) -> bool {
    only.is_empty() || only.iter().any(|o| o == scenario || o.eq_ignore_ascii_case(check))
}

fn chosen(contract: &Contract, only: &[String]) -> Result<Vec<Scenario>, HarnessError> {
    let planned = plan(contract);
    for word in only {
        let known = Scenario::by_name(word).is_some()
            || judge::checks::CATALOGUE.iter().any(|i| i.id.eq_ignore_ascii_case(word));
        if !known {
            return Err(HarnessError::UnknownScenario {
                name: word.clone(),
                known: Scenario::ALL.map(Scenario::name).join(", ") + ", or a check id such as B4",
            });
        }
    }
    let wanted = |s: &Scenario| {
        let checks = s.checks(contract);
        only.is_empty() || checks.iter().any(|c| is_chosen(only, s.name(), c.info().id))
    };
    let chosen: Vec<_> = planned.into_iter().filter(wanted).collect();
    if chosen.is_empty() { Err(HarnessError::NothingChosen) } else { Ok(chosen) }
}
