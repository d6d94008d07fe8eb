//! Error rates of the retry law's tests, counted over seeded fleets, beside those of the reference simulator.
//!
//!     cargo run --release -p judge --example error_rates -- [RUNS]
//!
//! prints three tables: how often each test rejects each true policy under declared full jitter, how often the battery
//! rejects each pair of declared law and true policy, and how often it fails correct fleets under each noise. A cell that
//! disagrees with the reference by more than chance (two-sided, one in a million for each cell) is marked, and the program
//! then ends with 1.

mod agree;
mod count;
mod matrix;
mod noise;
mod table;

use std::process::ExitCode;

/// Runs of each cell unless the command line says otherwise: as many as the reference made for its table.
const RUNS: u64 = 20_000;

fn main() -> ExitCode {
    let runs = match std::env::args().nth(1).map(|text| text.parse::<u64>()) {
        None => RUNS,
        Some(Ok(runs)) if runs > 0 => runs,
        Some(_) => {
            eprintln!("error_rates: RUNS must be a whole number from 1");
            return ExitCode::from(2);
        }
    };
    let strangers = table::print(runs) + matrix::print(runs) + noise::print(runs);
    if strangers == 0 {
        println!("\nno cell disagrees with the reference");
        return ExitCode::SUCCESS;
    }
    println!("\n{strangers} cells disagree with the reference; they are marked with `!`");
    ExitCode::from(1)
}
