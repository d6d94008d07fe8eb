//! The proxy as a program: links and rules from the command line or over the API, until a signal comes. Called as
//! `toxiproxy` it takes Toxiproxy's place, called as `toxiproxy-cli` that of its command line tool.

mod args;
mod cli;
mod events;
mod flags;
mod help;
mod logging;
mod memory;
mod reach;
mod run;

use std::path::Path;
use std::process::ExitCode;

use args::{Asked, Role};
use chaos_proxy::TOXIPROXY_VERSION;
use tokio::runtime::{Builder, Runtime};

/// Something outside failed: a port, a file.
const FAILED: u8 = 1;
/// The command line or the rules are wrong.
const USAGE: u8 = 2;

/// Why the program ends early.
struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    fn new(code: u8, text: impl ToString) -> Self {
        Self { code, text: text.to_string() }
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let called = words.next().unwrap_or_default();
    let called = Path::new(&called).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut words: Vec<String> = words.collect();
    let is_cli = words.first().is_some_and(|first| first == "cli");
    if is_cli {
        words.remove(0);
    }
    let (name, outcome) = match (is_cli || called.contains("toxiproxy-cli"), called.contains("toxiproxy")) {
        (true, _) => {
            ("toxiproxy-cli", runtime(Builder::new_current_thread()).and_then(|r| r.block_on(cli::run(words))))
        }
        (false, true) => ("toxiproxy", serve(Role::Toxiproxy, words)),
        (false, false) => ("chaos-proxy", serve(Role::ChaosProxy, words)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{name}: {}", failure.text);
            ExitCode::from(failure.code)
        }
    }
}

fn serve(role: Role, words: Vec<String>) -> Result<(), Failure> {
    match args::parse(role, words).map_err(|text| Failure::new(USAGE, text))? {
        Asked::Help => print!("{}", help::text(role)),
        Asked::Version if role == Role::Toxiproxy => println!("toxiproxy-server version {TOXIPROXY_VERSION}"),
        Asked::Version => println!("chaos-proxy {}", env!("CARGO_PKG_VERSION")),
        Asked::Run(args) => runtime(Builder::new_multi_thread())?.block_on(run::run(role, *args))?,
    }
    Ok(())
}

fn runtime(mut builder: Builder) -> Result<Runtime, Failure> {
    builder.enable_all().build().map_err(|e| Failure::new(FAILED, format!("the system gives no threads: {e}")))
}
