//! Test 6, gap scan: gaps of one attempt crowded into a short window.
//!
//! For each retry k with a uniform delay of width w_k it takes the largest number of gaps inside any window of 25 ms and
//! rejects from the smallest m with cells * P(Bin(n, p) >= m) <= alpha / K. The delays behind the gaps of one such window
//! lie in a window longer by `eps` and `early`, v = 25 ms + eps + early; every window of length v lies in one of the
//! cells = w_k / (v / 10) windows of length 1.1 v that start at multiples of v / 10, hence p = 1.1 v / w_k. Exact for
//! every noise. It finds atoms: un-jittered sub-fleets, caps that swallow the jitter, timer wheels.
//!
//! Source: union bound over overlapping cells, the usual bound of the scan statistic. False alarms: at most alpha.

use super::quantile::binomial_at_least;
use super::{Sample, Skipped, Tail, TestName, TestResult};

/// Length of the window, in seconds.
pub const WINDOW: f64 = 0.025;

/// Number of cells and probability of one, for a window of `window` seconds widened by `slack` on a law of width `width`.
fn cells(width: f64, window: f64, slack: f64) -> (f64, f64) {
    let v = window + slack;
    ((width / (0.1 * v)).max(1.0), (1.1 * v / width).min(1.0))
}

/// Bound on the chance that some window of `window` seconds holds `m` or more of `n` gaps; `slack` = eps + early.
#[must_use]
pub fn tail(n: usize, width: f64, window: f64, slack: f64, m: usize) -> f64 {
    let (cells, p) = cells(width, window, slack);
    cells * binomial_at_least(n, p, m)
}

/// Smallest count that is ruled out at `alpha` (a share already split); `n + 1` when none is.
#[must_use]
pub fn threshold(n: usize, width: f64, window: f64, slack: f64, alpha: f64) -> usize {
    let (_, p) = cells(width, window, slack);
    let first = (n as f64 * p) as usize + 1;
    (first..=n).find(|&m| tail(n, width, window, slack, m) <= alpha).unwrap_or(n + 1)
}

/// Largest number of values inside any half-open window `[x, x + window)`, and where the first such window starts. A window
/// of no length holds nothing.
#[must_use]
pub fn fullest(values: &[f64], window: f64) -> (usize, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut best, mut first) = ((0, f64::NAN), 0);
    for (last, &x) in sorted.iter().enumerate() {
        while first <= last && x - sorted[first] >= window {
            first += 1;
        }
        let count = last + 1 - first;
        if count > best.0 {
            best = (count, sorted[first]);
        }
    }
    best
}

/// Scans each attempt.
///
/// # Errors
/// [`Skipped`] unless some attempt has a declared uniform delay wide enough for its count to mean anything.
pub fn test(sample: &Sample<'_>) -> Result<TestResult, Skipped> {
    let slack = sample.settings.eps_secs() + sample.settings.early_secs();
    let columns = sample.uniform_columns(2);
    let mut worst: Option<(f64, TestResult)> = None;
    for &(k, gaps, (lo, hi)) in &columns {
        let (n, width) = (gaps.len(), hi - lo);
        let critical = threshold(n, width, WINDOW, slack, sample.settings.alpha.split(columns.len()));
        if critical > n {
            continue;
        }
        let (count, start) = fullest(gaps, WINDOW);
        let margin = count as f64 / critical as f64;
        if worst.as_ref().is_none_or(|(seen, _)| *seen < margin) {
            let result = TestResult {
                name: TestName::GapScan,
                statistic: count as f64,
                critical: critical as f64,
                rejected: count >= critical,
                tail: Tail::at_most(columns.len() as f64 * tail(n, width, WINDOW, slack, count)),
                detail: format!(
                    "{count} of {n} gaps before retry {} lie within 25 ms from {:.0} ms on; {critical} or more rule the \
                     law out",
                    k + 1,
                    1e3 * start
                ),
            };
            worst = Some((margin, result));
        }
    }
    worst.map(|(_, result)| result).ok_or_else(|| Skipped {
        name: TestName::GapScan,
        reason: "no attempt has a declared uniform delay much wider than the window and the noise".to_owned(),
    })
}
