//! Test 4, standard deviation within an attempt.
//!
//! The gaps of each retry with a uniform delay of width w are clipped to `[L - early, H + eps]` (a stall may not inflate
//! them; stalls are counted by the support test) and their standard deviation must lie in
//! `[lo_n sigma - eps / 2, hi_n sigma + eps / 2]` with sigma = w / sqrt(12). The eps / 2 is exact: anything that stays in
//! `[0, eps]` has a standard deviation of at most that.
//!
//! lo_n and hi_n come from a table for n = 20 to 300 at 1e-7 over three attempts and two sides, interpolated by chords
//! (lo_n is concave and hi_n convex, so a chord errs to the side of fewer false alarms), beyond 300 from their square-root
//! law, and for other levels from [`sd_tail`](super::sd_tail). False alarms: at most alpha.

use super::quantile::normal_upper;
use super::sd_tail::{Side, quantile};
use super::{Sample, Skipped, Tail, TestName, TestResult};

/// n, lo_n, hi_n at a tail of 1e-7 / 6, from `reference/make_tables.py`.
pub const TABLE: [(usize, f64, f64); 12] = [
    (20, 0.344, 1.493),
    (25, 0.415, 1.447),
    (30, 0.474, 1.410),
    (40, 0.551, 1.359),
    (50, 0.604, 1.323),
    (60, 0.644, 1.297),
    (80, 0.697, 1.258),
    (100, 0.733, 1.233),
    (150, 0.785, 1.192),
    (200, 0.816, 1.168),
    (250, 0.836, 1.151),
    (300, 0.852, 1.138),
];

/// The tail the table is made for, and the largest tail it may stand in for: a band for a smaller tail is wider, so it
/// costs power and never a false alarm.
const TABLE_TAILS: (f64, f64) = (1e-7 / 6.0, 1e-7);

/// Lower and upper limit of s / sigma for `n` uniform draws when each side may be missed with chance `tail`.
#[must_use]
pub fn band(n: usize, tail: f64) -> (f64, f64) {
    let last = TABLE[TABLE.len() - 1];
    // A relative hair of tolerance, so that 1e-7 / 6 computed elsewhere still is the table's own level.
    let in_table = tail >= TABLE_TAILS.0 * (1.0 - 1e-9) && tail <= TABLE_TAILS.1;
    if n > last.0 {
        let end = if in_table { (last.1, last.2) } else { sampled(last.0, tail) };
        return beyond(n, last.0, end, tail);
    }
    match TABLE.windows(2).find(|pair| in_table && (pair[0].0..=pair[1].0).contains(&n)) {
        Some(pair) => {
            let share = (n - pair[0].0) as f64 / (pair[1].0 - pair[0].0) as f64;
            let chord = |a: f64, b: f64| a + share * (b - a);
            (chord(pair[0].1, pair[1].1), chord(pair[0].2, pair[1].2))
        }
        None => sampled(n, tail),
    }
}

fn sampled(n: usize, tail: f64) -> (f64, f64) {
    (quantile(n, tail, Side::Lower), quantile(n, tail, Side::Upper))
}

/// 1 - lo shrinks at least like 1 / sqrt(n) from its value at the end of the table; hi - 1 rises to its normal limit
/// z sqrt(0.2 / n), so the larger of both is on the safe side.
fn beyond(n: usize, end: usize, (lo, hi): (f64, f64), tail: f64) -> (f64, f64) {
    let root = (end as f64 / n as f64).sqrt();
    let limit = normal_upper(tail) * (0.2 / n as f64).sqrt();
    (1.0 - (1.0 - lo) * root, 1.0 + ((hi - 1.0) * root).max(limit))
}

/// Standard deviation with divisor n - 1; NaN below two values.
#[must_use]
pub fn standard_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
    let mean = sum / n;
    if n < 2.0 { f64::NAN } else { (values.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt() }
}

/// Fewest gaps of an attempt that are looked at.
pub const LEAST: usize = 5;

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
