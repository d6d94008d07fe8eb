//! `cargo bench -p chaos-proxy`: the proxy beside a direct connection, a bare relay and Envoy, in one interleaved run.
//!
//! The program plays all parts itself: started again with `origin`, `relay` or `host` as its first word it is the server,
//! the bare relay, or a process that embeds the library. `BENCH.md` says how to run it and what each measure means.

mod args;
mod child;
mod client;
mod contenders;
mod control;
mod envoy;
mod error;
mod host;
mod machine;
mod measures;
mod origin;
mod plan;
mod relay;
mod run;
mod samples;
mod smoke;
mod stats;
mod table;
mod targets;

use std::process::ExitCode;

use error::BenchError;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match words.first().map(String::as_str) {
        Some("origin") => origin::main(),
        Some("relay") => relay::main(&words[1..]),
        Some("host") => host::main(&words[1..]),
        _ => bench(words),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("bench: {e}");
            ExitCode::FAILURE
        }
    }
}

fn bench(words: Vec<String>) -> Result<(), BenchError> {
    match args::parse(words)? {
        args::Asked::Help => {
            print!("{}", args::HELP);
            Ok(())
        }
        args::Asked::Run(options) => run::run(&options),
    }
}
