//! Every closed form and every statistic against `reference/tables.json`, made by `reference/make_tables.py`.

use std::time::Duration;

use judge::law::{Law, LawSpec};
use judge::stats::sd_tail::{Side, quantile};
use judge::stats::{
    Alpha, GapTable, Sample, Settings, gap_scan, interval_dkw, phase, quantile as q, rank_corr, reach, restart,
    sd_band, support,
};
use serde_json::Value;

fn tables() -> Value {
    serde_json::from_str(include_str!("../../reference/tables.json")).expect("the committed tables")
}

/// The rows of one table as numbers; a table that is empty would prove nothing.
fn rows(name: &str) -> Vec<Vec<f64>> {
    let tables = tables();
    let rows: Vec<Vec<f64>> = tables[name].as_array().expect(name).iter().map(numbers).collect();
    assert!(rows.len() > 2, "{name}");
    rows
}

fn numbers(row: &Value) -> Vec<f64> {
    row.as_array().expect("a row").iter().map(|v| v.as_f64().expect("a number")).collect()
}

fn alpha(level: f64) -> Alpha {
    Alpha::new(level).expect("a level")
}

#[track_caller]
fn close(ours: f64, theirs: f64, relative: f64, what: &str) {
    assert!((ours - theirs).abs() <= relative * theirs.abs() + 1e-12, "{what}: {ours} instead of {theirs}");
}

/// Proves that binomial tails and quantiles and normal quantiles agree with scipy, to ten digits and exactly.
#[test]
fn quantiles_and_tails() {
    for r in rows("binomial_at_least") {
        let ours = q::binomial_at_least(r[0] as usize, r[1], r[2] as usize);
        // Below 1e-200 the two libraries lose different digits, and nothing is decided there.
        if r[3] > 1e-200 {
            close(ours, r[3], 1e-9, &format!("{r:?}"));
        }
    }
    for r in rows("binomial_upper") {
        assert_eq!(q::binomial_upper(r[0] as usize, r[1], r[2]), r[3] as usize, "{r:?}");
        assert_eq!(support::allowed_outliers(r[0] as usize, r[1], alpha(r[2])), r[3] as usize, "{r:?}");
    }
    for r in rows("normal_upper") {
        close(q::normal_upper(r[0]), r[1], 1e-9, &format!("{r:?}"));
    }
}

/// Proves the critical values of DKW, reach, rank correlation, gap scan and phase.
#[test]
fn critical_values() {
    for r in rows("dkw") {
        close(interval_dkw::critical(r[0] as usize, alpha(r[1])), r[2], 1e-12, &format!("dkw {r:?}"));
    }
    for r in rows("reach") {
        close(reach::threshold(r[0] as usize, r[1] as usize, alpha(r[2])), r[3], 1e-12, &format!("reach {r:?}"));
    }
    for r in rows("rank_corr") {
        close(rank_corr::critical(r[0] as usize, r[1] as usize, alpha(r[2])), r[3], 1e-9, &format!("rank {r:?}"));
    }
    for r in rows("gap_scan") {
        let ours = gap_scan::threshold(r[0] as usize, r[1], gap_scan::WINDOW, r[2] + 0.002, 1e-7 / 3.0);
        assert_eq!(ours, r[3] as usize, "scan {r:?}");
    }
    close(phase::critical(alpha(1e-7)), tables()["phase"].as_f64().expect("phase"), 1e-12, "phase");
}

/// Proves the sampler of extreme standard deviations: within half a percent of an independent sampler where nobody can
/// simulate plainly, and within half a percent of plain simulation (two million runs) where that is possible.
#[test]
fn standard_deviation_quantiles() {
    for r in rows("sd_band") {
        let (n, tail) = (r[0] as usize, r[1]);
        close(quantile(n, tail, Side::Lower), r[2], 0.01, &format!("lower {r:?}"));
        close(quantile(n, tail, Side::Upper), r[3], 0.005, &format!("upper {r:?}"));
    }
    let plain = numbers(&tables()["sd_plain"]);
    let (n, tail) = (plain[0] as usize, plain[1]);
    close(quantile(n, tail, Side::Lower), plain[2], 0.005, "plain lower");
    close(quantile(n, tail, Side::Upper), plain[3], 0.005, "plain upper");
}

/// Proves that the embedded table is what the sampler of this crate gives, that the band only narrows with n and widens
/// with a smaller tail, and that where interpolation, extrapolation or another column stands in for the sampler it is the
/// wider of the two (up to sampling error).
#[test]
fn the_band_errs_to_the_safe_side() {
    let sampled = |n, tail| (quantile(n, tail, Side::Lower), quantile(n, tail, Side::Upper));
    for (row, column) in [(2, 0), (4, 2), (11, 1)] {
        let (n, pairs) = sd_band::TABLE[row];
        let (lo, hi) = sampled(n, sd_band::TAILS[column]);
        close(lo, pairs[column].0, 0.01, &format!("lower, n = {n}"));
        close(hi, pairs[column].1, 0.005, &format!("upper, n = {n}"));
    }
    for (n, tail) in [(35, 1e-7 / 6.0), (120, 1e-8), (400, 1e-7 / 2.0)] {
        let (ours, theirs) = (sd_band::band(n, tail), sampled(n, tail));
        assert!(ours.0 <= theirs.0 * 1.003 && ours.1 >= theirs.1 * 0.997, "n = {n}: {ours:?} and {theirs:?}");
    }
    for tail in sd_band::TAILS {
        let bands: Vec<(f64, f64)> = (8..700).map(|n| sd_band::band(n, tail)).collect();
        assert!(bands.windows(2).all(|b| b[0].0 <= b[1].0 && b[0].1 >= b[1].1), "the band must narrow with n");
    }
    for (n, pairs) in sd_band::TABLE {
        assert!(pairs.windows(2).all(|p| p[0].0 >= p[1].0 && p[0].1 <= p[1].1), "n = {n}: smaller tails are wider");
    }
}

/// Proves that the lower tail of the two-sample distance equals the exact count of lattice paths in whole numbers.
#[test]
fn restart_tail_is_exact() {
    for r in rows("restart") {
        let ours = restart::lower_tail(r[0] as usize, r[1] as usize, r[2] / r[3]);
        close(ours, r[4], 1e-9, &format!("{r:?}"));
    }
}

/// The laws of the measures table, base 1 s, cap 60 s.
fn law(name: &str) -> Law {
    let base = Duration::from_secs(1);
    let spec = match name {
        "full" => LawSpec::full(base),
        "equal" => LawSpec::equal(base),
        "plus_minus_25" => LawSpec::plus_minus(base, 0.25),
        "exponential" => LawSpec::exponential(base),
        "decorrelated" => LawSpec::decorrelated(base),
        other => panic!("no law {other}"),
    };
    spec.cap(Duration::from_secs(60)).build().expect("a valid law")
}

/// Proves each statistic on seven shared gap tables under five laws: outliers, D, reach, spread, rank correlation, scan
/// and phase agree with an implementation in another language.
#[test]
fn statistics_of_shared_tables() {
    let gaps: Value = serde_json::from_str(include_str!("../../reference/gaps.json")).expect("the committed gaps");
    let tables = tables();
    let mut compared = 0;
    for (name, rows) in gaps.as_object().expect("tables by name") {
        let table = GapTable::new(rows.as_array().expect("rows").iter().map(numbers).collect());
        for (law_name, expected) in tables["measures"][name].as_object().expect("measures by law") {
            let law = law(law_name);
            let settings = Settings::default();
            let sample = Sample::new(&table, &law, &settings).expect("finite gaps");
            compare(&sample, expected, &format!("{name} under {law_name}"));
            compared += 1;
        }
    }
    assert_eq!(compared, 35);
}

fn compare(sample: &Sample<'_>, expected: &Value, what: &str) {
    const DIGITS: f64 = 1e-9;
    let number = |key: &str| expected[key].as_f64().expect(key);
    assert_eq!(support::test(sample).statistic, number("outside"), "{what}: outliers");
    close(interval_dkw::sample_distance(sample).0, number("distance"), DIGITS, &format!("{what}: D"));
    for k in 0..3 {
        let of = |key: &str| numbers(&expected[key])[k];
        let floor = sample.intervals_of(k).map(|i| i.a).fold(f64::INFINITY, f64::min);
        let ceiling = sample.intervals_of(k).map(|i| i.b).fold(f64::NEG_INFINITY, f64::max);
        close(floor, of("floor"), DIGITS, &format!("{what}: floor {k}"));
        close(ceiling, of("ceiling"), DIGITS, &format!("{what}: ceiling {k}"));
        let fullest = gap_scan::fullest(&sample.columns[k], gap_scan::WINDOW).0;
        assert_eq!(fullest as f64, of("fullest"), "{what}: fullest window of retry {k}");
        if let (Some(_), Some((lo, hi))) = (expected.get("sd"), sample.law.uniform(k)) {
            let sd = sd_band::standard_deviation(sample.columns[k].iter().map(|g| g.clamp(lo - 0.002, hi + 0.06)));
            close(sd, of("sd"), DIGITS, &format!("{what}: standard deviation {k}"));
        }
    }
    for (k, &expected) in numbers(&expected["spearman"]).iter().enumerate() {
        let pairs = sample.table.rows().iter().filter(|row| row.len() > k + 1);
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.map(|row| (row[k], row[k + 1])).unzip();
        close(rank_corr::spearman(&x, &y), expected, DIGITS, &format!("{what}: rank correlation {k}"));
    }
    for (period, expected) in expected.get("rayleigh").and_then(Value::as_object).into_iter().flatten() {
        let all: Vec<f64> = sample.columns.concat();
        let ours = phase::rayleigh(&all, period.parse().expect("a period"));
        close(ours, expected.as_f64().expect("a number"), 1e-7, &format!("{what}: period {period}"));
    }
}
