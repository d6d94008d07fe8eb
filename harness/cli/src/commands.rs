//! What each command does.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness::battery::Scenario;
use harness::contract::Contract;
use harness::judge::checks::CATALOGUE;
use harness::judge::checks::catalogue::S1;
use harness::judge::{Ruling, Verdict, checks, render};
use harness::record::{RunFolder, runs_root};
use harness::scenario::{self, RunOptions, ScenarioFile};
use harness::{HarnessError, Verified, VerifyOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Args, Colour, Command, Output, Replay, Run, Verify};
use crate::exit::Exit;
use crate::progress::Shown;
use crate::say;

/// Runs the command.
pub fn run(args: Args) -> Exit {
    match args.command {
        Command::Verify(verify) => in_runtime(self::verify(verify)),
        Command::Run(run) => in_runtime(self::play(run)),
        Command::Replay(replay) => self::replay(&replay),
        Command::Explain { check } => explain(check.as_deref()),
        Command::Sweep { runs } => sweep(runs),
    }
}

fn in_runtime(work: impl Future<Output = Exit>) -> Exit {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => {
            say::line(&format!("error: cannot start the asynchronous runtime: {error}"));
            Exit::Rig
        }
    }
}

async fn verify(args: Verify) -> Exit {
    let contract = match Contract::load(&args.contract) {
        Ok(contract) => contract,
        Err(error) => return fail(&error.into()),
    };
    let seed = match before(args.seed, &args.output) {
        Ok(seed) => seed,
        Err(exit) => return exit,
    };
    let shown = Arc::new(Shown::on_stderr());
    let path = Some(args.contract.clone());
    let options = VerifyOptions { only: args.only, seed, path, runs: args.runs, placement: None };
    conclude(harness::verify(contract, &options, shown.clone()), &shown, &args.output).await
}

async fn play(args: Run) -> Exit {
    let loaded = ScenarioFile::load(&args.scenario).and_then(|file| Ok((file.contract()?, file)));
    let (contract, file) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return fail(&error.into()),
    };
    let seed = match before(args.seed, &args.output) {
        Ok(seed) => seed,
        Err(exit) => return exit,
    };
    let shown = Arc::new(Shown::on_stderr());
    let options = RunOptions { seed, path: Some(args.scenario), runs: args.runs };
    conclude(scenario::run(&file, contract, &options, shown.clone()), &shown, &args.output).await
}

/// The seed, and whether the reports can be written: looked at before a run of minutes, not after it.
fn before(seed: Option<u64>, output: &Output) -> Result<Option<u64>, Exit> {
    let seed = seed.map_or_else(seed_of_environment, |seed| Ok(Some(seed))).map_err(|error| fail(&error))?;
    output.junit.as_deref().map_or(Ok(()), writable)?;
    Ok(seed)
}

/// Waits for a run, or for whoever interrupts it, and shows what came of it.
async fn conclude(work: impl Future<Output = Result<Verified, HarnessError>>, shown: &Shown, output: &Output) -> Exit {
    let verified = tokio::select! {
        verified = work => verified,
        // Dropping the work ends every player and the service; the evidence so far stays in the run folder.
        exit = interrupted() => {
            shown.clear();
            say::line("interrupted: every process is ended; `harness replay latest` judges what was recorded");
            return exit;
        }
    };
    shown.clear();
    match verified {
        Ok(verified) => {
            let exit = show(&verified.verdict, output);
            say::line(&format!("run folder: {}", verified.folder.dir().display()));
            exit
        }
        Err(error) => fail(&error),
    }
}

/// An empty variable counts as unset: CI systems set it so for an input that nobody gave.
fn seed_of_environment() -> Result<Option<u64>, HarnessError> {
    let Some(text) = std::env::var_os("HARNESS_SEED").filter(|v| !v.is_empty()) else { return Ok(None) };
    let text = text.to_string_lossy().into_owned();
    text.parse().map(Some).map_err(|_| HarnessError::BadSeed { text })
}

async fn interrupted() -> Exit {
    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        // Without handlers the default action ends us, and the watchdogs end the children.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => Exit::Interrupted,
        _ = term.recv() => Exit::Terminated,
    }
}

fn replay(args: &Replay) -> Exit {
    let folder = match RunFolder::open(&args.run, &root(args.runs.as_deref())) {
        Ok(folder) => folder,
        Err(error) => {
            say::line(&format!("error: {error}"));
            return Exit::Usage;
        }
    };
    match harness::replay(&folder) {
        Ok(verdict) => show(&verdict, &args.output),
        Err(HarnessError::Record(error)) => {
            say::line(&format!("error: {error}"));
            Exit::Usage
        }
        Err(error) => fail(&error),
    }
}

fn show(verdict: &Verdict, output: &Output) -> Exit {
    if let Some(path) = &output.junit
        && let Err(error) = std::fs::write(path, render::junit(verdict))
    {
        say::line(&format!("error: cannot write {}: {error}", path.display()));
        return Exit::Rig;
    }
    if output.json {
        return say::result(&render::json(verdict), verdict.ruling.into());
    }
    let text = compared(verdict) + &render::terminal(verdict, &style(output.color));
    say::result(&text, verdict.ruling.into())
}

/// What a scenario has compared, both sides beside each other: of a pass too, for it is what the scenario was run for.
fn compared(verdict: &Verdict) -> String {
    let passed = verdict.findings.iter().filter(|f| f.check == S1.id && f.ruling == Ruling::Pass);
    passed.map(|f| format!("{}\n  {}\n\n", f.scenario, f.exhibit.join("\n  "))).collect()
}

fn style(colour: Colour) -> render::Style {
    let terminal = std::io::stdout().is_terminal();
    let color = match colour {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    render::Style { color, width: columns.unwrap_or(if terminal { 100 } else { 120 }) }
}

fn explain(asked: Option<&str>) -> Exit {
    let line = |info: &checks::CheckInfo| format!("{:<4} {:<26} {}\n", info.id, info.name, info.promise);
    let Some(asked) = asked else {
        return say::result(&CATALOGUE.iter().map(line).collect::<String>(), Exit::Passed);
    };
    if let Some(info) = checks::info(asked) {
        return say::result(&render::explain(info), Exit::Passed);
    }
    if let Some(scenario) = Scenario::by_name(asked) {
        let reads = |info: &&checks::CheckInfo| {
            info.scenario.split(", ").any(|s| s == scenario.name || s == "all" || (s == "all timed" && scenario.timed))
        };
        let list: String = CATALOGUE.iter().filter(reads).map(line).collect();
        return say::result(&format!("Checks that read the scenario {}:\n{list}", scenario.name), Exit::Passed);
    }
    let checks: Vec<_> = CATALOGUE.iter().map(|i| i.id).collect();
    say::line(&format!(
        "error: there is no check or scenario `{asked}`; checks: {}; scenarios: {}",
        checks.join(", "),
        Scenario::names()
    ));
    Exit::Usage
}

/// Whether a file can be made there; looked at before a run of minutes, not after it.
fn writable(file: &Path) -> Result<(), Exit> {
    let new = !file.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
    if new && opened.is_ok() {
        // Only the permission was asked for: a run that is interrupted leaves no empty report.
        let _ = std::fs::remove_file(file);
    }
    opened.map(drop).map_err(|error| {
        say::line(&format!(
            "error: --junit {}: {error}; give a file in a folder that you may write to",
            file.display()
        ));
        Exit::Usage
    })
}

fn sweep(runs: Option<PathBuf>) -> Exit {
    let root = root(runs.as_deref());
    let report = match harness::sweep::sweep(&root) {
        Ok(report) => report,
        Err(error) => {
            say::line(&format!("error: {error}"));
            return Exit::Rig;
        }
    };
    let mut text: String =
        report.ended.iter().map(|l| format!("ended {} (pid {}) of run {}\n", l.name, l.pid, l.run)).collect();
    for (left, why) in &report.failed {
        say::line(&format!("error: could not end {} (pid {}) of run {}: {why}", left.name, left.pid, left.run));
    }
    for (run, why) in &report.skipped {
        say::line(&format!("skipped run {run}: {why}"));
    }
    text.push_str(&format!(
        "{} runs looked at in {}, {} processes ended
",
        report.runs,
        root.display(),
        report.ended.len()
    ));
    say::result(&text, if report.failed.is_empty() { Exit::Passed } else { Exit::Rig })
}

fn root(runs: Option<&Path>) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    runs.map_or_else(|| runs_root(&here), Path::to_owned)
}

fn fail(error: &HarnessError) -> Exit {
    say::line(&format!("error: {error}"));
    Exit::from(error)
}
