//! Type I and type II errors at other sizes, bases and numbers of retries than the acceptance tables have.

use judge::sim::{Fleet, Policy};
use judge::stats::{Decision, Settings, decide};

/// Rejections in `runs` seeded runs; an undecided run is neither and fails the test, for these fleets are large enough.
fn rejections(fleet: Fleet, law: &judge::law::Law, settings: &Settings, runs: u64) -> u64 {
    (0..runs)
        .filter(|&seed| match decide(&fleet.observe(seed).gaps, law, settings) {
            Decision::Rejected => true,
            Decision::Kept => false,
            Decision::Undecided(reason) => panic!("undecided: {reason}"),
        })
        .count() as u64
}

/// Proves that four hundred clients find the tenth of the fleet that a hundred cannot.
#[test]
fn a_mixed_fleet_needs_four_hundred() {
    let law = crate::full(1.0);
    assert_eq!(rejections(Fleet::new(Policy::TenthUnjittered, 400), &law, &Settings::default(), 30), 30);
    assert_eq!(rejections(Fleet::new(Policy::Full, 400), &law, &Settings::default(), 100), 0);
}

/// Proves that bases used in practice keep their power: from 50 ms on at eps = 60 ms the main wrong policies are rejected
/// in every run and full jitter in none.
#[test]
fn short_bases_keep_their_power() {
    let settings = Settings::default();
    for base in [0.05, 0.1, 0.2] {
        let law = crate::full(base);
        let count = |policy| rejections(Fleet::new(policy, 100).base(base), &law, &settings, 25);
        assert_eq!(count(Policy::Full), 0, "base {base}");
        for policy in [
            Policy::Equal,
            Policy::Decorrelated,
            Policy::PlusMinus25,
            Policy::PlusMinus50,
            Policy::FixedExponential,
            Policy::FixedConstant,
            Policy::Immediate,
            Policy::NoGrowth,
            Policy::CeilingHalved,
            Policy::SharedSeed,
            Policy::OneDrawPerClient,
        ] {
            assert_eq!(count(policy), 25, "base {base}, {policy}");
        }
    }
}

/// Proves that more and fewer retries than three hold the level and the power.
#[test]
fn any_number_of_retries() {
    let law = crate::full(0.2);
    for retries in [1, 2, 5] {
        let fleet = |policy| Fleet::new(policy, 100).base(0.2).retries(retries);
        assert_eq!(rejections(fleet(Policy::Full), &law, &Settings::default(), 20), 0, "{retries} retries");
        for policy in [Policy::Equal, Policy::FixedExponential, Policy::Immediate, Policy::SharedSeed] {
            assert_eq!(rejections(fleet(policy), &law, &Settings::default(), 10), 10, "{retries} retries, {policy}");
        }
    }
}
