//! Section `restart`: two runs of one herd, whose draws are new or repeat.

use judge::law::Law;
use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{GapTable, restart};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::count::count;
use crate::laws::full;
use crate::naive;
use crate::section::{Cell, Section};

/// Runs of each cell of the reference.
const REFERENCE_RUNS: u64 = 50_000;
/// Gaps of each run.
const GAPS: usize = 300;
/// Distances in steps of 1/300, the second the page's bound of .02.
const STEPS: [usize; 6] = [5, 6, 7, 9, 11, 12];

/// Counts over that many pairs of runs. What the simulator counted, the share of repeated and of new draws at or below
/// .02, stands beside the first column; the other columns have the exact law beside them, and then the limit law that the
/// simulator printed, which is too small by up to a factor of two hundred here.
pub fn section(runs: u64) -> Section {
    let title = format!("Two runs of one herd, 100 clients x 3, {runs} pairs: share with D at or below a distance");
    let columns = ["D <=", "repeated draws (simulator)", "new draws (exact law)", "exact law (limit law, x times it)"];
    let mut section = Section::new(title, columns);
    let law = full(1.0);
    let pairs = |repeats: bool| count(runs, |seed| at_most(&law, &pair(seed, repeats)));
    let (repeated, new) = (pairs(true), pairs(false));
    for (i, steps) in STEPS.into_iter().enumerate() {
        let d = steps as f64 / GAPS as f64;
        let exact = restart::lower_tail(GAPS, GAPS, d);
        let again = match steps {
            6 => Cell::share(repeated[i], runs, 0.99880, REFERENCE_RUNS),
            _ => Cell::Alone(format!("{:.4}", repeated[i] as f64 / runs as f64)),
        };
        let limit = limit_law(d);
        let beside = Cell::Alone(format!("{exact:.2e} ({limit:.2e}, {:.1})", exact / limit));
        section.row(format!("{d:.4}"), vec![again, Cell::Exact { count: new[i], runs, p: exact }, beside]);
    }
    section
}

/// Two runs of one herd.
fn pair(seed: u64, repeats: bool) -> [GapTable; 2] {
    let fleet = Fleet::new(Policy::Full, 100);
    if !repeats {
        return [fleet.observe(2 * seed).gaps, fleet.observe(2 * seed + 1).gaps];
    }
    let clean = fleet.noise(Noise::None).observe(seed).gaps;
    // The same delays with new noise: what a service shows whose generator starts alike each time.
    [2 * seed, 2 * seed + 1].map(|seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let row = |row: &Vec<f64>| row.iter().map(|gap| gap + Noise::Typical.draw(&mut rng)).collect();
        GapTable::new(clean.rows().iter().map(row).collect())
    })
}

fn at_most(law: &Law, tables: &[GapTable; 2]) -> [bool; 6] {
    let [first, second] = tables.each_ref().map(|table| naive::shares(table, law));
    let d = restart::distance(&first, &second);
    // Half a step of tolerance: D is a multiple of 1/300.
    STEPS.map(|steps| d <= (steps as f64 + 0.5) / GAPS as f64)
}

/// The limit of P(D <= d) for large samples in its lower tail.
fn limit_law(d: f64) -> f64 {
    use std::f64::consts::PI;
    let x = d * (GAPS as f64 / 2.0).sqrt();
    (2.0 * PI).sqrt() / x * (-PI * PI / (8.0 * x * x)).exp()
}

/// Proves the page's share of repeated draws at .02, and that new draws follow the exact law and not the limit law, which
/// gives the counts at 9/300 no chance.
#[test]
fn the_exact_law_is_the_one_that_counts() {
    let section = section(3_000);
    section.assert_agrees();
    let (_, cells) = &section.rows[3];
    let Cell::Exact { count, runs, p } = cells[1] else { panic!("a count") };
    assert!((0.0036..0.0037).contains(&p), "{p}");
    assert!(!crate::agree::probability(count, runs, limit_law(9.0 / 300.0) / 4.0), "{count} of {runs}");
}
