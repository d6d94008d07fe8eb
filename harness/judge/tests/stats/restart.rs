//! Two runs of one herd must not repeat each other.

use judge::sim::{Fleet, Noise, Policy};
use judge::stats::{Alpha, GapTable, Sample, Settings, partners, restart};
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

/// Proves partners by hand: one client that returns, one of whose gaps one is 11 ms off, and one that is new.
#[test]
fn partners_by_hand() {
    let law = full(1.0);
    let settings = Settings { alpha: Alpha::new(0.01).expect("a level"), ..Settings::default() };
    let first = GapTable::new(vec![vec![0.1, 0.5, 2.0], vec![0.7, 1.5, 3.0], vec![0.2, 1.0, 0.4]]);
    let second = GapTable::new(vec![vec![0.9, 0.1, 3.9], vec![0.7, 1.511, 3.0], vec![0.105, 0.495, 2.009]]);
    let sample = |table| Sample::new(table, &law, &settings).expect("finite gaps");
    let (result, pairs) = partners::test(&sample(&first), &sample(&second)).expect("wide enough");
    assert_eq!((result.statistic, result.rejected), (1.0, true), "{result}");
    assert_eq!(pairs, [partners::Pair { first: 0, second: 2 }]);
    assert_eq!(partners::within(&sample(&first)).expect("wide enough").statistic, 0.0);
}

/// Proves the bound and the level by counting: independent runs have on average no more partners than the bound says,
/// and exceed the critical number of a level of 5 % in at most 5 % of 400 pairs, at a base so short that partners are
/// common.
#[test]
fn partners_keep_their_level() {
    let law = full(0.1);
    let settings = Settings { alpha: Alpha::new(0.05).expect("a level"), ..Settings::default() };
    let fleet = Fleet::new(Policy::Full, 60).base(0.1);
    let runs = 400;
    let seen: Vec<_> = (0..runs)
        .map(|seed| {
            let tables = [0, 1].map(|i| fleet.observe(2 * seed + i).gaps);
            let [first, second] = tables.each_ref().map(|t| Sample::new(t, &law, &settings).expect("finite gaps"));
            partners::test(&first, &second).expect("wide enough").0
        })
        .collect();
    let mean = seen.iter().map(|r| r.statistic).sum::<f64>() / runs as f64;
    let bound = 60.0 * partners::chance(60, &[0.1, 0.2, 0.4]);
    // The bound counts every near client, a partner is counted once: it is close from below.
    assert!(mean > 1.0 && mean < 1.1 * bound, "{mean} partners, bound {bound}");
    assert!(seen.iter().filter(|r| r.rejected).count() <= 20, "more than 5 %");
}

/// Proves that too little jitter, and dependence by design, are skipped and not kept.
#[test]
fn partners_need_room() {
    let settings = Settings::default();
    let table = Fleet::new(Policy::Full, 100).base(0.02).observe(1).gaps;
    let decorrelated = judge::law::LawSpec::decorrelated(std::time::Duration::from_secs(1)).build().expect("a law");
    for law in [full(0.02), judge::law::Law::immediate(), decorrelated] {
        let sample = Sample::new(&table, &law, &settings).expect("finite gaps");
        assert!(partners::test(&sample, &sample).is_err(), "{law}");
    }
}
