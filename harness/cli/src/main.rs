//! The `harness` command line: results on stdout, progress on stderr, documented exit codes.

mod args;
mod commands;
mod exit;
mod progress;
mod say;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use args::Args;
use exit::Exit;

fn main() -> ExitCode {
    let args = Args::parse();
    // A panic is a bug of ours; whatever the harness has started is ended on the way here.
    let done = catch_unwind(AssertUnwindSafe(|| commands::run(args)));
    done.unwrap_or_else(|_| {
        say::line("internal error: this is a bug in the harness; the message above says where");
        Exit::Internal
    })
    .into()
}
