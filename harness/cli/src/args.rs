//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// Verify that retries, idempotency keys and circuit breakers work, over a network that fails.
#[derive(Debug, Parser)]
#[command(name = "harness", version, about, long_about = None, after_help = EXIT_CODES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all pass, 1 a check failed, 2 usage or contract error, 3 inconclusive, 4 nothing ran,
5 the rig could not start or stop, 70 internal error, 130 interrupted, 143 terminated.";

const RUN_CODES: &str = "\
A control is a variant that is known to be wrong: it must fail the checks that the file names, and then the run passes.
Exit codes: 0 all as expected, 1 a check failed or a control was not found out, 2 usage, scenario or contract error,
3 inconclusive, 5 the rig could not start or stop, 70 internal error, 130 interrupted, 143 terminated.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the service of a contract, disturb its network, and judge every promise
    #[command(after_help = EXIT_CODES)]
    Verify(Verify),
    /// Play a scenario file: one load under a timeline of faults, for each variant of a service
    #[command(after_help = RUN_CODES)]
    Run(Run),
    /// Judge the evidence of an earlier run again; nothing is started
    #[command(after_help = EXIT_CODES)]
    Replay(Replay),
    /// Explain a check: what it promises, how it judges, when it errs, which bugs it finds
    Explain {
        /// A check's id or name, e.g. B4 or HalfOpenSingleProbe, or a scenario, e.g. retry-law; without it, all checks
        check: Option<String>,
    },
    /// End processes that a killed run left behind (found by the run folders' registers, never by name)
    Sweep {
        /// Folder of all runs [default: HARNESS_RUNS, or `runs` at the root of the workspace]
        #[arg(long, value_name = "DIR")]
        runs: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub struct Verify {
    /// The contract file (TOML)
    pub contract: PathBuf,
    /// Only this scenario or check; may be repeated
    #[arg(long, value_name = "SCENARIO|CHECK")]
    pub only: Vec<String>,
    /// Seed of the run; the same seed asks the same questions [default: HARNESS_SEED, or random, printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder of all runs [default: HARNESS_RUNS, or `runs` at the root of the workspace]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, clap::Args)]
pub struct Run {
    /// The scenario file (TOML)
    pub scenario: PathBuf,
    /// Seed of the run; the same seed asks the same questions [default: HARNESS_SEED, or random, printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder of all runs [default: HARNESS_RUNS, or `runs` at the root of the workspace]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, clap::Args)]
pub struct Replay {
    /// A run folder, a scenario's folder, a run's id, or `latest`
    #[arg(default_value = "latest")]
    pub run: PathBuf,
    /// Folder of all runs [default: HARNESS_RUNS, or `runs` at the root of the workspace]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, clap::Args)]
pub struct Output {
    /// Print the verdict as JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Colours in the text
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    pub color: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
