//! Section `table` of the simulator: how often each test rejects, declared full jitter, 100 clients by 3 retries.

use std::time::Duration;

use judge::law::LawSpec;
use judge::sim::{Fleet, Policy};
use judge::stats::{Decision, Settings, TestName, decide, tests};

use crate::agree::{Reference, agrees, percent};
use crate::count::count;

/// Runs of each row of the reference.
const REFERENCE_RUNS: u64 = 20_000;

const COLUMNS: [TestName; 7] = [
    TestName::SdBand,
    TestName::IntervalDkw,
    TestName::Support,
    TestName::Reach,
    TestName::RankCorr,
    TestName::GapScan,
    TestName::Phase,
];

/// What the simulator printed: one row for each policy, in the order of [`Policy::ALL`]; columns as above, then the
/// battery.
const REFERENCE: [[f64; 8]; 21] = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.172, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.775, 0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.169, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [1.0, 0.9994, 0.0, 1.0, 0.0, 1.0, 0.9993, 1.0],
    [0.0, 0.0016, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [0.111, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
    [0.036, 1.0, 1.0, 0.0004, 0.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.168, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0, 0.0090, 0.0, 1.0, 0.0, 0.181, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0],
    [0.0098, 1.0, 0.0, 0.0001, 1.0, 1.0, 1.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 0.0002, 0.0, 0.0003, 0.0005],
];

/// Prints the table; returns the number of cells that disagree.
pub fn print(runs: u64) -> usize {
    let law = LawSpec::full(Duration::from_secs(1)).cap(Duration::from_secs(60)).build().expect("a valid law");
    let settings = Settings::default();
    println!(
        "\n### Rejections by test, declared full jitter, 100 clients x 3, typical noise, {runs} runs (reference)\n"
    );
    println!("| true policy | {} | battery |", COLUMNS.map(|c| c.to_string()).join(" | "));
    println!("|{}", "---|".repeat(COLUMNS.len() + 2));
    let mut strangers = 0;
    for (policy, reference) in Policy::ALL.into_iter().zip(REFERENCE) {
        let counts = count(runs, |seed| {
            let observed = Fleet::new(policy, 100).observe(seed);
            let made = tests(&observed.gaps, &law, &settings).expect("gaps to test").made;
            let mut rejected = [false; 8];
            for (cell, name) in rejected.iter_mut().zip(COLUMNS) {
                *cell = made.iter().any(|test| test.name == name && test.rejected);
            }
            rejected[7] = decide(&observed.gaps, &law, &settings) == Decision::Rejected;
            rejected
        });
        let cells = counts.iter().zip(reference).map(|(&n, share)| {
            let fits = agrees(n, runs, Reference { share, runs: REFERENCE_RUNS });
            strangers += usize::from(!fits);
            format!("{} ({share}){}", percent(n, runs), if fits { "" } else { " !" })
        });
        let cells: Vec<_> = cells.collect();
        println!("| {policy} | {} |", cells.join(" | "));
    }
    strangers
}
