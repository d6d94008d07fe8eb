//! The one-sided DKW test: too many values that are too low, or too many that are too high.
//!
//! Of each value only an end is known: an upper end `b` of its uniform variable U for the test of low values, a lower end
//! `a` for that of high ones. With n values the statistic is sup over u of EDF_b(u) - u, or of u - EDF_a(u), and it rejects
//! above sqrt(ln(1 / alpha) / (2 n)).
//!
//! Source: Massart 1990, whose one-sided bound exp(-2 n d^2) holds for every n as long as it is at most 1/2. EDF_b never
//! exceeds, and EDF_a never falls below, the EDF of the U themselves, so each test holds its level whatever the ends leave
//! open. It also holds when the U are only stochastically larger (for low values) than uniform ones, each given those
//! before it: uniform variables can then be drawn together with them, none above its own.

use super::Tail;

/// The largest level at which Massart's bound is proven; a larger one is treated as this.
const LARGEST: f64 = 0.5;

/// The distance above which `n` values are ruled out at `level`.
#[must_use]
pub fn critical(n: usize, level: f64) -> f64 {
    ((1.0 / level.min(LARGEST)).ln() / (2.0 * n as f64)).sqrt()
}

/// The bound on P(distance >= `d`) for `n` values that keep to the law.
#[must_use]
pub fn tail(n: usize, d: f64) -> Tail {
    if d > 0.0 { Tail::at_most((-2.0 * n as f64 * d * d).exp()) } else { Tail::at_most(1.0) }
}

/// The distance of values that are too low, by their upper ends, and the u where it is attained. NaN without values.
#[must_use]
pub fn too_low(upper: &[f64]) -> (f64, f64) {
    let n = upper.len() as f64;
    widest(upper, |i, b| (i + 1) as f64 / n - b)
}

/// The distance of values that are too high, by their lower ends, and the u where it is attained. NaN without values.
#[must_use]
pub fn too_high(lower: &[f64]) -> (f64, f64) {
    let n = lower.len() as f64;
    widest(lower, |i, a| a - i as f64 / n)
}

/// The largest distance over the sorted ends, and the end where it is.
fn widest(ends: &[f64], distance: impl Fn(usize, f64) -> f64) -> (f64, f64) {
    let mut ends: Vec<f64> = ends.iter().map(|u| u.clamp(0.0, 1.0)).collect();
    ends.sort_by(f64::total_cmp);
    let all = ends.iter().enumerate().map(|(i, &u)| (distance(i, u), u));
    all.reduce(|best, next| if next.0 > best.0 { next } else { best }).unwrap_or((f64::NAN, f64::NAN))
}
