//! Error rates of the retry law's tests, counted over seeded fleets, beside those of the reference simulator.
//!
//!     cargo run --release -p judge --example error_rates -- [RUNS] [SECTION ...]
//!
//! prints the sections `table`, `matrix`, `noise`, `tails`, `restart` and `incident` as Markdown, each figure followed by
//! the simulator's in brackets. The acceptance tests make the same tables with fewer runs. A cell that disagrees by more
//! than chance (two-sided, one in a million for each cell) is marked `!`, and the program then ends with 1.

#[path = "../../tests/acceptance/agree.rs"]
mod agree;
#[path = "../../tests/acceptance/count.rs"]
mod count;
#[path = "../../tests/acceptance/incident.rs"]
mod incident;
#[path = "../../tests/acceptance/laws.rs"]
mod laws;
#[path = "../../tests/acceptance/matrix.rs"]
mod matrix;
#[path = "../../tests/acceptance/naive.rs"]
mod naive;
#[path = "../../tests/acceptance/noise.rs"]
mod noise;
#[path = "../../tests/acceptance/restart.rs"]
mod restart;
#[path = "../../tests/acceptance/section.rs"]
mod section;
#[path = "../../tests/acceptance/table.rs"]
mod table;
#[path = "../../tests/acceptance/tails.rs"]
mod tails;

use std::process::ExitCode;

use judge::sim::Noise;
use section::Section;

/// Runs of each cell unless the command line says otherwise: as many as the reference made for its table.
const RUNS: u64 = 20_000;

type Make = fn(u64) -> Vec<Section>;

/// The sections, and how to make each; a mean needs a hundredth of the runs that a rare share needs, and the levels that
/// can be counted ten times as many.
const SECTIONS: [(&str, Make); 6] = [
    ("table", |runs| vec![table::section(runs)]),
    ("matrix", |runs| vec![matrix::section(runs, Noise::Typical), matrix::section(runs, Noise::Stalls)]),
    ("noise", |runs| vec![noise::section(runs)]),
    ("tails", |runs| {
        let counted = [tails::peaks(runs.div_ceil(4)), tails::nulls(10 * runs)];
        tails::thresholds().into_iter().chain(counted).collect()
    }),
    ("restart", |runs| vec![restart::section(runs)]),
    ("incident", |runs| vec![incident::peaks(runs.div_ceil(400).max(2)), incident::story(runs.div_ceil(100).max(2))]),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (runs, names) = match words.first().map(|word| word.parse::<u64>()) {
        Some(Ok(0)) => return usage("RUNS must be a whole number from 1"),
        Some(Ok(runs)) => (runs, &words[1..]),
        Some(Err(_)) | None => (RUNS, &words[..]),
    };
    if let Some(name) = names.iter().find(|name| SECTIONS.iter().all(|(known, _)| known != name)) {
        return usage(&format!("there is no section `{name}`"));
    }
    let wanted = SECTIONS.iter().filter(|(name, _)| names.is_empty() || names.iter().any(|n| n == name));
    let mut strangers = 0;
    for section in wanted.flat_map(|(_, make)| make(runs)) {
        println!("{section}");
        strangers += section.strangers().len();
    }
    if strangers == 0 {
        println!("No cell disagrees with the reference.");
        return ExitCode::SUCCESS;
    }
    println!("{strangers} cells disagree with the reference; they are marked with `!`.");
    ExitCode::from(1)
}

fn usage(why: &str) -> ExitCode {
    let names = SECTIONS.map(|(name, _)| name).join(", ");
    eprintln!("error_rates: {why}; usage: error_rates [RUNS] [SECTION ...], with sections {names}");
    ExitCode::from(2)
}
