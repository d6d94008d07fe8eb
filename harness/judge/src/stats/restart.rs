//! Test 9, restart independence: two runs of the same herd must not repeat each other.
//!
//! A generator that is seeded alike at every start passes every test inside one process. Across a restart, or between two
//! replicas, its draws repeat: the two-sample Kolmogorov distance D of the normalised gaps is far too *small*. For
//! independent samples of one continuous law P(D <= d) counts lattice paths between two lines and is computed exactly
//! here; the test rejects when it is at most alpha. At 300 against 300 gaps that means D <= 5/300 at 1e-7 and D <= 6/300
//! at 1e-5 (exactly 2.1e-6). The limit law of the textbook gives 1.7e-12 for 5/300, where the truth is 9.5e-9, and
//! 1.2e-8 for 6/300: D moves in steps of 1/300, and that far out in the lower tail the steps matter.
//!
//! Noise costs no false alarm: two noisy samples of the same law are two samples of one law. It costs power: noise of a
//! hundredth of the delays tears repeated draws apart, and more gaps do not help. [`partners`](super::partners) bears more.
//! False alarms: at most alpha.

use std::f64::consts::{PI, TAU};

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
    let band = Band::new(n, m, d);
    // p[j] = chance that the merged order, drawn at random, passes (i, j) without having left the band. Only the band is
    // walked: what lies left of it is cleared, and what lies right of it was never filled.
    let mut p = vec![0.0; m + 1];
    for i in 0..=n {
        let (from, to) = band.row(i);
        if let Some(outside) = from.checked_sub(1) {
            p[outside] = 0.0;
        }
        for j in from..=to {
            let rest = (n + m + 1 - i - j) as f64;
            let from_left = if i == 0 { 0.0 } else { p[j] * (n - i + 1) as f64 / rest };
            let from_below = if j == 0 { 0.0 } else { p[j - 1] * (m - j + 1) as f64 / rest };
            p[j] = if i == 0 && j == 0 { 1.0 } else { from_left + from_below };
        }
    }
    p[m]
}

/// The lattice points (i, j), i of `n` and j of `m`, at which the two distribution functions differ by no more than d.
struct Band {
    d: f64,
    n: usize,
    m: usize,
}

impl Band {
    fn new(n: usize, m: usize, d: f64) -> Band {
        // A hair of tolerance: i/n - j/m on the boundary belongs to the band.
        Band { d: d + 1e-12, n, m }
    }

    /// First and last j of row i.
    fn row(&self, i: usize) -> (usize, usize) {
        let (middle, half) = (i as f64 / self.n as f64, self.d);
        let at = |share: f64| share * self.m as f64;
        let first = at(middle - half).ceil().max(0.0) as usize;
        let last = at(middle + half).floor().max(0.0) as usize;
        (first.min(self.m), last.min(self.m))
    }
}

/// The largest distance that rules independence out at level `alpha`; `None` when no distance that samples of this size
/// can have does (a distance of 0 needs ties, which a continuous law does not have).
#[must_use]
pub fn critical(n: usize, m: usize, alpha: Alpha) -> Option<f64> {
    // D lives on multiples of 1 / (n m); multiples of 1 / max(n, m) are fine enough and few.
    let steps = n.max(m);
    if steps == 0 {
        return None;
    }
    let at = |step: usize| step as f64 / steps as f64;
    let rules_out = |step: usize| lower_tail(n, m, at(step)) <= alpha.get();
    // From the limit law's place the exact one is a step or two away, however large the samples.
    let mut step = (limit_distance(n, m, alpha) * steps as f64) as usize;
    while step > 0 && !rules_out(step) {
        step -= 1;
    }
    while step < steps && rules_out(step + 1) {
        step += 1;
    }
    (step > 0).then(|| at(step))
}

/// The distance at which the limit law for large samples has the lower tail `alpha`:
/// sqrt(2 pi) / x exp(-pi^2 / (8 x^2)) at x = d sqrt(n m / (n + m)).
fn limit_distance(n: usize, m: usize, alpha: Alpha) -> f64 {
    let tail = |x: f64| (TAU.sqrt() / x) * (-PI * PI / (8.0 * x * x)).exp();
    let (mut lo, mut hi) = (0.05, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(lo, hi);
        if tail(middle) > alpha.get() { hi = middle } else { lo = middle }
    }
    let (n, m) = (n as f64, m as f64);
    (lo / (n * m / (n + m)).sqrt()).min(1.0)
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

#[cfg(test)]
mod tests {
    use super::{Band, critical, lower_tail};
    use crate::stats::Alpha;

    /// Every cell of the lattice, the band told by its definition.
    fn plain(n: usize, m: usize, d: f64) -> f64 {
        let mut p = vec![vec![0.0; m + 1]; n + 1];
        for i in 0..=n {
            for j in 0..=m {
                let rest = (n + m + 1 - i - j) as f64;
                let left = if i == 0 { 0.0 } else { p[i - 1][j] * (n - i + 1) as f64 / rest };
                let below = if j == 0 { 0.0 } else { p[i][j - 1] * (m - j + 1) as f64 / rest };
                let inside = (i as f64 / n as f64 - j as f64 / m as f64).abs() <= d + 1e-12;
                let sum = if i + j == 0 { 1.0 } else { left + below };
                p[i][j] = if inside { sum } else { 0.0 };
            }
        }
        p[n][m]
    }

    // Proves that walking only the band gives what walking the whole lattice gives, for equal and unequal samples.
    #[test]
    fn the_band_is_enough() {
        for (n, m) in [(1, 1), (5, 5), (30, 30), (20, 31), (57, 12), (100, 99)] {
            for step in 0..=30 {
                let d = f64::from(step) / 30.0;
                let (ours, theirs) = (lower_tail(n, m, d), plain(n, m, d));
                assert!((ours - theirs).abs() <= 1e-12 * theirs.max(1e-300), "{n} {m} {d}: {ours} {theirs}");
            }
        }
    }

    // Proves that the work grows with the band and not with the square of the samples: at 20,000 against 20,000 values
    // the critical distance looks at less than a hundredth of the lattice.
    #[test]
    fn work_is_the_band() {
        let n = 20_000;
        let d = critical(n, n, Alpha::DEFAULT).expect("enough values");
        assert!(lower_tail(n, n, d) <= 1e-7 && lower_tail(n, n, d + 1.0 / n as f64) > 1e-7, "{d}");
        let band = Band::new(n, n, d);
        let cells: usize = (0..=n).map(|i| band.row(i)).map(|(from, to)| to + 1 - from).sum();
        assert!(cells < n * n / 100, "{cells} cells");
    }
}
