//! Type I and type II errors, by counting verdicts over seeded fleets: the acceptance table of `checks.md`.

use judge::law::LawName;
use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Decision, Settings, decide};

use crate::declared;

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

/// Proves the whole matrix, eight declared laws by twenty-one true policies, 100 clients: the diagonal is never rejected,
/// everything else always, except for the cells that `checks.md` names: a tenth of the fleet un-jittered under full jitter,
/// and milliseconds for seconds under no wait, which is the same thing up to 4 ms.
#[test]
fn matrix_of_declared_laws_and_true_policies() {
    const RUNS: u64 = 30;
    let settings = Settings::default();
    for (law, own) in declared() {
        for policy in Policy::ALL {
            let count = rejections(Fleet::new(policy, 100), &law, &settings, RUNS);
            let cell = format!("declared {law}, true {policy}: {count} of {RUNS} rejected");
            match (law.name(), policy) {
                (_, policy) if policy == own => assert_eq!(count, 0, "{cell}"),
                (LawName::Immediate, Policy::MillisecondsForSeconds) => assert_eq!(count, 0, "{cell}"),
                (LawName::Full, Policy::TenthUnjittered) => assert!(count <= 1, "{cell}"),
                // .998 and more: one miss in thirty runs is within chance, two are not (1e-3).
                (LawName::Full, Policy::LinearGrowth) => assert!(count + 1 >= RUNS, "{cell}"),
                _ => assert_eq!(count, RUNS, "{cell}"),
            }
        }
    }
}

/// Proves the same with two percent of the gaps stalled: the outliers that are granted cost no false alarm and no power.
#[test]
fn matrix_survives_stalls() {
    const RUNS: u64 = 15;
    let settings = Settings::default();
    for (law, own) in declared() {
        for policy in Policy::ALL {
            let count = rejections(Fleet::new(policy, 100).noise(Noise::Stalls), &law, &settings, RUNS);
            let cell = format!("declared {law}, true {policy}, stalls: {count} of {RUNS} rejected");
            match (law.name(), policy) {
                (_, policy) if policy == own => assert_eq!(count, 0, "{cell}"),
                (LawName::Immediate, Policy::MillisecondsForSeconds) => assert_eq!(count, 0, "{cell}"),
                (LawName::Full, Policy::TenthUnjittered) => assert!(count <= 1, "{cell}"),
                (LawName::Full, Policy::LinearGrowth) => assert!(count + 1 >= RUNS, "{cell}"),
                _ => assert_eq!(count, RUNS, "{cell}"),
            }
        }
    }
}

/// Proves the type I error by number: 2,000 correct fleets of full jitter, none rejected. At a level of 7e-7 a run one
/// rejection has a chance of 0.14 %.
#[test]
fn a_correct_fleet_is_not_rejected() {
    let law = crate::full(1.0);
    assert_eq!(rejections(Fleet::new(Policy::Full, 100), &law, &Settings::default(), 2_000), 0);
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
