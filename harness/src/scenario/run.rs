//! `run`: a scenario file goes in, a verdict comes out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use judge::evidence::Evidence;
use judge::{Finding, Ruling};

use super::load::with_env;
use super::{COPY, Isolate, ScenarioFile, Variant, judged, play};
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::open_files;
use crate::placement::Placement;
use crate::recordings::{Recordings, ruled};
use crate::rig::{Isolation, Rig, RigError};
use crate::session::Session;
use crate::verify::{Progress, Verified};

/// A load of that many payments measures nothing when others share the machine: it waits until it is alone.
const CROWD: usize = 500;

/// How a scenario file is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The run's seed; chosen at random when absent, and printed.
    pub seed: Option<u64>,
    /// The scenario's file, for the command that reproduces a failure.
    pub path: Option<PathBuf>,
    /// Where run folders go; default: `HARNESS_RUNS`, or `runs` at the root of the workspace.
    pub runs: Option<PathBuf>,
}

/// Runs every variant of a scenario, one after another, judges the evidences, and writes the run folder. `contract` is the
/// one that the scenario names ([`ScenarioFile::contract`]), or one of the caller's in its place.
///
/// # Errors
/// When scenario and contract do not fit together, or a rig fails. A broken promise is a verdict, not an error, and so is
/// a control that is not found out.
pub async fn run(
    file: &ScenarioFile,
    contract: Contract,
    options: &RunOptions,
    progress: Arc<dyn Progress>,
) -> Result<Verified, HarnessError> {
    let placement = Placement::asked()?;
    if !placement.restarts() {
        let what = "a scenario file cannot be played, since its variants are started with an environment of their own,";
        return Err(HarnessError::NotThere { what, placement: placement.word() });
    }
    let contract = file.applied(contract)?;
    let seed = options.seed.unwrap_or_else(rand::random);
    let path = options.path.as_deref();
    let mut session = Session::start(contract, seed, path, options.runs.as_deref())?;
    session.folder().write_atomic(COPY, file.text.as_bytes())?;
    let shown = path.map_or_else(|| "SCENARIO".to_owned(), |p| p.display().to_string());
    let again = session.command(&format!("run {shown} --seed {seed}"));
    session = session.reproduced_by(again.clone());
    session.build_shown(&*progress).await?;
    progress.planned(file.variants.len());
    let mut evidences: BTreeMap<String, Arc<Evidence>> = BTreeMap::new();
    for variant in &file.variants {
        let name = file.scenario_of(variant);
        progress.started(&name);
        let control = file.variants.iter().find(|v| v.control).and_then(|v| evidences.get(&v.name));
        let (evidence, findings) = settled(file, &session, variant, control).await?;
        evidences.insert(variant.name.clone(), Arc::new(evidence));
        progress.judged(&name, &findings);
    }
    let mut findings = judged::judge(file, session.contract(), &evidences);
    for finding in findings.iter_mut().filter(|f| f.ruling != Ruling::Pass) {
        finding.reproduce = Some(again.clone());
    }
    let verdict = session.verdict(findings);
    session.write(&verdict)?;
    Ok(Verified { verdict, folder: session.folder().clone() })
}

/// Records a variant; again while it is inconclusive on a machine that paused, as the battery does. A failure is never run
/// again.
async fn settled(
    file: &ScenarioFile,
    session: &Session,
    variant: &Variant,
    control: Option<&Arc<Evidence>>,
) -> Result<(Evidence, Vec<Finding>), HarnessError> {
    let contract = session.contract();
    let mut recordings = Recordings::against(contract.noise);
    loop {
        let evidence = record(file, session, variant, recordings.again()).await?;
        let mut findings = judged::of_variant(file, contract, variant, &evidence, control);
        if recordings.counts(ruled(&findings), evidence.canary_max_ns(), &mut findings) {
            return Ok((evidence, findings));
        }
    }
}

async fn record(file: &ScenarioFile, session: &Session, variant: &Variant, again: bool) -> Result<Evidence, RigError> {
    let steady = file.steady.as_ref().map_or(0, |s| s.payments);
    open_files::provide(file.load.payments.max(steady))?;
    let contract = Arc::new(with_env(session.contract().clone(), &variant.env));
    let isolation = match file.service.isolate {
        Isolate::None => Isolation::None,
        Isolate::Retry => Isolation::Retry,
        Isolate::Breaker => Isolation::Breaker,
    };
    let spec = session.rig_of(contract, &file.scenario_of(variant)).isolate(isolation).timed(true);
    let rig = Rig::start(spec.alone(file.load.payments >= CROWD).again(again)).await?;
    play::play(file, &rig).await?;
    rig.finish().await
}
