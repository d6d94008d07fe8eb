//! `cargo bench -p judge`: how long judging takes, and how much memory. `BENCH.md` says what each measure means.
//!
//!     cargo bench -p judge                    # a million attempts: some 40 CPU seconds, 4.5 GB at the end
//!     cargo bench -p judge -- 100000          # another number of attempts
//!
//! The evidence is simulated: payments whose four attempts all fail, half of them in the step `waves` and half in `herd`,
//! with full jitter, so that every check passes or has looked at everything before it says otherwise.

mod machine;
mod measures;
mod simulated;

use std::process::ExitCode;

/// Attempts unless the command line says otherwise.
const ATTEMPTS: usize = 1_000_000;

fn main() -> ExitCode {
    // Cargo adds `--bench`, and `--test` runs of all targets pass nothing that is a number.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let attempts = match words.first().map(|word| word.parse::<usize>()) {
        None if std::env::args().any(|word| word == "--bench") => ATTEMPTS,
        // `cargo test --benches`: see that it runs, without taking the time.
        None => 4_000,
        Some(Ok(attempts)) if attempts >= 800 => attempts,
        Some(_) => {
            eprintln!("bench: give the number of attempts, at least 800");
            return ExitCode::from(2);
        }
    };
    println!("{}\n", machine::describe());
    measures::law();
    match measures::evidence(attempts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}
