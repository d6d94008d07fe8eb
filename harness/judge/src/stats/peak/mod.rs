//! Test 8, peak window: the most retries that arrive in one window.
//!
//! For a synchronised herd of n clients the declared law gives the expected profile of retries over time; m* is the
//! smallest count for which the chances that some window holds m* or more, summed over windows, stay at most alpha. Every
//! sliding window of length W lies in one of the windows of length 1.1 W that start at multiples of W / 10. The chance of
//! one window is Chernoff's bound for the sum of n clients whose retries fall into it with the profile's probabilities.
//!
//! The bound treats the retries of one client as independent of each other. That holds well while the window is short
//! against the base; for a window of the order of the base, m* comes close to all retries and decides little.
//!
//! Unlike the tests of the gaps, the profile knows no noise: `slack` widens the windows by what noise may push together.

mod expected;
mod profile;

use std::time::Duration;

use thiserror::Error;

use super::{Alpha, Tail, TestName, TestResult};
use crate::law::Law;
use crate::{duration, stats::gap_scan};

pub use expected::{Expected, expected};
pub use profile::Profile;

/// A synchronised herd and the window its peak is measured in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Herd {
    /// Clients that fail together.
    pub clients: usize,
    /// Retries of each.
    pub retries: usize,
    /// Length of the window.
    pub window: Duration,
    /// What noise may push together: windows are judged as if they were this much longer.
    pub slack: Duration,
    /// Level.
    pub alpha: Alpha,
    /// Whether the window slides, or stands at multiples of its length.
    pub sliding: bool,
}

/// Why there is no threshold.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PeakError {
    /// The herd is empty or the window has no length.
    #[error("a peak needs clients, retries and a window longer than zero")]
    Nothing,
    /// The profile would need too many cells.
    #[error(
        "a window of {window} is too short for retries that spread over {span}: declare a longer window, fewer retries or a cap"
    )]
    TooFine {
        /// The window.
        window: String,
        /// How far the arrivals spread.
        span: String,
    },
}

/// m*: the smallest number of retries in one window that rules the law out. One more than all retries when no number does.
///
/// # Errors
/// [`PeakError`] for an empty herd or a window far shorter than the law's reach.
pub fn threshold(herd: &Herd, law: &Law) -> Result<usize, PeakError> {
    Ok(Windows::new(herd, law)?.threshold(herd))
}

/// Compares the fullest window of `arrivals` (retries only; seconds, any origin, any order) with m*.
///
/// # Errors
/// [`PeakError`], as [`threshold`].
pub fn test(arrivals: &[f64], herd: &Herd, law: &Law) -> Result<TestResult, PeakError> {
    let windows = Windows::new(herd, law)?;
    let critical = windows.threshold(herd);
    let seconds = herd.window.as_secs_f64();
    let (count, start) = if herd.sliding { max_sliding(arrivals, seconds) } else { max_aligned(arrivals, seconds) };
    let first = arrivals.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(TestResult {
        name: TestName::PeakWindow,
        statistic: if arrivals.iter().all(|t| t.is_finite()) { count as f64 } else { f64::NAN },
        critical: critical as f64,
        rejected: count >= critical,
        tail: windows.tail(herd, count),
        detail: format!(
            "{count} of {} retries of {} clients arrive within {} from {:.0} ms after the first retry on; the declared law \
             expects at most {:.0} there on average, and {critical} or more rule it out",
            arrivals.len(),
            herd.clients,
            duration::format(herd.window),
            1e3 * (start - first),
            windows.expected(herd),
        ),
    })
}

/// The largest number of arrivals in any window of `window` seconds, and where it starts (NaN without arrivals).
#[must_use]
pub fn max_sliding(arrivals: &[f64], window: f64) -> (usize, f64) {
    gap_scan::fullest(arrivals, window)
}

/// The largest number of arrivals in a window that starts at a multiple of `window` seconds, and where it starts.
#[must_use]
pub fn max_aligned(arrivals: &[f64], window: f64) -> (usize, f64) {
    let mut cells: Vec<f64> = arrivals.iter().map(|t| (t / window).floor()).collect();
    cells.sort_by(f64::total_cmp);
    let fullest = cells.chunk_by(|a, b| a == b).max_by(|a, b| a.len().cmp(&b.len()).then(b[0].total_cmp(&a[0])));
    fullest.map_or((0, f64::NAN), |cell| (cell.len(), cell[0] * window))
}

/// For each window the probability that retry k of a client falls into it.
struct Windows(Vec<Vec<f64>>);

impl Windows {
    fn new(herd: &Herd, law: &Law) -> Result<Windows, PeakError> {
        let profile = Profile::new(law, herd.retries, herd.window)?;
        if herd.clients == 0 {
            return Err(PeakError::Nothing);
        }
        let tenth = profile.cells_per_window() / 10;
        let step = if herd.sliding { tenth } else { profile.cells_per_window() };
        let slack = (herd.slack.as_secs_f64() / profile.cell()).ceil() as usize;
        let width = profile.cells_per_window() + slack + if herd.sliding { tenth } else { 0 };
        Ok(Windows(profile.windows(step, width)))
    }

    fn expected(&self, herd: &Herd) -> f64 {
        herd.clients as f64 * self.0.iter().map(|mu| mu.iter().sum::<f64>()).fold(0.0, f64::max)
    }

    /// Union bound on the chance that some window holds `m` or more.
    fn chance(&self, herd: &Herd, m: usize) -> f64 {
        let mut total = 0.0;
        for mu in &self.0 {
            total += chernoff(herd.clients as f64, mu, m as f64);
            if total >= 1.0 {
                return 1.0;
            }
        }
        total
    }

    fn tail(&self, herd: &Herd, m: usize) -> Tail {
        Tail::at_most(self.chance(herd, m))
    }

    fn threshold(&self, herd: &Herd) -> usize {
        // The chance falls with m: bisect for the first m at or below the level.
        let (mut lo, mut hi) = (0, herd.clients * herd.retries + 1);
        while hi - lo > 1 {
            let middle = lo + (hi - lo) / 2;
            if self.chance(herd, middle) <= herd.alpha.get() {
                hi = middle;
            } else {
                lo = middle;
            }
        }
        hi
    }
}

/// min over s of exp(n sum ln(1 + mu_k (e^s - 1)) - s m): Chernoff's bound on P(count >= m).
fn chernoff(n: f64, mu: &[f64], m: f64) -> f64 {
    let mean = n * mu.iter().sum::<f64>();
    if mean <= 0.0 {
        return 0.0;
    }
    if m <= mean {
        return 1.0;
    }
    let exponent = |s: f64| n * mu.iter().map(|p| (p * s.exp_m1()).ln_1p()).sum::<f64>() - s * m;
    // Convex in s: golden section. Beyond 40 the bound no longer matters.
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut lo, mut hi) = (0.0, 40.0);
    let (mut x, mut y) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
    let (mut fx, mut fy) = (exponent(x), exponent(y));
    for _ in 0..48 {
        if fx < fy {
            (hi, y, fy) = (y, x, fx);
            x = hi - golden * (hi - lo);
            fx = exponent(x);
        } else {
            (lo, x, fx) = (x, y, fy);
            y = lo + golden * (hi - lo);
            fy = exponent(y);
        }
    }
    fx.min(fy).min(0.0).exp()
}
