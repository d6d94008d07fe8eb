//! Section `matrix`: eight declared laws by twenty-one true policies, judged by the battery.

use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Decision, Settings, decide};

use crate::count::count;
use crate::laws::declared;
use crate::section::{Cell, Section};

/// Runs of each cell of the reference.
const REFERENCE_RUNS: u64 = 10_000;

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

/// The matrix under that noise over that many runs a cell.
pub fn section(runs: u64, noise: Noise) -> Section {
    let (settings, laws) = (Settings::default(), declared());
    let head = laws.iter().map(|(law, _)| law.to_string());
    let title = format!("Rejections by the battery: 100 clients x 3, {noise:?} noise, {runs} runs a cell");
    let mut section = Section::new(title, ["true policy".to_owned()].into_iter().chain(head));
    for policy in Policy::ALL {
        // One fleet for all eight laws: the fleets are the dear part.
        let counts: [u64; 8] = count(runs, |seed| {
            let observed = Fleet::new(policy, 100).noise(noise).observe(seed);
            std::array::from_fn(|i| decide(&observed.gaps, &laws[i].0, &settings) == Decision::Rejected)
        });
        let cells = counts.iter().zip(&laws);
        let cell =
            |(&n, (_, own)): (&u64, &(_, Policy))| Cell::share(n, runs, reference(*own, policy, noise), REFERENCE_RUNS);
        section.row(policy, cells.map(cell).collect());
    }
    section
}

/// Proves the matrix with ordinary noise: own laws are never rejected, others always, but for the cells the page names.
#[test]
fn ordinary_noise() {
    section(100, Noise::Typical).assert_agrees();
}

/// Proves that two gaps stalled in a hundred cost no false alarm and no power.
#[test]
fn stalls() {
    section(50, Noise::Stalls).assert_agrees();
}

/// Proves the type I error by number: 1,000 correct fleets of each law that the page declares, none rejected. At seven in
/// ten million a run, one rejection among all of them has a chance of 0.6 %.
#[test]
fn correct_fleets_are_not_rejected() {
    let settings = Settings::default();
    for (law, policy) in declared() {
        let fleet = Fleet::new(policy, 100);
        let [kept] = count(1_000, |seed| [decide(&fleet.observe(seed).gaps, &law, &settings) == Decision::Kept]);
        assert_eq!(kept, 1_000, "{law}");
    }
}
