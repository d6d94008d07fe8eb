//! Extreme quantiles of the standard deviation of uniform draws, by importance sampling.
//!
//! For n uniform draws with standard deviation sigma the tests need q with P(s / sigma < q) = 1e-8 and the like: far too
//! rare to be seen by plain simulation. The proposal tilts the uniform density by exp(theta (x - m)^2): theta < 0 pulls
//! the draws towards a centre m (small s), theta > 0 pushes them to the ends (large s). A small s may gather anywhere,
//! so the lower tail uses a mixture over nineteen centres; weighting with the inverse density of the whole mixture keeps
//! the estimate unbiased. The quantile is taken where estimate *plus three standard errors* meets the level, so the
//! sampler errs to the side of fewer false alarms.
//!
//! Source: exponential tilting (Siegmund 1976); mixture weights (Owen and Zhou 2000). Deterministic: the seed is fixed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Which tail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Standard deviations that are too small.
    Lower,
    /// Standard deviations that are too large.
    Upper,
}

const SEED: u64 = 0x5d_7a11;
/// Points of the grid on [0, 1] that carries a proposal.
const GRID: usize = 501;
/// Entries of the guide table that shortens the search in a distribution function.
const GUIDE: usize = 1024;
/// Draws that locate the quantile, and rounds of it.
const SCOUT: (usize, usize) = (1_000, 7);
/// Draws that fix it.
const FINAL: usize = 20_000;
/// sigma of U(0, 1) is 1 / sqrt(12).
const TWELVE: f64 = 12.0;

/// q with P(s / sigma < q) <= `alpha` (lower) or P(s / sigma > q) <= `alpha` (upper) for `n` uniform draws; s has the
/// divisor n - 1. `alpha` is the level of this one tail. Falls back to the value that never rejects (0, or the largest
/// possible ratio) when `n < 3` or the tail is beyond what `n` draws can show.
#[must_use]
pub fn quantile(n: usize, alpha: f64, side: Side) -> f64 {
    let never = match side {
        Side::Lower => 0.0,
        Side::Upper => (3.0 * n as f64 / (n.max(2) as f64 - 1.0)).sqrt(),
    };
    if n < 3 || !(alpha > 0.0 && alpha < 0.5) {
        return never;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    // The normal approximation is a fair first guess; the scouts walk from there to the quantile.
    let spread = super::quantile::normal_upper(alpha) * (0.2 / n as f64).sqrt();
    let mut q = match side {
        Side::Lower => (1.0 - spread).max(0.15),
        Side::Upper => (1.0 + spread).min(0.98 * never),
    };
    for _ in 0..SCOUT.1 {
        q = Proposal::at(q, n, side).estimate(&mut rng, n, alpha, SCOUT.0, 0.0).unwrap_or(q);
    }
    Proposal::at(q, n, side).estimate(&mut rng, n, alpha, FINAL, 3.0).unwrap_or(never)
}

/// One tilted density.
struct Tilt {
    centre: f64,
    theta: f64,
    log_norm: f64,
    cdf: Vec<f64>,
    /// For each i the first grid point whose distribution function exceeds i / GUIDE.
    guide: Vec<usize>,
}

/// A mixture of tilted densities with equal weights, tuned so that a typical draw has s / sigma = q.
struct Proposal {
    side: Side,
    tilts: Vec<Tilt>,
}

impl Proposal {
    fn at(q: f64, n: usize, side: Side) -> Proposal {
        let target = q * q / TWELVE * (n as f64 - 1.0) / n as f64;
        let tilts = match side {
            Side::Lower => (1..20).map(|i| Tilt::new(f64::from(i) / 20.0, target, -6_000.0, 0.0)).collect(),
            Side::Upper => vec![Tilt::new(0.5, target, 0.0, 6_000.0)],
        };
        Proposal { side, tilts }
    }

    /// The quantile at `alpha` from `draws` weighted samples, on the safe side by `errors` standard errors. `None` when
    /// the weights do not reach the level.
    fn estimate(&self, rng: &mut ChaCha8Rng, n: usize, alpha: f64, draws: usize, errors: f64) -> Option<f64> {
        let mut weighted: Vec<(f64, f64)> = (0..draws).map(|_| self.draw(rng, n)).collect();
        weighted.sort_by(|a, b| match self.side {
            Side::Lower => a.0.total_cmp(&b.0),
            Side::Upper => b.0.total_cmp(&a.0),
        });
        let (mut sum, mut squares, total) = (0.0, 0.0, draws as f64);
        let mut last = None;
        for (ratio, weight) in weighted {
            sum += weight;
            squares += weight * weight;
            let mean = sum / total;
            let error = ((squares / total - mean * mean).max(0.0) / total).sqrt();
            if mean + errors * error > alpha {
                return last;
            }
            last = Some(ratio);
        }
        // All of the mass fits below the level: the proposal sits too far out, so its nearest value is the next guess.
        last
    }

    /// One sample: (s / sigma, density of the uniform over density of the mixture).
    fn draw(&self, rng: &mut ChaCha8Rng, n: usize) -> (f64, f64) {
        let tilt = &self.tilts[rng.random_range(0..self.tilts.len())];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = tilt.sample(rng.random::<f64>());
            sum += x;
            squares += x * x;
        }
        let n = n as f64;
        let log = |t: &Tilt| t.theta * (squares - 2.0 * t.centre * sum + n * t.centre * t.centre) - n * t.log_norm;
        let most = self.tilts.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
        let mean = self.tilts.iter().map(|t| (log(t) - most).exp()).sum::<f64>() / self.tilts.len() as f64;
        let variance = ((squares - sum * sum / n) / (n - 1.0)).max(0.0);
        ((variance * TWELVE).sqrt(), (-(most + mean.ln())).exp())
    }
}

impl Tilt {
    /// The tilt around `centre` under which (x - centre)^2 has mean `target`, theta sought in `[lo, hi]`.
    fn new(centre: f64, target: f64, mut lo: f64, mut hi: f64) -> Tilt {
        let step = 1.0 / (GRID - 1) as f64;
        let squares: Vec<f64> = (0..GRID).map(|i| i as f64 * step - centre).map(|x| x * x).collect();
        let largest = squares.iter().copied().fold(0.0, f64::max);
        let density = |theta: f64| -> Vec<f64> {
            let peak = (theta * largest).max(0.0);
            squares.iter().map(|y| (theta * y - peak).exp()).collect()
        };
        for _ in 0..18 {
            let theta = (lo + hi) / 2.0;
            let weights = density(theta);
            let mean = weights.iter().zip(&squares).map(|(w, y)| w * y).sum::<f64>() / weights.iter().sum::<f64>();
            if mean < target {
                lo = theta;
            } else {
                hi = theta;
            }
        }
        let theta = (lo + hi) / 2.0;
        let weights = density(theta);
        let mut cdf = Vec::with_capacity(GRID);
        let mut sum = 0.0;
        cdf.push(0.0);
        for pair in weights.windows(2) {
            sum += (pair[0] + pair[1]) / 2.0;
            cdf.push(sum);
        }
        for value in &mut cdf {
            *value /= sum;
        }
        let log_norm = (sum * step).ln() + (theta * largest).max(0.0);
        let guide = (0..GUIDE).map(|i| cdf.partition_point(|&c| c <= i as f64 / GUIDE as f64)).collect();
        Tilt { centre, theta, log_norm, cdf, guide }
    }

    /// The value at quantile `u`.
    fn sample(&self, u: f64) -> f64 {
        let mut right = self.guide[(u * GUIDE as f64) as usize].clamp(1, GRID - 1);
        while right < GRID - 1 && self.cdf[right] <= u {
            right += 1;
        }
        let (below, above) = (self.cdf[right - 1], self.cdf[right]);
        let within = if above > below { (u - below) / (above - below) } else { 0.5 };
        (right as f64 - 1.0 + within) / (GRID - 1) as f64
    }
}
