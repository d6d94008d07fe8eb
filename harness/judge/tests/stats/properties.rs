//! What holds for every input.

use std::time::Duration;

use judge::law::LawSpec;
use judge::sim::{Fleet, Policy};
use judge::stats::{Alpha, BatteryReport, Decision, GapTable, Settings, TestName, Undecided, battery, decide};
use proptest::prelude::*;

use crate::{declared, full};

/// Name, statistic, critical value and verdict of each test: what must not depend on the order of clients.
fn numbers(report: &BatteryReport) -> Vec<(TestName, i64, i64, bool)> {
    // Sums in another order differ in the last digits.
    let digits = |x: f64| (x * 1e9).round() as i64;
    report.tests.iter().map(|t| (t.name, digits(t.statistic), digits(t.critical), t.rejected)).collect()
}

fn policy() -> impl Strategy<Value = Policy> {
    (0..Policy::ALL.len()).prop_map(|i| Policy::ALL[i])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Proves that the order of the clients changes neither verdict nor any number, for rows of any length.
    #[test]
    fn order_of_clients_does_not_matter(
        policy in policy(), seed in any::<u64>(), law in 0usize..8, cut in 1usize..4, turn in 0usize..80,
    ) {
        let mut rows = Fleet::new(policy, 80).observe(seed).gaps.rows().to_vec();
        for row in rows.iter_mut().step_by(2) {
            row.truncate(cut);
        }
        let law = &declared()[law].0;
        let straight = battery(&GapTable::new(rows.clone()), law, &Settings::default());
        rows.rotate_left(turn);
        rows.reverse();
        let turned = battery(&GapTable::new(rows), law, &Settings::default());
        prop_assert_eq!(&straight.decision, &turned.decision);
        prop_assert_eq!(numbers(&straight), numbers(&turned));
        prop_assert_eq!(straight.looks_like.map(|fit| fit.name), turned.looks_like.map(|fit| fit.name));
    }

    /// Proves that one number that is not finite, anywhere, makes the battery undecided and names its place.
    #[test]
    fn not_finite_is_undecided(
        seed in any::<u64>(), client in 0usize..100, retry in 0usize..3, law in 0usize..8,
        bad in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
    ) {
        let mut rows = Fleet::new(Policy::FixedExponential, 100).observe(seed).gaps.rows().to_vec();
        rows[client][retry] = bad;
        let report = battery(&GapTable::new(rows), &declared()[law].0, &Settings::default());
        prop_assert_eq!(report.decision, Decision::Undecided(Undecided::NotFinite { client, retry }));
    }

    /// Proves that no finite table makes the battery panic or give a number that is not one, and that the short form
    /// agrees with the long one.
    #[test]
    fn any_finite_table_is_judged(
        rows in prop::collection::vec(prop::collection::vec(-1.0f64..100.0, 0..6), 0..40), law in 0usize..8,
    ) {
        let (table, law) = (GapTable::new(rows), &declared()[law].0);
        let report = battery(&table, law, &Settings::default());
        prop_assert!(report.tests.iter().all(|test| test.is_defined()), "{:?}", report.tests);
        prop_assert!(!report.is_kept(), "forty clients are below the floor");
        prop_assert_eq!(report.tests.is_empty(), table.is_empty());
        prop_assert_eq!(&report.decision, &decide(&table, law, &Settings::default()));
    }

    /// Proves that a fleet that follows its declared law, whatever the law, is never rejected.
    #[test]
    fn declared_laws_of_any_kind_are_kept(
        kind in 0usize..8, base_ms in 50u64..2_000, seed in any::<u64>(), retries in 1usize..5,
    ) {
        use rand::SeedableRng;
        let base = Duration::from_millis(base_ms);
        let spec = match kind {
            0 => LawSpec::scaled_by(base, 0.8, 1.2),
            1 => LawSpec::scaled_by(base, 1.0, 2.0),
            2 => LawSpec::additive_ratio(base, 0.2),
            3 => LawSpec::additive_fixed(base, Duration::from_millis(100)),
            4 => LawSpec::capped_additive(base, base, 3 * base),
            5 => LawSpec::envoy(base).cap(10 * base),
            6 => LawSpec::table([(base / 2, base), (Duration::ZERO, base), (base, base)]),
            _ => LawSpec::decorrelated(base).cap(4 * base),
        };
        let law = spec.build().expect("a valid law");
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let observed = Fleet::new(Policy::Full, 70).retries(retries).observe_law(&law, &mut rng);
        let report = battery(&observed.gaps, &law, &Settings::default());
        // A narrow law and a short base may be hidden by the noise, but are never rejected.
        let hidden = matches!(report.decision, Decision::Undecided(Undecided::NoiseHidesLaw { .. }));
        prop_assert!(report.is_kept() || hidden, "{}: {:?}", law, report.rejections().collect::<Vec<_>>());
    }
}

/// Proves that too little data is never an acquittal, that the reason says what was too little, and that a rejection is
/// valid at any size.
#[test]
fn too_few_clients() {
    let law = full(1.0);
    let settings = Settings::default();
    let Decision::Undecided(reason) = decide(&Fleet::new(Policy::Full, 40).observe(1).gaps, &law, &settings) else {
        panic!("forty clients must not acquit");
    };
    let text = reason.to_string();
    assert!(text.contains("only 40 clients") && text.contains("linear growth (80)"), "{text}");
    assert_eq!(decide(&Fleet::new(Policy::FixedExponential, 12).observe(1).gaps, &law, &settings), Decision::Rejected);
    assert_eq!(decide(&GapTable::default(), &law, &settings), Decision::Undecided(Undecided::Empty));
    assert_eq!(decide(&GapTable::new(vec![vec![]; 100]), &law, &settings), Decision::Undecided(Undecided::Empty));
    for share in [f64::NAN, -0.1, 0.5] {
        let settings = Settings { outlier_share: share, ..settings };
        let decision = decide(&Fleet::new(Policy::Full, 100).observe(1).gaps, &law, &settings);
        assert!(matches!(decision, Decision::Undecided(Undecided::OutlierShare { .. })), "{share}: {decision:?}");
    }
}

/// Proves that a level is a number between 0 and 1/2, also when it is read.
#[test]
fn levels() {
    for bad in [0.0, -1e-7, 0.5, 1.0, f64::NAN, f64::INFINITY] {
        assert!(Alpha::new(bad).is_err(), "{bad}");
    }
    assert!(serde_json::from_str::<Alpha>("0.7").is_err());
    assert_eq!(Alpha::recommended(1), Alpha::DEFAULT);
    assert!((Alpha::recommended(10).get() - 1e-6 / 70.0).abs() < 1e-20);
}

/// Proves that a law the noise hides is not acquitted: with a base of 20 ms and eps = 60 ms equal jitter could not be told
/// from full, so silence is inconclusive; with eps = 30 ms it can, and both verdicts are given.
#[test]
fn what_noise_hides_is_not_acquitted() {
    let decide = |policy, eps_ms| {
        let settings = Settings { eps: Duration::from_millis(eps_ms), ..Settings::default() };
        decide(&Fleet::new(policy, 100).base(0.02).observe(3).gaps, &full(0.02), &settings)
    };
    let Decision::Undecided(reason) = decide(Policy::Equal, 60) else { panic!("60 ms must hide a base of 20 ms") };
    assert!(reason.to_string().contains("up to 60ms hides a law whose widest attempt spans 80ms"), "{reason}");
    assert!(matches!(decide(Policy::Full, 60), Decision::Undecided(Undecided::NoiseHidesLaw { .. })));
    assert_eq!(decide(Policy::Full, 30), Decision::Kept);
    assert_eq!(decide(Policy::Equal, 30), Decision::Rejected);
}
