//! The one-sided DKW test and the floor of the decorrelated chain, against counting.

use std::time::Duration;

use judge::law::{Law, LawSpec};
use judge::stats::chain::Floor;
use judge::stats::one_sided::{critical, tail, too_high, too_low};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Proves the distances of small samples worked out by hand, and that nothing is no number.
#[test]
fn distances_by_hand() {
    let near = |(d, u): (f64, f64), distance: f64, at: f64| (d - distance).abs() < 1e-12 && (u - at).abs() < 1e-12;
    assert!(near(too_low(&[0.7, 0.1, 0.2]), 2.0 / 3.0 - 0.2, 0.2));
    assert!(near(too_high(&[0.7, 0.9, 0.4]), 0.4, 0.4) && near(too_high(&[0.2, 0.9, 0.8]), 0.8 - 1.0 / 3.0, 0.8));
    assert!(near(too_low(&[-1.0, 0.0]), 1.0, 0.0) && near(too_high(&[2.0, 1.0]), 1.0, 1.0));
    assert!(too_low(&[]).0.is_nan() && too_high(&[]).0.is_nan());
    // The bound at the critical value is the level, and what is no distance is no evidence.
    assert!((tail(96, critical(96, 1e-7)).probability().expect("defined") - 1e-7).abs() < 1e-15);
    assert_eq!((tail(9, -0.1).probability(), tail(9, f64::NAN).probability()), (Some(1.0), Some(1.0)));
}

/// Proves the level by counting: of 20,000 samples at a level of 1 % either side rejects no more than 1 % and 4.4 standard
/// deviations of that count, for few values and for many, and not far fewer, or the bound would be idle.
#[test]
fn the_level_holds_and_is_used() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for n in [12, 96, 400] {
        let limit = critical(n, 0.01);
        let (mut low, mut high) = (0, 0);
        for _ in 0..20_000 {
            let draws: Vec<f64> = (0..n).map(|_| rng.random()).collect();
            low += u32::from(too_low(&draws).0 > limit);
            high += u32::from(too_high(&draws).0 > limit);
        }
        for count in [low, high] {
            assert!((80..=262).contains(&count), "{n} values: {count} of 20000");
        }
    }
}

fn decorrelated() -> Law {
    LawSpec::decorrelated(MS(1)).cap(MS(100)).build().expect("valid")
}

/// The wait `steps` waits after one of `from` seconds.
fn walk(law: &Law, from: f64, steps: usize, rng: &mut impl Rng) -> f64 {
    (0..steps).fold(from, |previous, _| law.delay(0, Some(previous)).quantile(rng.random()))
}

/// Proves that the floor lies above the true distribution of a chain that began at the base, close to it, and far above that
/// of one which began elsewhere; 20,000 chains of each, whose counts stay within 0.0202 of the truth at 1e-7 (DKW).
#[test]
fn the_floor_is_a_floor() {
    let (law, mut rng) = (decorrelated(), ChaCha8Rng::seed_from_u64(7));
    for steps in [1, 3, 8] {
        let floor = Floor::after(&law, steps).expect("decorrelated and capped");
        for (from, closest) in [(0.001, 0.03), (0.050, 1.0)] {
            let waits: Vec<f64> = (0..20_000).map(|_| walk(&law, from, steps, &mut rng)).collect();
            for x in [0.0005, 0.0015, 0.004, 0.010, 0.030, 0.080, 0.0999, 0.100] {
                let below = waits.iter().filter(|w| **w <= x).count() as f64 / 20_000.0;
                let excess = floor.cdf(x) - below;
                assert!((-0.0202..=closest + 0.0202).contains(&excess), "{steps} steps from {from}, {x}: {excess}");
            }
        }
        assert_eq!((floor.cdf(0.000_99), floor.cdf(0.2)), (0.0, 1.0));
    }
}

/// Proves that only a decorrelated law with a cap has such a floor, and that one without room is the cap at once.
#[test]
fn other_laws_have_no_floor() {
    for spec in [LawSpec::full(MS(1)).cap(MS(9)), LawSpec::decorrelated(MS(1))] {
        assert_eq!(Floor::after(&spec.build().expect("valid"), 8), None);
    }
    let tight = LawSpec::decorrelated(MS(5)).cap(MS(5)).build().expect("valid");
    let floor = Floor::after(&tight, 8).expect("decorrelated and capped");
    assert_eq!((floor.cdf(0.0049), floor.cdf(0.005)), (0.0, 1.0));
}

/// Proves which retry is the first at the cap, and that without a cap or without growth there is none.
#[test]
fn the_first_retry_at_the_cap() {
    let first = |spec: LawSpec| {
        let law = spec.build().expect("valid");
        (0..500).find(|k| law.is_capped(*k))
    };
    assert_eq!(first(LawSpec::full(MS(1)).cap(MS(100))), Some(7));
    assert_eq!(first(LawSpec::full(MS(1)).cap(MS(100)).first_exponent(2)), Some(5));
    assert_eq!(first(LawSpec::full(MS(1)).cap(MS(100)).factor(10.0)), Some(2));
    assert_eq!(first(LawSpec::full(MS(5)).cap(MS(5))), Some(0));
    assert_eq!(first(LawSpec::full(MS(1)).cap(MS(100)).factor(1.0)), None);
    assert_eq!(first(LawSpec::full(MS(1))), None);
}
