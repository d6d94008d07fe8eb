//! `cargo ci`: every step of the project's checks, so that a workflow file and a person run the same thing.
//!
//! Only the standard library: this package is built before anything else and must never be the reason
//! that a dependency is compiled.

mod clients;
mod folder;
mod fuzz;
mod images;
mod json;
mod matrix;
mod nightly;
mod options;
mod pr;
mod stack;
mod step;
mod tidy;
mod workspace;

use std::fmt;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo ci COMMAND

  pr                    what a pull request must pass: format, clippy, tidy, documentation, tests, clients, the proxy's
                        image where a Docker engine is, the reference service's battery, suites
  tidy                  the rules of this repository that no compiler knows
  nightly [--rounds N]  pr, heavy abuse and fuzzing, then the suites N times with fresh seeds (default 10)
  fuzz [--for 60s] [--target NAME]
                        each fuzz target of chaos-proxy and judge, or one, for a while (default 60s)
  matrix [--out FILE]   every defect through the whole battery: which check said what, as one table; also written to FILE.
                        --kept: from the rows that are there
  clients               registry clients of Toxiproxy against chaos-proxy: two of Rust, one of Python
  images [--tag TAG] [--player NAME] [--check] [--postgres-from-debian]
                        static binaries of the players, or one, and their images (default tag: local); --check runs
                        the proxy's in a network of containers; --postgres-from-debian also builds harness/postgres,
                        where the official image cannot be pulled
  stack [--postgres-from-debian]
                        the images, and with them the stack of compose.yaml: up, verified with HARNESS_RIG=attach, down
  help                  print this

Exit codes: 0 all good, 1 a step failed or tidy found something, 2 wrong use, 5 a tool is missing or broken.
";

/// Why a command ends without success.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// A step said no; what it printed says why.
    Red(String),
    /// A tool could not be run or gave something unreadable.
    Tool(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(f, "{what}\n\n{USAGE}"),
            Self::Red(what) | Self::Tool(what) => f.write_str(what),
        }
    }
}

impl Failure {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Red(_) => 1,
            Self::Usage(_) => 2,
            Self::Tool(_) => 5,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("ci: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let (command, rest) = arguments.split_first().ok_or_else(|| Failure::Usage("which command?".to_owned()))?;
    match command.as_str() {
        "pr" => options::none(rest).and_then(|()| pr::run()),
        "tidy" => options::none(rest).and_then(|()| tidy::run()),
        "nightly" => options::number(rest, "--rounds", 10).and_then(nightly::run),
        "fuzz" => fuzz::run(rest),
        "matrix" => matrix::run(rest),
        "clients" => options::none(rest).and_then(|()| clients::run()),
        "images" => images::run(rest),
        "stack" => stack::run(rest),
        "help" | "-h" | "--help" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(Failure::Usage(format!("unknown command {other}"))),
    }
}
