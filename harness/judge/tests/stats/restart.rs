//! Two runs of one herd must not repeat each other.

use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Alpha, GapTable, Sample, Settings, restart};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::full;

/// The same delays with new noise: what a restarted service with an unseeded generator shows.
fn repeated(seed: u64) -> (GapTable, GapTable) {
    let clean = Fleet::new(Policy::Full, 100).noise(Noise::None).observe(seed).gaps;
    let noisy = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let row = |row: &Vec<f64>| row.iter().map(|gap| gap + Noise::Typical.draw(&mut rng)).collect();
        GapTable::new(clean.rows().iter().map(row).collect())
    };
    (noisy(2 * seed + 10_000), noisy(2 * seed + 10_001))
}

/// Proves the distance on samples worked out by hand, with ties, and that it is NaN without data.
#[test]
fn distance_by_hand() {
    assert_eq!(restart::distance(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]), 0.0);
    assert_eq!(restart::distance(&[1.0, 2.0], &[3.0, 4.0]), 1.0);
    assert_eq!(restart::distance(&[1.0, 3.0], &[2.0, 4.0]), 0.5);
    assert!(restart::distance(&[], &[1.0]).is_nan());
}

/// Proves the critical distances for 300 against 300 gaps: 5/300 at 1e-7 and 6/300 at 1e-5, and that ten gaps show nothing.
#[test]
fn critical_distance() {
    let critical = |level| restart::critical(300, 300, Alpha::new(level).expect("a level"));
    assert_eq!((critical(1e-7), critical(1e-5)), (Some(5.0 / 300.0), Some(6.0 / 300.0)));
    assert_eq!(restart::critical(5, 5, Alpha::DEFAULT), None);
}

/// Proves both sides by counting: independent runs are never rejected, repeated draws nearly always.
#[test]
fn repeated_draws_are_seen() {
    let law = full(1.0);
    let settings = Settings { alpha: Alpha::new(1e-5).expect("a level"), ..Settings::default() };
    let rejected = |first: &GapTable, second: &GapTable| {
        let sample = |table| Sample::new(table, &law, &settings).expect("finite gaps");
        let (first, second) = (Sample::new(first, &law, &settings).expect("finite"), sample(second));
        restart::test(&first, &second).expect("enough gaps").rejected
    };
    let fleet = Fleet::new(Policy::Full, 100);
    let runs = 30;
    let independent = (0..runs).filter(|&s| rejected(&fleet.observe(2 * s).gaps, &fleet.observe(2 * s + 1).gaps));
    assert_eq!(independent.count(), 0);
    let repeated = (0..runs).filter(|&s| {
        let (first, second) = repeated(s);
        rejected(&first, &second)
    });
    // .9988 each: two misses in thirty have a chance of 6e-4.
    assert!(repeated.count() >= 29);
}

/// Proves that a law without jitter, or too few gaps, is skipped with a reason and not kept.
#[test]
fn nothing_to_compare() {
    let settings = Settings::default();
    let table = Fleet::new(Policy::Immediate, 2).observe(1).gaps;
    for law in [judge::law::Law::immediate(), full(1.0)] {
        let sample = Sample::new(&table, &law, &settings).expect("finite gaps");
        assert!(restart::test(&sample, &sample).is_err());
    }
}
