//! A session: one run's contract, folder, seed, builds and lanes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use judge::evidence::Evidence;
use judge::{Finding, NotPromised, Ruling, Verdict, render};

use crate::aside::aside;
use crate::battery::{Scenario, plan, plan_in};
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::lanes::Lanes;
use crate::open_files;
use crate::place::{Builder, ProcessSpec, Ready};
use crate::placement::Placement;
use crate::record::{ChildRegister, ContractText, RunFolder, Start, runs_root};
use crate::recordings::{Recordings, ruled};
use crate::rig::{Rig, RigError, RigSpec, working_directory};
use crate::verify::Progress;

/// No scenario of the battery has more payments under way at once.
const LARGEST_LOAD: usize = 2_000;

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
    placement: Placement,
}

impl Session {
    /// Makes the run folder. The placement is the one that `HARNESS_RIG` asks for.
    ///
    /// # Errors
    /// When the folder cannot be written, or the lanes or the placement are set wrongly.
    pub fn start(
        contract: Contract,
        seed: u64,
        path: Option<&Path>,
        runs: Option<&Path>,
    ) -> Result<Self, HarnessError> {
        Self::start_in(Placement::asked()?, contract, seed, path, runs)
    }

    /// The same in a placement of the caller's choice.
    ///
    /// # Errors
    /// As [`Session::start`], and when the contract does not say what the placement needs.
    pub fn start_in(
        placement: Placement,
        contract: Contract,
        seed: u64,
        path: Option<&Path>,
        runs: Option<&Path>,
    ) -> Result<Self, HarnessError> {
        let contract = contract.validated()?;
        if placement == Placement::Attach && contract.attach.is_none() {
            return Err(RigError::NotAttached.into());
        }
        let here = std::env::current_dir().unwrap_or_default();
        let root = runs.map_or_else(|| runs_root(&here), Path::to_owned);
        let text = ContractText { path: path.unwrap_or(Path::new("<builder>")).to_owned(), text: contract.to_toml() };
        let start =
            Start { contract: Some(text), seed, placement: placement.word().to_owned(), tree: contract.dir.clone() };
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
            placement,
        })
    }

    /// The contract.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The run folder.
    #[must_use]
    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Builds the services, each once for the run, before any scenario begins.
    ///
    /// # Errors
    /// When a build fails, with its last lines.
    pub async fn build(&self) -> Result<(), RigError> {
        if self.placement == Placement::Attach {
            return Ok(());
        }
        for (_, service) in self.contract.all_services() {
            if service.cwd.as_deref().is_some_and(|cwd| cwd.contains('{')) {
                // A folder of the run that is not there yet: the first scenario builds.
                continue;
            }
            // Nothing is started by this: what it is ready for does not matter.
            let mut spec = ProcessSpec::new(&service.name, service.command.clone(), Ready::line("built"));
            spec.build = service.build.clone();
            spec.cwd = working_directory(&self.contract, service.cwd.clone());
            self.builder.build(&spec).await?;
        }
        Ok(())
    }

    /// The same, and says so where anything is built.
    ///
    /// # Errors
    /// As [`Session::build`].
    pub(crate) async fn build_shown(&self, progress: &dyn Progress) -> Result<(), RigError> {
        let built = self.contract.all_services().find_map(|(_, service)| service.build.as_ref());
        match built.filter(|_| self.placement == Placement::Process) {
            Some(command) => progress.building(command),
            None => return Ok(()),
        }
        self.build().await
    }

    /// What a rig of this run is started with.
    #[must_use]
    pub fn rig(&self, scenario: &str) -> RigSpec {
        self.rig_of(self.contract.clone(), scenario)
    }

    /// The same for another form of the contract, e.g. a variant's.
    #[must_use]
    pub fn rig_of(&self, contract: Arc<Contract>, scenario: &str) -> RigSpec {
        RigSpec::new(contract, scenario, self.folder.clone(), self.lanes.clone())
            .seed(self.seed)
            .builder(self.builder.clone())
            .register(self.register.clone())
            .placement(self.placement)
    }

    /// Runs a scenario of the battery and gives out its sealed evidence.
    ///
    /// # Errors
    /// When the rig fails.
    pub async fn record(&self, scenario: &Scenario) -> Result<Evidence, RigError> {
        self.recorded(scenario, false).await
    }

    async fn recorded(&self, scenario: &Scenario, again: bool) -> Result<Evidence, RigError> {
        open_files::provide(LARGEST_LOAD)?;
        let spec = self.rig(scenario.name).isolate(scenario.isolation).timed(scenario.timed).alone(scenario.alone);
        let rig = Rig::start(spec.again(again)).await?;
        scenario.run(&rig).await?;
        rig.finish().await
    }

    /// Runs a scenario and judges it. When one of its verdicts is inconclusive, none failed, and the canary says that the
    /// machine paused for more than half of the noise bound, it runs again: alone, from a quiet moment on, and three
    /// times in all at most. The last evidence counts whatever it says. A failure is never run again.
    ///
    /// # Errors
    /// When the rig fails.
    pub async fn judged(&self, scenario: &Scenario) -> Result<Vec<Finding>, HarnessError> {
        self.judged_until(scenario, ruled).await
    }

    /// The same for a caller to whom something else is a verdict, e.g. that one check has ruled.
    ///
    /// # Errors
    /// When the rig fails.
    pub async fn judged_until(
        &self,
        scenario: &Scenario,
        settled: impl Fn(&[Finding]) -> bool,
    ) -> Result<Vec<Finding>, HarnessError> {
        let mut recordings = Recordings::against(self.contract.noise);
        loop {
            let evidence = self.recorded(scenario, recordings.again()).await?;
            let (contract, judged) = (self.contract.clone(), *scenario);
            let (mut findings, pause) =
                aside(move || (judged.judge(&contract, &evidence), evidence.canary_max_ns())).await;
            if recordings.counts(settled(&findings), pause, &mut findings) {
                for finding in findings.iter_mut().filter(|f| f.ruling != Ruling::Pass) {
                    finding.reproduce = Some(self.how_to_reproduce(scenario.name));
                }
                return Ok(findings);
            }
        }
    }

    /// Puts findings together.
    #[must_use]
    pub fn verdict(&self, findings: Vec<Finding>) -> Verdict {
        let mut verdict =
            Verdict::of(self.folder.id(), &self.contract.service.name, self.seed, self.placement.word(), findings);
        verdict.not_promised = self.contract.not_promised();
        verdict.not_promised.extend(self.unavailable());
        verdict
    }

    /// The scenarios that the contract asks for and this placement has.
    #[must_use]
    pub fn plan(&self) -> Vec<&'static Scenario> {
        plan_in(self.placement, &self.contract)
    }

    /// What is promised and cannot be looked at here: the checks that no scenario is left for, by the reason.
    fn unavailable(&self) -> Vec<NotPromised> {
        let ids = |s: &Scenario| -> Vec<_> { s.checks(&self.contract).iter().map(|c| c.info().id).collect() };
        let seen: BTreeSet<_> = self.plan().into_iter().flat_map(ids).collect();
        let mut missing: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for scenario in plan(&self.contract) {
            if let Some(why) = scenario.unavailable(self.placement, &self.contract) {
                let gone = ids(scenario).into_iter().filter(|id| !seen.contains(id));
                missing.entry(why).or_default().extend(gone);
            }
        }
        let note = |(what, checks): (String, BTreeSet<&str>)| NotPromised {
            checks: checks.into_iter().map(str::to_owned).collect(),
            what,
        };
        missing.into_iter().filter(|(_, checks)| !checks.is_empty()).map(note).collect()
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
        let path = self.path.as_deref().map_or_else(|| "CONTRACT".to_owned(), |p| p.display().to_string());
        self.command(&format!("verify {path} --seed {} --only {scenario}", self.seed))
    }

    /// A command line of this program, with the variables that were handed through.
    pub(crate) fn command(&self, rest: &str) -> String {
        let passed = self.contract.service.pass_env.iter().filter(|n| n.as_str() != "RUST_BACKTRACE");
        let mut words: Vec<String> = passed.filter_map(|n| std::env::var(n).ok().map(|v| format!("{n}={v}"))).collect();
        // Under `cargo run` the program is not on the PATH.
        let program = if std::env::var_os("CARGO").is_some() { "cargo run -p harness-cli --" } else { "harness" };
        words.push(format!("{program} {rest}"));
        words.join(" ")
    }
}
