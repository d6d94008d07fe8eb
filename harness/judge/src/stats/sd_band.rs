//! Test 4, standard deviation within an attempt.
//!
//! The gaps of each retry with a uniform delay of width w are clipped to `[L - early, H + eps]` (a stall may not inflate
//! them; stalls are counted by the support test) and their standard deviation must lie in
//! `[lo_n sigma - eps / 2, hi_n sigma + eps / 2]` with sigma = w / sqrt(12). The eps / 2 is exact: anything that stays in
//! `[0, eps]` has a standard deviation of at most that.
//!
//! lo_n and hi_n come from a table for 8 to 300 gaps and three tails, interpolated by chords (lo_n is concave and hi_n
//! convex, so a chord errs to the side of fewer false alarms), beyond 300 from their square-root law, and for levels far
//! from the table's from [`sd_tail`](super::sd_tail). False alarms: at most alpha.

use super::quantile::normal_upper;
use super::sd_tail::{Side, quantile};
use super::{Sample, Skipped, Tail, TestName, TestResult};

/// The tails of the table's columns: 1e-7 over three attempts and two sides, and two beyond for more attempts or checks.
pub const TAILS: [f64; 3] = [1e-7 / 6.0, 5e-9, 1e-9];

/// n, then (lo_n, hi_n) for each of [`TAILS`]; from `reference/make_tables.py --band`, rounded outwards.
pub const TABLE: [(usize, [(f64, f64); 3]); 16] = [
    (8, [(0.0697, 1.7456), (0.0496, 1.7600), (0.0405, 1.7765)]),
    (10, [(0.1228, 1.6757), (0.1071, 1.6915), (0.0892, 1.7103)]),
    (12, [(0.1751, 1.6241), (0.1567, 1.6398), (0.1350, 1.6592)]),
    (15, [(0.2469, 1.5641), (0.2262, 1.5797), (0.2012, 1.5990)]),
    (20, [(0.3438, 1.4952), (0.3221, 1.5099), (0.2954, 1.5282)]),
    (25, [(0.4168, 1.4465), (0.3957, 1.4603), (0.3693, 1.4776)]),
    (30, [(0.4729, 1.4108), (0.4529, 1.4238), (0.4276, 1.4402)]),
    (40, [(0.5521, 1.3596), (0.5346, 1.3714), (0.5120, 1.3862)]),
    (50, [(0.6059, 1.3240), (0.5902, 1.3348), (0.5699, 1.3484)]),
    (60, [(0.6448, 1.2973), (0.6305, 1.3073), (0.6123, 1.3200)]),
    (80, [(0.6973, 1.2595), (0.6852, 1.2684), (0.6696, 1.2798)]),
    (100, [(0.7317, 1.2334), (0.7211, 1.2416), (0.7075, 1.2519)]),
    (150, [(0.7847, 1.1924), (0.7762, 1.1992), (0.7651, 1.2079)]),
    (200, [(0.8152, 1.1676), (0.8080, 1.1736), (0.7988, 1.1813)]),
    (250, [(0.8355, 1.1506), (0.8290, 1.1560), (0.8208, 1.1629)]),
    (300, [(0.8506, 1.1379), (0.8449, 1.1429), (0.8374, 1.1492)]),
];

/// Lower and upper limit of s / sigma for `n` uniform draws when each side may be missed with chance `tail`.
#[must_use]
pub fn band(n: usize, tail: f64) -> (f64, f64) {
    let Some(column) = column(tail) else {
        let known = n.min(LARGEST);
        return beyond(n, known, sampled(known, tail), tail);
    };
    let next = TABLE.partition_point(|row| row.0 <= n);
    let (Some(below), above) = (next.checked_sub(1).map(|i| TABLE[i]), TABLE.get(next)) else {
        return sampled(n, tail);
    };
    let (lo, hi) = below.1[column];
    match above {
        None => beyond(n, below.0, (lo, hi), TAILS[column]),
        Some(above) => {
            let share = (n - below.0) as f64 / (above.0 - below.0) as f64;
            let end = above.1[column];
            (lo + share * (end.0 - lo), hi + share * (end.1 - hi))
        }
    }
}

/// The column that may stand in for `tail`: the nearest smaller one, for a band of a smaller tail is wider and costs a
/// little power and no false alarm. `None` where it would cost much, or where there is none.
fn column(tail: f64) -> Option<usize> {
    // A relative hair of tolerance, so that 1e-7 / 6 computed elsewhere still is the table's own level.
    TAILS.iter().position(|&column| column <= tail * (1.0 + 1e-9) && tail <= 10.0 * column)
}

/// Largest n of the table.
const LARGEST: usize = 300;

fn sampled(n: usize, tail: f64) -> (f64, f64) {
    (quantile(n, tail, Side::Lower), quantile(n, tail, Side::Upper))
}

/// From `end` on 1 - lo shrinks at least like 1 / sqrt(n), and hi - 1 stays below its normal limit z sqrt(0.2 / n) and
/// below its value at `end`.
fn beyond(n: usize, end: usize, (lo, hi): (f64, f64), tail: f64) -> (f64, f64) {
    if n == end {
        return (lo, hi);
    }
    let root = (end as f64 / n as f64).sqrt();
    let limit = normal_upper(tail) * (0.2 / n as f64).sqrt();
    (1.0 - (1.0 - lo) * root, 1.0 + (hi - 1.0).min(limit))
}

/// Standard deviation with divisor n - 1; NaN below two values.
#[must_use]
pub fn standard_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
    let mean = sum / n;
    if n < 2.0 { f64::NAN } else { (values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt() }
}

/// Fewest gaps of an attempt that are looked at.
pub const LEAST: usize = 8;

/// Smallest and largest standard deviation a correct client has before one retry, in seconds, noise included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Retry, from 0.
    pub retry: usize,
    /// Declared shortest and longest delay.
    pub support: (f64, f64),
    /// Smallest standard deviation; 0 where noise could make it anything small.
    pub least: f64,
    /// Largest standard deviation.
    pub most: f64,
}

/// The band of each attempt with a declared uniform delay and at least [`LEAST`] gaps.
#[must_use]
pub fn bands(sample: &Sample<'_>) -> Vec<Band> {
    let columns = sample.uniform_columns(LEAST);
    let (eps, tail) = (sample.settings.eps_secs(), sample.settings.alpha.split(2 * columns.len()));
    let mut out = Vec::with_capacity(columns.len());
    let mut known: Option<(usize, (f64, f64))> = None;
    for &(retry, gaps, support) in &columns {
        // Attempts of one herd mostly have equal numbers of gaps: the sampler need not run again for each.
        let (lo, hi) = match known.filter(|(n, _)| *n == gaps.len()) {
            Some((_, ratios)) => ratios,
            None => band(gaps.len(), tail),
        };
        known = Some((gaps.len(), (lo, hi)));
        let sigma = (support.1 - support.0) / 12f64.sqrt();
        out.push(Band { retry, support, least: (lo * sigma - eps / 2.0).max(0.0), most: hi * sigma + eps / 2.0 });
    }
    out
}

/// Compares each attempt's spread with its [`bands`].
///
/// # Errors
/// [`Skipped`] when there is no band.
pub fn test(sample: &Sample<'_>, bands: &[Band]) -> Result<TestResult, Skipped> {
    let (eps, early) = (sample.settings.eps_secs(), sample.settings.early_secs());
    let alpha = sample.settings.alpha;
    let mut worst: Option<(f64, TestResult)> = None;
    for &Band { retry, support: (lo, hi), least, most } in bands {
        let gaps = &sample.columns[retry];
        let s = standard_deviation(gaps.iter().map(|g| g.clamp(lo - early, hi + eps)));
        let margin = (s - most).max(least - s) / (hi - lo);
        if worst.as_ref().is_some_and(|(seen, _)| *seen >= margin) {
            continue;
        }
        let rejected = s < least || s > most;
        let result = TestResult {
            name: TestName::SdBand,
            statistic: s,
            critical: if s - most > least - s { most } else { least },
            rejected,
            tail: Tail::at_most(if rejected { alpha.get() } else { 1.0 }),
            detail: format!(
                "the {} gaps before retry {} have standard deviation {:.0} ms; the law gives {:.0} to {:.0} ms",
                gaps.len(),
                retry + 1,
                1e3 * s,
                1e3 * least,
                1e3 * most
            ),
        };
        worst = Some((margin, result));
    }
    worst.map(|(_, result)| result).ok_or_else(|| Skipped {
        name: TestName::SdBand,
        reason: format!("no attempt has a declared uniform delay and at least {LEAST} gaps"),
    })
}
