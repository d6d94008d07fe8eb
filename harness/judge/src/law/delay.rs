//! The distribution of one delay.

use serde::{Deserialize, Serialize};

/// The law of one delay, in seconds: `min(ceiling, U(lo, hi))`.
///
/// This one family covers every known law: `lo = hi` is an atom, a ceiling inside `(lo, hi)` puts an atom at the
/// ceiling, and everything else is a plain uniform.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delay {
    lo: f64,
    hi: f64,
    ceiling: f64,
}

impl Delay {
    /// Always `at`.
    #[must_use]
    pub fn atom(at: f64) -> Delay {
        Delay { lo: at, hi: at, ceiling: at }
    }

    /// Uniform on `[lo, hi]`.
    #[must_use]
    pub fn uniform(lo: f64, hi: f64) -> Delay {
        Delay { lo, hi, ceiling: hi }
    }

    /// Uniform on `[lo, hi]`, but never more than `ceiling`.
    #[must_use]
    pub fn clipped(lo: f64, hi: f64, ceiling: f64) -> Delay {
        Delay { lo, hi, ceiling: ceiling.min(hi) }
    }

    /// Smallest and largest value.
    #[must_use]
    pub fn support(&self) -> (f64, f64) {
        (self.lo.min(self.ceiling), self.ceiling)
    }

    /// Whether there is only one value.
    #[must_use]
    pub fn is_atom(&self) -> bool {
        self.lo >= self.ceiling
    }

    /// Whether the value is uniform on the support, without an atom.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.lo < self.hi && self.ceiling >= self.hi
    }

    /// The probability of exactly the largest value: 1 for an atom, 0 for a plain uniform.
    #[must_use]
    pub fn atom_mass(&self) -> f64 {
        if self.is_atom() { 1.0 } else { (self.hi - self.ceiling) / (self.hi - self.lo) }
    }

    /// P(delay <= x).
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        if x >= self.ceiling { 1.0 } else { self.ramp(x) }
    }

    /// P(delay < x): differs from [`cdf`](Self::cdf) only at an atom.
    #[must_use]
    pub fn cdf_before(&self, x: f64) -> f64 {
        if x > self.ceiling { 1.0 } else { self.ramp(x) }
    }

    /// The distribution function of the uniform part, left of the ceiling.
    fn ramp(&self, x: f64) -> f64 {
        if x <= self.lo || self.is_atom() { 0.0 } else { ((x - self.lo) / (self.hi - self.lo)).min(1.0) }
    }

    /// The value at the quantile `u` in [0, 1].
    #[must_use]
    pub fn quantile(&self, u: f64) -> f64 {
        (self.lo + u * (self.hi - self.lo)).min(self.ceiling)
    }
}
