//! The peak window: thresholds of the reference, and herds on both sides of them.

use std::time::Duration;

use judge::law::{Law, LawSpec};
use judge::sim::{Fleet, Policy};
use judge::stats::Alpha;
use judge::stats::peak::{self, Herd, PeakError, Profile};
use serde_json::Value;

fn herd(clients: usize, retries: usize, window: f64) -> Herd {
    Herd {
        clients,
        retries,
        window: Duration::from_secs_f64(window),
        slack: Duration::ZERO,
        alpha: Alpha::DEFAULT,
        sliding: true,
    }
}

fn law(name: &str, base: f64) -> Law {
    let base = Duration::from_secs_f64(base);
    let spec = if name == "full" { LawSpec::full(base) } else { LawSpec::equal(base) };
    spec.cap(Duration::from_secs(60)).build().expect("a valid law")
}

/// Proves m* of thirteen herds against numpy, among them 18, 30, 45, 72, 141 of `checks.md` and 464 of the incident.
#[test]
fn thresholds_match_the_reference() {
    let tables: Value =
        serde_json::from_str(include_str!("../../reference/tables.json")).expect("the committed tables");
    let rows = tables["peak"].as_array().expect("peak");
    assert_eq!(rows.len(), 13);
    for row in rows {
        let number = |i: usize| row[i].as_f64().expect("a number");
        let law = law(row[4].as_str().expect("a law"), number(2));
        let herd = Herd {
            sliding: row[5].as_bool().expect("a bool"),
            ..herd(number(0) as usize, number(1) as usize, number(3))
        };
        assert_eq!(peak::threshold(&herd, &law), Ok(number(6) as usize), "{row}");
    }
}

/// Proves that the incident at full size (base 9.11 s, window 1 s) has the threshold of its short form: the law of a herd
/// depends on window and base only through their ratio.
#[test]
fn the_incident_scales() {
    let law = law("full", 9.11);
    assert_eq!(peak::threshold(&herd(2_000, 2, 1.0), &law), Ok(464));
}

/// Proves the profile: each retry's probabilities sum to one, and the mean arrival is the sum of the mean delays, for laws
/// with atoms, with fractional cells and for the conditional one.
#[test]
fn profiles_are_distributions() {
    let ms = Duration::from_millis;
    let laws = [
        (LawSpec::full(ms(200)), [0.1, 0.3]),
        (LawSpec::plus_minus(ms(123), 0.1), [0.123, 0.369]),
        (LawSpec::exponential(ms(200)), [0.2, 0.6]),
        (LawSpec::capped_additive(ms(200), ms(100), ms(450)), [0.25, 0.25 + 0.4375]),
        // U(0.2, 0.6) then U(0.2, 3 x) of the same x: means 0.4 and 0.1 + 0.6.
        (LawSpec::decorrelated(ms(200)), [0.4, 0.4 + 0.7]),
        // The second delay is capped at 600 ms: U(0.2, 3 x) clipped, with mean 0.4 + log terms worked out below.
        (LawSpec::decorrelated(ms(200)).cap(ms(600)), [0.4, 0.4 + capped_mean()]),
    ];
    for (spec, means) in laws {
        let law = spec.build().expect("a valid law");
        let profile = Profile::new(&law, 2, ms(50)).expect("a profile");
        for (retry, mean) in profile.retries().iter().zip(means) {
            let mass: f64 = retry.iter().sum();
            let at = |t: usize| (t as f64 + 0.5) * profile.cell();
            let seen: f64 = retry.iter().enumerate().map(|(t, p)| p * at(t)).sum();
            assert!((mass - 1.0).abs() < 1e-9, "{law}: mass {mass}");
            // Each delay may be off by one cell of the grid.
            assert!((seen - mean).abs() < 2.0 * profile.cell(), "{law}: mean {seen} instead of {mean}");
        }
    }
}

/// E min(0.6, U(0.2, 3 x)) for x uniform on (0.2, 0.6), by the midpoint rule.
fn capped_mean() -> f64 {
    let steps = 100_000;
    let mean = |x: f64| {
        let hi: f64 = 3.0 * x;
        let over = (hi - 0.6).max(0.0) / (hi - 0.2);
        (1.0 - over) * (0.2 + hi.min(0.6)) / 2.0 + over * 0.6
    };
    (0..steps).map(|i| mean(0.2 + 0.4 * (f64::from(i) + 0.5) / f64::from(steps))).sum::<f64>() / f64::from(steps)
}

/// Proves both sides: 200 correct herds stay below m*, and each herd without jitter exceeds it.
#[test]
fn herds_are_told_from_jitter() {
    let law = law("full", 1.0);
    let herd = herd(100, 3, 0.1);
    let threshold = peak::threshold(&herd, &law).expect("a threshold");
    for seed in 0..300 {
        let arrivals = |policy| Fleet::new(policy, 100).observe(seed).arrivals.concat();
        assert!(peak::max_sliding(&arrivals(Policy::Full), 0.1).0 < threshold, "seed {seed}");
        if seed < 3 {
            let sound = peak::test(&arrivals(Policy::Full), &herd, &law).expect("a threshold");
            assert!(!sound.rejected && sound.tail.probability() > Some(1e-7), "{sound}");
            for policy in [Policy::FixedExponential, Policy::FixedConstant, Policy::Immediate, Policy::SharedSeed] {
                assert!(peak::test(&arrivals(policy), &herd, &law).expect("a threshold").rejected, "{policy}");
            }
        }
    }
}

/// Proves that decorrelated jitter has a threshold too, and that correct herds stay below it.
#[test]
fn decorrelated_herds_have_a_threshold() {
    let spec = LawSpec::decorrelated(Duration::from_secs(1)).cap(Duration::from_secs(60));
    let law = spec.build().expect("a valid law");
    let herd = herd(100, 2, 0.1);
    let threshold = peak::threshold(&herd, &law).expect("a threshold");
    assert!((20..60).contains(&threshold), "{threshold}");
    for seed in 0..200 {
        let arrivals = Fleet::new(Policy::Decorrelated, 100).retries(2).observe(seed).arrivals.concat();
        assert!(peak::max_sliding(&arrivals, 0.1).0 < threshold, "seed {seed}");
    }
}

/// Proves the edges: a law that puts all retries into one window rules nothing out, slack only raises m*, nothing at all
/// and windows far too fine are errors with advice, and NaN gives a statistic that is not defined.
#[test]
fn edges() {
    let herd = herd(50, 3, 0.1);
    assert_eq!(peak::threshold(&herd, &Law::immediate()), Ok(151));
    let full = law("full", 1.0);
    let slack = Herd { slack: Duration::from_millis(60), ..herd };
    assert!(peak::threshold(&slack, &full).expect("m*") > peak::threshold(&herd, &full).expect("m*"));
    assert_eq!(peak::threshold(&Herd { clients: 0, ..herd }, &full), Err(PeakError::Nothing));
    assert_eq!(peak::threshold(&Herd { window: Duration::ZERO, ..herd }, &full), Err(PeakError::Nothing));
    let fine = peak::threshold(&Herd { window: Duration::from_nanos(1), ..herd }, &full).expect_err("too fine");
    assert!(fine.to_string().contains("declare a longer window"), "{fine}");
    assert!(!peak::test(&[0.1, f64::NAN], &herd, &full).expect("a threshold").is_defined());
    assert_eq!(peak::test(&[], &herd, &full).expect("a threshold").statistic, 0.0);
}

/// Proves the two ways of counting on arrivals worked out by hand.
#[test]
fn fullest_windows() {
    let arrivals = [0.09, 0.11, 0.18, 0.35, 0.36];
    assert_eq!(peak::max_sliding(&arrivals, 0.1), (3, 0.09));
    let (count, start) = peak::max_aligned(&arrivals, 0.1);
    assert_eq!((count, (start * 10.0).round()), (2, 1.0));
    assert_eq!(peak::max_sliding(&[], 0.1).0, 0);
    // A half-open window of no length holds nothing, however many arrive at once.
    assert_eq!(peak::max_sliding(&[0.5, 0.5, 0.7], 0.0).0, 0);
}

/// Proves that treating a client's retries as independent costs no false alarms even where the window is as long as the
/// base: at a level of 10 % fewer than 10 % of 400 correct herds reach m*, for windows from a tenth of the base to all of it.
#[test]
fn the_level_holds_for_long_windows() {
    let law = law("full", 1.0);
    for window in [0.1, 0.5, 1.0] {
        let herd = Herd { alpha: Alpha::new(0.1).expect("a level"), ..herd(60, 3, window) };
        let threshold = peak::threshold(&herd, &law).expect("a threshold");
        let alarms = (0..400)
            .filter(|&seed| {
                let arrivals = Fleet::new(Policy::Full, 60).observe(seed).arrivals.concat();
                peak::max_sliding(&arrivals, window).0 >= threshold
            })
            .count();
        assert!(alarms < 40, "window {window} s: {alarms} of 400 reach {threshold}");
    }
}

/// Proves the figure of the incident: 2,000 clients, two retries with full jitter, window a 9.11th of the base. The
/// reference's mean of 40 herds is 340, with single ones from 308 to 372; the standard error of such a mean is 2.
#[test]
fn the_incident_peaks_at_340() {
    let law = law("full", 0.911);
    let seen = peak::expected(&herd(2_000, 2, 0.1), &law, 40, 1).expect("a herd");
    assert!((334.0..=346.0).contains(&seen.mean), "{seen:?}");
    assert!(seen.least >= 300 && seen.most <= 385 && seen.least < seen.most, "{seen:?}");
    // Above the densest point of the profile, below what rules the law out.
    assert!(seen.mean > 1.5 * 2_000.0 * 0.1 / 0.911 && seen.most < 464);
}

/// Proves that laws without randomness have the whole herd as their peak, and that nothing has no expectation.
#[test]
fn expectations_at_the_edges() {
    let fixed = LawSpec::fixed(Duration::from_secs(1)).build().expect("a valid law");
    let seen = peak::expected(&herd(50, 2, 0.1), &fixed, 3, 1).expect("a herd");
    assert_eq!((seen.mean, seen.least, seen.most), (50.0, 50, 50));
    let immediate = peak::expected(&herd(50, 2, 0.1), &Law::immediate(), 3, 1).expect("a herd");
    assert_eq!(immediate.most, 100);
    for (nothing, runs) in [(herd(0, 2, 0.1), 1), (herd(5, 0, 0.1), 1), (herd(5, 2, 0.0), 1), (herd(5, 2, 0.1), 0)] {
        assert_eq!(peak::expected(&nothing, &fixed, runs, 1), Err(PeakError::Nothing));
    }
}
