//! Section `matrix` of the simulator: eight declared laws by twenty-one true policies.

use std::time::Duration;

use judge::law::{Law, LawSpec};
use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Decision, Settings, decide};

use crate::agree::{Reference, agrees, percent};
use crate::count::count;

/// Runs of each cell of the reference.
const REFERENCE_RUNS: u64 = 10_000;

/// The declared laws, each with the policy that it is.
fn declared() -> [(Law, Policy); 8] {
    let (base, cap) = (Duration::from_secs(1), Duration::from_secs(60));
    [
        (LawSpec::full(base), Policy::Full),
        (LawSpec::equal(base), Policy::Equal),
        (LawSpec::decorrelated(base), Policy::Decorrelated),
        (LawSpec::plus_minus(base, 0.10), Policy::PlusMinus10),
        (LawSpec::plus_minus(base, 0.25), Policy::PlusMinus25),
        (LawSpec::plus_minus(base, 0.50), Policy::PlusMinus50),
        (LawSpec::exponential(base), Policy::FixedExponential),
        (LawSpec::immediate(), Policy::Immediate),
    ]
    .map(|(spec, policy)| {
        let spec = if policy == Policy::Immediate { spec } else { spec.cap(cap) };
        (spec.build().expect("a valid law"), policy)
    })
}

/// What the simulator printed: 0 on the diagonal and 1 elsewhere, but for these cells.
fn reference(own: Policy, policy: Policy, noise: Noise) -> f64 {
    match (own, policy, noise) {
        (Policy::Full, Policy::TenthUnjittered, Noise::Stalls) => 0.0009,
        (Policy::Full, Policy::TenthUnjittered, _) => 0.0003,
        (Policy::Full, Policy::LinearGrowth, Noise::Stalls) => 0.9967,
        (Policy::Immediate, Policy::MillisecondsForSeconds, _) => 0.0,
        _ if own == policy => 0.0,
        _ => 1.0,
    }
}

/// Prints both tables; returns the number of cells that disagree.
pub fn print(runs: u64) -> usize {
    [Noise::Typical, Noise::Stalls].into_iter().map(|noise| print_one(runs, noise)).sum()
}

fn print_one(runs: u64, noise: Noise) -> usize {
    let settings = Settings::default();
    let laws = declared();
    println!(
        "\n### Rejections by the battery, 100 clients x 3, {noise:?} noise, {runs} runs (reference where not 0 or 1)\n"
    );
    println!("| true policy | {} |", laws.iter().map(|(law, _)| law.to_string()).collect::<Vec<_>>().join(" | "));
    println!("|{}", "---|".repeat(laws.len() + 1));
    let mut strangers = 0;
    for policy in Policy::ALL {
        // One fleet for all eight laws: the fleets are the dear part.
        let counts: [u64; 8] = count(runs, |seed| {
            let observed = Fleet::new(policy, 100).noise(noise).observe(seed);
            std::array::from_fn(|i| decide(&observed.gaps, &laws[i].0, &settings) == Decision::Rejected)
        });
        let cells = counts.iter().zip(&laws).map(|(&n, (_, own))| {
            let share = reference(*own, policy, noise);
            let fits = agrees(n, runs, Reference { share, runs: REFERENCE_RUNS });
            strangers += usize::from(!fits);
            let beside = if share > 0.0 && share < 1.0 { format!(" ({share})") } else { String::new() };
            format!("{}{beside}{}", percent(n, runs), if fits { "" } else { " !" })
        });
        let cells: Vec<_> = cells.collect();
        println!("| {policy} | {} |", cells.join(" | "));
    }
    strangers
}
