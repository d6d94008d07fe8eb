//! Binomial and normal tails: the only distribution functions the tests need.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// P(Bin(`n`, `p`) >= `m`); NaN unless `0 <= p <= 1`.
#[must_use]
pub fn binomial_at_least(n: usize, p: f64, m: usize) -> f64 {
    match (m, Binomial::new(p, n as u64)) {
        (_, Err(_)) => f64::NAN,
        (0, _) => 1.0,
        (m, Ok(law)) => law.sf(m as u64 - 1),
    }
}

/// Smallest `c` with P(Bin(`n`, `p`) > `c`) <= `alpha`; `n` when `p` is no probability.
#[must_use]
pub fn binomial_upper(n: usize, p: f64, alpha: f64) -> usize {
    // NaN compares false, so a `p` that is no probability walks to `n`: the value that never rejects.
    let start = if p.is_finite() { (n as f64 * p.clamp(0.0, 1.0)) as usize } else { n };
    (start..n).find(|&c| binomial_at_least(n, p, c + 1) <= alpha).unwrap_or(n)
}

/// The standard normal value exceeded with probability `alpha`; NaN unless `0 < alpha < 1`.
#[must_use]
pub fn normal_upper(alpha: f64) -> f64 {
    if !(alpha > 0.0 && alpha < 1.0) {
        return f64::NAN;
    }
    // The lower tail keeps its digits where 1 - alpha would have lost them.
    -Normal::standard().inverse_cdf(alpha)
}

/// P(Z > `z`) of a standard normal Z.
#[must_use]
pub fn normal_at_least(z: f64) -> f64 {
    Normal::standard().sf(z)
}
