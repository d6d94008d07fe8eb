//! What each command does.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use harness::contract::Contract;
use harness::judge::checks::CATALOGUE;
use harness::judge::{Verdict, checks, render};
use harness::record::{RunFolder, runs_root};
use harness::{HarnessError, VerifyOptions};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Args, Colour, Command, Output, Replay, Verify};
use crate::exit::Exit;
use crate::progress::Shown;

/// Runs the command.
pub fn run(args: Args) -> Exit {
    match args.command {
        Command::Verify(verify) => in_runtime(self::verify(verify)),
        Command::Replay(replay) => self::replay(&replay),
        Command::Explain { check } => explain(check.as_deref()),
        Command::Sweep { runs } => sweep(runs),
    }
}

fn in_runtime(work: impl Future<Output = Exit>) -> Exit {
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => {
            eprintln!("error: cannot start the asynchronous runtime: {error}");
            Exit::Rig
        }
    }
}

async fn verify(args: Verify) -> Exit {
    let contract = match Contract::load(&args.contract) {
        Ok(contract) => contract,
        Err(error) => return fail(&error.into()),
    };
    let shown = Arc::new(Shown::on_stderr());
    let options =
        VerifyOptions { only: args.only, seed: args.seed, path: Some(args.contract.clone()), runs: args.runs };
    let work = harness::verify(contract, &options, shown.clone());
    let verified = tokio::select! {
        verified = work => verified,
        // Dropping the work ends every player and the service; the evidence so far stays in the run folder.
        exit = interrupted() => {
            shown.clear();
            eprintln!("interrupted: every process is ended; `harness replay latest` judges what was recorded");
            return exit;
        }
    };
    shown.clear();
    match verified {
        Ok(verified) => {
            let exit = show(&verified.verdict, &args.output);
            eprintln!("run folder: {}", verified.folder.dir().display());
            exit
        }
        Err(error) => fail(&error),
    }
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
            eprintln!("error: {error}");
            return Exit::Usage;
        }
    };
    match harness::replay(&folder) {
        Ok(verdict) => show(&verdict, &args.output),
        Err(HarnessError::Record(error)) => {
            eprintln!("error: {error}");
            Exit::Usage
        }
        Err(error) => fail(&error),
    }
}

fn show(verdict: &Verdict, output: &Output) -> Exit {
    if let Some(path) = &output.junit
        && let Err(error) = std::fs::write(path, render::junit(verdict))
    {
        eprintln!("error: cannot write {}: {error}", path.display());
        return Exit::Rig;
    }
    if output.json {
        print(&render::json(verdict));
    } else {
        print(&render::terminal(verdict, &style(output.color)));
    }
    verdict.ruling.into()
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

fn explain(check: Option<&str>) -> Exit {
    let Some(asked) = check else {
        for info in CATALOGUE {
            print(&format!("{:<4} {:<26} {}\n", info.id, info.name, info.promise));
        }
        return Exit::Passed;
    };
    match checks::info(asked) {
        Some(info) => {
            print(&render::explain(info));
            Exit::Passed
        }
        None => {
            let known: Vec<_> = CATALOGUE.iter().map(|i| i.id).collect();
            eprintln!("error: there is no check `{asked}`; known: {}", known.join(", "));
            Exit::Usage
        }
    }
}

fn sweep(runs: Option<PathBuf>) -> Exit {
    let root = root(runs.as_deref());
    let report = match harness::sweep::sweep(&root) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("error: {error}");
            return Exit::Rig;
        }
    };
    for left in &report.ended {
        print(&format!("ended {} (pid {}) of run {}\n", left.name, left.pid, left.run));
    }
    for (left, why) in &report.failed {
        eprintln!("error: could not end {} (pid {}) of run {}: {why}", left.name, left.pid, left.run);
    }
    for (run, why) in &report.skipped {
        eprintln!("skipped run {run}: {why}");
    }
    print(&format!("{} runs looked at in {}, {} processes ended\n", report.runs, root.display(), report.ended.len()));
    if report.failed.is_empty() { Exit::Passed } else { Exit::Rig }
}

fn root(runs: Option<&Path>) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    runs.map_or_else(|| runs_root(&here), Path::to_owned)
}

fn fail(error: &HarnessError) -> Exit {
    eprintln!("error: {error}");
    Exit::from(error)
}

/// A reader that goes away early (`| head`) is no failure of ours.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
