//! Section `noise` of the simulator: false alarms of the battery on correct fleets, by base and noise.

use std::time::Duration;

use judge::law::LawSpec;
use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Decision, Settings, decide};

use crate::agree::{Reference, agrees, percent};
use crate::count::count;

/// Runs of each cell of the reference.
const REFERENCE_RUNS: u64 = 50_000;

/// Base in seconds, noise, eps in milliseconds, and the share that the simulator printed.
fn rows() -> Vec<(f64, Noise, u64, f64)> {
    let freeze = |ms| Noise::Freeze(Duration::from_millis(ms));
    vec![
        (1.0, Noise::None, 60, 0.0),
        (1.0, Noise::Typical, 60, 0.0),
        (1.0, Noise::Wan, 110, 0.0),
        (1.0, Noise::Stalls, 60, 0.0),
        (1.0, freeze(55), 60, 0.0),
        (1.0, freeze(100), 60, 0.0),
        (0.2, Noise::Typical, 60, 0.0),
        (0.2, Noise::Wan, 110, 0.0),
        (0.2, freeze(30), 60, 0.0),
        (0.2, freeze(55), 60, 0.0),
        // Pauses beyond eps: the canary sees them and the run is inconclusive. The battery alone is not enough.
        (0.2, freeze(100), 60, 0.027),
        (0.2, freeze(150), 60, 0.157),
    ]
}

/// Prints the table; returns the number of cells that disagree.
pub fn print(runs: u64) -> usize {
    println!("\n### False alarms of the battery on correct full jitter, 100 clients x 3, {runs} runs\n");
    println!("| base | noise | eps | alarms (reference) |\n|---|---|---|---|");
    let mut strangers = 0;
    for (base, noise, eps, share) in rows() {
        let law =
            LawSpec::full(Duration::from_secs_f64(base)).cap(Duration::from_secs(60)).build().expect("a valid law");
        let settings = Settings { eps: Duration::from_millis(eps), ..Settings::default() };
        let fleet = Fleet::new(Policy::Full, 100).base(base).noise(noise);
        let [alarms] = count(runs, |seed| [decide(&fleet.observe(seed).gaps, &law, &settings) == Decision::Rejected]);
        let fits = agrees(alarms, runs, Reference { share, runs: REFERENCE_RUNS });
        strangers += usize::from(!fits);
        let mark = if fits { "" } else { " !" };
        println!("| {base} s | {noise:?} | {eps} ms | {} ({share}){mark} |", percent(alarms, runs));
    }
    strangers
}
