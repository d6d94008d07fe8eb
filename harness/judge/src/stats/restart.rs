//! Test 9, restart independence: two runs of the same herd must not repeat each other.
//!
//! A generator that is seeded alike at every start passes every test inside one process. Across a restart, or between two
//! replicas, its draws repeat: the two-sample Kolmogorov distance D of the normalised gaps is far too *small*. For
//! independent samples of one continuous law P(D <= d) counts lattice paths between two lines and is computed exactly
//! here; the test rejects when it is at most alpha. At 300 against 300 gaps that means D <= 5/300 at 1e-7 and D <= 6/300
//! at 1e-5 (exactly 2.1e-6). The limit law of the textbook gives 1.2e-8 for 6/300: D moves in steps of 1/300, and that far
//! out in the lower tail the steps matter.
//!
//! Noise does not disturb it: two noisy samples of the same law are two samples of one law. False alarms: at most alpha.

use super::{Alpha, Sample, Skipped, Tail, TestName, TestResult};

/// The largest distance between the distribution functions of two samples; NaN when one is empty.
#[must_use]
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    if x.is_empty() || y.is_empty() {
        return f64::NAN;
    }
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (x, y) = (sorted(x), sorted(y));
    let (mut i, mut j, mut d) = (0, 0, 0.0f64);
    while i < x.len() && j < y.len() {
        // Equal values step together: between them there is no place where the functions could be compared.
        let at = x[i].min(y[j]);
        while i < x.len() && x[i] == at {
            i += 1;
        }
        while j < y.len() && y[j] == at {
            j += 1;
        }
        d = d.max((i as f64 / x.len() as f64 - j as f64 / y.len() as f64).abs());
    }
    d
}

/// P(D <= `d`) for independent samples of `n` and `m` values of one continuous law, exact; NaN for an empty sample.
#[must_use]
pub fn lower_tail(n: usize, m: usize, d: f64) -> f64 {
    if n == 0 || m == 0 || d.is_nan() {
        return f64::NAN;
    }
    // A hair of tolerance: i/n - j/m on the boundary belongs to the band.
    let inside = |i: usize, j: usize| (i as f64 / n as f64 - j as f64 / m as f64).abs() <= d + 1e-12;
    // p[j] = chance that the merged order, drawn at random, passes (i, j) without having left the band.
    let mut p = vec![0.0; m + 1];
    for i in 0..=n {
        for j in 0..=m {
            let from_left = if i == 0 { 0.0 } else { p[j] * (n - i + 1) as f64 / (n + m + 1 - i - j) as f64 };
            let from_below = if j == 0 { 0.0 } else { p[j - 1] * (m - j + 1) as f64 / (n + m + 1 - i - j) as f64 };
            let start = if i == 0 && j == 0 { 1.0 } else { 0.0 };
            p[j] = if inside(i, j) { start + from_left + from_below } else { 0.0 };
        }
    }
    p[m]
}

/// The largest distance that rules independence out at level `alpha`; `None` when no distance that samples of this size
/// can have does (a distance of 0 needs ties, which a continuous law does not have).
#[must_use]
pub fn critical(n: usize, m: usize, alpha: Alpha) -> Option<f64> {
    // D lives on multiples of 1 / (n m); multiples of 1 / max(n, m) are fine enough and few.
    let steps = n.max(m);
    let distances = (1..=steps).map(|i| i as f64 / steps as f64);
    distances.take_while(|&d| lower_tail(n, m, d) <= alpha.get()).last()
}

/// Compares two runs of the same herd.
///
/// # Errors
/// [`Skipped`] when the law has no jitter, or there are too few gaps to tell a repetition at all.
pub fn test(first: &Sample<'_>, second: &Sample<'_>) -> Result<TestResult, Skipped> {
    let skipped = |reason: &str| Err(Skipped { name: TestName::Restart, reason: reason.to_owned() });
    let (x, y) = (normalised(first), normalised(second));
    if x.is_empty() || y.is_empty() {
        return skipped("the declared law draws nothing at random that could repeat");
    }
    let alpha = first.settings.alpha;
    let Some(critical) = critical(x.len(), y.len(), alpha) else {
        return skipped("so few gaps cannot show a repetition at this level");
    };
    let statistic = distance(&x, &y);
    let chance = lower_tail(x.len(), y.len(), statistic);
    Ok(TestResult {
        name: TestName::Restart,
        statistic,
        critical,
        rejected: chance <= alpha.get(),
        tail: Tail::exact(chance.min(1.0)),
        detail: format!(
            "the {} and {} gaps of the two runs differ by {statistic:.4}; at or below {critical:.4} they repeat each other",
            x.len(),
            y.len()
        ),
    })
}

/// Gaps as a share of their declared interval, for every attempt that has one.
fn normalised(sample: &Sample<'_>) -> Vec<f64> {
    let jittered = sample.intervals.iter().filter(|i| !sample.law.is_atom(i.retry));
    jittered
        .map(|i| {
            let (lo, hi) = sample.law.support(i.retry);
            (i.gap - lo) / (hi - lo)
        })
        .collect()
}
