//! The explanation: what a person reads must name what is wrong.

use std::time::Duration;

use judge::law::LawSpec;
use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{BatteryReport, GapTable, Settings, TestName, battery};

use crate::full;

fn judged(policy: Policy, base: f64, seed: u64) -> BatteryReport {
    battery(&Fleet::new(policy, 100).base(base).observe(seed).gaps, &full(base), &Settings::default())
}

/// Proves that the nearest known law is the true one, for the declared base of the demo and of continuous integration.
#[test]
fn names_the_true_law() {
    let expected = [
        (Policy::Full, "full jitter (as declared)"),
        (Policy::Equal, "equal jitter"),
        (Policy::Decorrelated, "decorrelated jitter"),
        (Policy::PlusMinus10, "exponential +-10 %"),
        (Policy::PlusMinus25, "exponential +-25 %"),
        (Policy::PlusMinus50, "exponential +-50 %"),
        (Policy::FixedExponential, "fixed exponential"),
        (Policy::FixedConstant, "fixed"),
        (Policy::Immediate, "immediate"),
        (Policy::NoGrowth, "full jitter without growth"),
        (Policy::LinearGrowth, "full jitter with linear growth"),
        (Policy::CeilingDoubled, "full jitter, ceiling x2"),
        (Policy::CeilingHalved, "full jitter, ceiling /2"),
        (Policy::OneDrawPerClient, "full jitter (as declared)"),
    ];
    for base in [1.0, 0.2] {
        for (policy, name) in expected {
            for seed in 0..20 {
                let fit = judged(policy, base, seed).looks_like.expect("a verdict");
                assert_eq!(fit.name, name, "{policy}, base {base}, seed {seed}: {fit}");
                assert!(fit.fits, "{policy}, base {base}, seed {seed}: {fit}");
            }
        }
    }
    let fit = judged(Policy::WholeSeconds, 1.0, 3).looks_like.expect("a verdict");
    assert_eq!(fit.name, "full jitter cut to whole seconds");
}

/// Proves that parameters are taken from the gaps only when no law with the declared ones fits.
#[test]
fn fits_what_is_not_known() {
    let herd = GapTable::new((0..80).map(|i| vec![0.7 + 1e-4 * f64::from(i), 0.3, 0.5]).collect());
    let fit = battery(&herd, &full(0.2), &Settings::default()).looks_like.expect("a verdict");
    assert_eq!((fit.name.as_str(), fit.fits), ("no jitter: every client waits 700, 300, 500 ms", true));
    let other = Fleet::new(Policy::Full, 100).base(0.9).observe(4).gaps;
    let fit = battery(&other, &full(0.2), &Settings::default()).looks_like.expect("a verdict");
    assert!(fit.name.starts_with("full jitter with a base of about "), "{fit}");
}

/// Proves that each defect is told in words where the nearest law alone would mislead.
#[test]
fn hints_tell_the_defect() {
    let hint = |policy| judged(policy, 1.0, 5).hints.join("; ");
    assert!(hint(Policy::SharedSeed).contains("same seed"), "{}", hint(Policy::SharedSeed));
    assert!(hint(Policy::OneDrawPerClient).contains("one random draw is reused"));
    assert!(hint(Policy::HalfUnjittered).contains("part of the fleet"));
    assert!(hint(Policy::Tick250).contains("whole ticks"), "{}", hint(Policy::Tick250));
    assert_eq!(hint(Policy::Full), "");
}

/// Proves that the popular pooled deviation is reported for what it is: a herd without jitter has the larger one.
#[test]
fn the_pooled_deviation_is_a_remark() {
    let report = judged(Policy::FixedExponential, 1.0, 1);
    assert!(report.remark.contains("is 25") && report.remark.contains("does not discriminate"), "{}", report.remark);
    let sd = report.tests.iter().find(|t| t.name == TestName::SdBand).expect("made");
    assert!(sd.rejected && sd.statistic < 0.010 && sd.detail.contains("the law gives"), "{}", sd.detail);
}

/// Proves the numbers of an attempt by hand, and that the worst gaps come first with client, retry and allowed interval.
#[test]
fn attempts_and_worst_gaps() {
    let mut rows: Vec<Vec<f64>> = (1..=100).map(|i| vec![f64::from(i) / 101.0]).collect();
    rows[41] = vec![3.0];
    rows[17] = vec![2.0];
    let law = full(1.0);
    let report = battery(&GapTable::new(rows), &law, &Settings::default());
    let attempt = &report.attempts[0];
    assert_eq!((attempt.n, attempt.max, attempt.declared), (100, 3.0, (0.0, 1.0)));
    assert!((attempt.min - 1.0 / 101.0).abs() < 1e-12);
    // Two values below the middle moved to the far end: the middle of 1..100 moves from 50.5 by two places.
    assert!((attempt.median * 101.0 - 52.5).abs() < 1e-9, "{}", attempt.median);
    let (first, second) = (&report.worst[0], &report.worst[1]);
    assert_eq!((first.client, first.retry, second.client), (41, 0, 17));
    assert!((first.excess - 1.94).abs() < 1e-9 && (first.allowed.1 - 1.06).abs() < 1e-9);
    assert_eq!(first.to_string(), "client 41, retry 1: 3000 ms, allowed 0 to 1060 ms");
    assert_eq!(report.worst.len(), 10);
    let histogram = &report.histogram;
    assert_eq!((histogram.counts.len(), histogram.counts.iter().sum::<usize>(), histogram.above), (20, 98, 2));
}

/// Proves that a report survives being written and read, as evidence of a run folder.
#[test]
fn survives_json() {
    for report in [judged(Policy::SharedSeed, 0.2, 1), battery(&GapTable::default(), &full(1.0), &Settings::default())]
    {
        let text = serde_json::to_string(&report).expect("writes");
        let read: BatteryReport = serde_json::from_str(&text).expect("reads");
        assert_eq!(read.decision, report.decision);
        assert_eq!(read.tests.len(), report.tests.len());
    }
}

/// Proves R5: a cap that swallows the jitter is an atom at late attempts, and is rejected there.
#[test]
fn a_cap_must_not_swallow_the_jitter() {
    let ms = Duration::from_millis;
    let declared = LawSpec::full(ms(50)).cap(ms(400)).build().expect("a valid law");
    let swallowed = LawSpec::capped_additive(ms(50), ms(50), ms(400)).build().expect("a valid law");
    let mut rng = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(3);
    let fleet = Fleet::new(Policy::Full, 60).retries(8).noise(Noise::Typical);
    let sound = fleet.observe_law(&declared, &mut rng).gaps;
    assert!(battery(&sound, &declared, &Settings::default()).is_kept());
    let report = battery(&fleet.observe_law(&swallowed, &mut rng).gaps, &declared, &Settings::default());
    let fired: Vec<TestName> = report.rejections().map(|test| test.name).collect();
    assert!(fired.contains(&TestName::GapScan) && fired.contains(&TestName::Reach), "{fired:?}");
}
