//! The table of smallest fleets: what a report promises about its own power must be true.

use judge::law::LawName;
use judge::sim::{Fleet, Policy};
use judge::stats::{Decision, Settings, decide, power};

use crate::{declared, full};

/// Proves every entry of the table up to a hundred clients: with the number it names, the policy is rejected. Each entry
/// promises 99.9 %, so among some 980 runs three misses and more have a chance of 8 %, six of 1e-3.
#[test]
fn the_table_keeps_its_promise() {
    const RUNS: u64 = 12;
    let (mut missed, mut entries) = (Vec::new(), 0);
    for (law, _) in declared() {
        for policy in Policy::ALL {
            let Some(n) = power::smallest_n(&law, policy).filter(|&n| n <= 100) else { continue };
            entries += 1;
            for seed in 0..RUNS {
                if decide(&Fleet::new(policy, n).observe(seed).gaps, &law, &Settings::default()) != Decision::Rejected {
                    missed.push((law.name(), policy, n, seed));
                }
            }
        }
    }
    assert_eq!(entries, 79);
    assert!(missed.len() < 6, "{missed:?}");
}

/// Proves that the table is not padded: full jitter with linear growth, and one draw for each client, are mostly missed by
/// a third of the clients the table asks for.
#[test]
fn the_table_is_not_padded() {
    let law = full(1.0);
    for policy in [Policy::LinearGrowth, Policy::OneDrawPerClient] {
        let third = power::smallest_n(&law, policy).expect("an entry") / 3;
        let rejected = (0..40)
            .filter(|&seed| {
                decide(&Fleet::new(policy, third).observe(seed).gaps, &law, &Settings::default()) == Decision::Rejected
            })
            .count();
        assert!(rejected < 30, "{policy}: {rejected} of 40 with {third} clients");
    }
}

/// Proves what a report says: forty clients are blind to linear growth and mixed fleets, a law without a row says so.
#[test]
fn blind_spots_are_named() {
    let law = full(1.0);
    assert_eq!(power::blind_spots(&law, 40), Some(vec![(Policy::LinearGrowth, 80), (Policy::TenthUnjittered, 400)]));
    assert_eq!(power::blind_spots(&law, 400), Some(Vec::new()));
    for (law, _) in declared() {
        let tabulated = matches!(law.name(), LawName::Full | LawName::Equal | LawName::Decorrelated)
            || law.spec().spread == Some(0.25);
        assert_eq!(power::blind_spots(&law, 1).is_some(), tabulated, "{law}");
    }
}
