//! The declared backoff law: one value that configures a client and judges it.
//!
//! A law says how long a client waits before each retry. Retries are counted from 0: retry `k` is attempt `k + 2`, and
//! the wait in front of it is *gap* `k`. With `d_k = min(cap, base * factor^(k + first_exponent))` the known laws are
//!
//! | name | delay before retry `k` | shipped by |
//! |---|---|---|
//! | `immediate` | 0 | naive loops |
//! | `fixed` | base | many hand-written clients |
//! | `exponential` | d_k | un-jittered clients |
//! | `full` | U(0, d_k) | AWS standard mode, gax, gRPC before 2024 |
//! | `equal` | U(d_k / 2, d_k) | AWS article |
//! | `decorrelated` | min(cap, U(base, factor * previous delay)) | AWS article; its factor is 3 |
//! | `plus_minus` | U((1 - spread) d_k, (1 + spread) d_k) | resilience4j, cenkalti/backoff |
//! | `scaled` | U(lo * d_k, hi * d_k) | gRPC A6 (0.8, 1.2), Spring (1, m) |
//! | `additive_ratio` | d_k + U(0, ratio * d_k) | tower, axios-retry |
//! | `additive_fixed` | d_k + U(0, jitter) | got |
//! | `capped_additive` | min(cap, base * factor^(k + first_exponent) + U(0, jitter)) | tenacity |
//! | `envoy` | U(0, min(cap, (2^(k+1) - 1) * base)) | Envoy |
//! | `table` | U(lo_k, hi_k), the last row for every later retry | anything else |
//!
//! Except for `capped_additive` and `decorrelated` the cap applies to the ceiling, before the jitter.
//!
//! ```
//! use std::time::Duration;
//! use judge::law::LawSpec;
//!
//! let law = LawSpec::full(Duration::from_millis(200)).cap(Duration::from_secs(5)).build()?;
//! assert_eq!(law.support(1), (0.0, 0.4));
//! assert_eq!(law.delay(1, None).cdf(0.1), 0.25);
//! assert_eq!(law.describe(), "full jitter: U(0, 200ms * 2^k), cap 5s");
//! # Ok::<(), judge::law::LawError>(())
//! ```

mod builder;
mod delay;
mod describe;
mod error;
mod spec;
mod validate;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use delay::Delay;
pub use error::LawError;
pub use spec::{LawName, LawSpec, Row};

/// Delays longer than this are treated as this: 30 years keep every computation finite without a cap.
const FOREVER: f64 = 1e9;

/// A validated backoff law. Built by [`LawSpec::build`] or read from a flat table such as
/// `{ law = "full", base = "200ms", cap = "5s" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LawSpec", into = "LawSpec")]
pub struct Law {
    spec: LawSpec,
}

impl Law {
    /// No wait at all: each retry follows its failure at once.
    #[must_use]
    pub fn immediate() -> Law {
        Law { spec: LawSpec::immediate() }
    }

    /// The parameters, as they are written in a contract.
    #[must_use]
    pub fn spec(&self) -> &LawSpec {
        &self.spec
    }

    /// The name of the law.
    #[must_use]
    pub fn name(&self) -> LawName {
        self.spec.law
    }

    /// The base delay; zero for `immediate` and `table`.
    #[must_use]
    pub fn base(&self) -> Duration {
        self.spec.base.unwrap_or_default()
    }

    /// The cap, when there is one.
    #[must_use]
    pub fn cap(&self) -> Option<Duration> {
        self.spec.cap
    }

    /// The growth factor: 2 unless declared, 3 for `decorrelated`.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.spec.factor.unwrap_or(if self.name() == LawName::Decorrelated { 3.0 } else { 2.0 })
    }

    /// The exponent of the growth factor at the first retry; 0 unless declared.
    #[must_use]
    pub fn first_exponent(&self) -> i32 {
        self.spec.first_exponent.unwrap_or(0)
    }

    /// Whether the law of a gap depends on the gap before it (`decorrelated`).
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.name() == LawName::Decorrelated
    }

    /// The distribution of the delay before retry `k`, in seconds. `previous` is the delay before retry `k - 1`; only
    /// the decorrelated law reads it, and `None` stands for its start value, the base.
    #[must_use]
    pub fn delay(&self, k: usize, previous: Option<f64>) -> Delay {
        let base = self.base().as_secs_f64();
        let cap = self.cap().map_or(FOREVER, |c| c.as_secs_f64());
        let d = self.nominal(k);
        let spec = &self.spec;
        match self.name() {
            LawName::Immediate => Delay::atom(0.0),
            LawName::Fixed => Delay::atom(base),
            LawName::Exponential => Delay::atom(d),
            LawName::Full => Delay::uniform(0.0, d),
            LawName::Equal => Delay::uniform(d / 2.0, d),
            LawName::Decorrelated => {
                let previous = previous.unwrap_or(base).clamp(base, cap);
                Delay::clipped(base, (previous * self.factor()).clamp(base, FOREVER), cap)
            }
            LawName::PlusMinus => {
                let spread = spec.spread.unwrap_or(0.0);
                Delay::uniform(d * (1.0 - spread), d * (1.0 + spread))
            }
            LawName::Scaled => Delay::uniform(d * spec.lo.unwrap_or(1.0), d * spec.hi.unwrap_or(1.0)),
            LawName::AdditiveRatio => Delay::uniform(d, d * (1.0 + spec.ratio.unwrap_or(0.0))),
            LawName::AdditiveFixed => Delay::uniform(d, d + spec.jitter.unwrap_or_default().as_secs_f64()),
            LawName::CappedAdditive => {
                let raw = self.uncapped(k);
                Delay::clipped(raw, raw + spec.jitter.unwrap_or_default().as_secs_f64(), cap)
            }
            LawName::Envoy => {
                let exponent = i32::try_from(k).unwrap_or(i32::MAX).saturating_add(1);
                Delay::uniform(0.0, (base * (2f64.powi(exponent) - 1.0)).min(cap).min(FOREVER))
            }
            LawName::Table => match spec.table.get(k).or(spec.table.last()) {
                Some(row) => Delay::uniform(row.lo.as_secs_f64(), row.hi.as_secs_f64()),
                None => Delay::atom(0.0),
            },
        }
    }

    /// `base * factor^(k + first_exponent)`, in seconds, before the cap.
    fn uncapped(&self, k: usize) -> f64 {
        let exponent = i32::try_from(k).unwrap_or(i32::MAX).saturating_add(self.first_exponent());
        (self.base().as_secs_f64() * self.factor().powi(exponent)).min(FOREVER)
    }

    /// `d_k` of the module's table, in seconds: the un-jittered delay (or ceiling) before retry `k`.
    #[must_use]
    pub fn nominal(&self, k: usize) -> f64 {
        self.uncapped(k).min(self.cap().map_or(FOREVER, |c| c.as_secs_f64()))
    }

    /// Whether the growth has reached the cap before retry `k`: from there on every delay is drawn alike. Never without a
    /// cap.
    #[must_use]
    pub fn is_capped(&self, k: usize) -> bool {
        self.cap().is_some_and(|cap| self.uncapped(k) >= cap.as_secs_f64())
    }

    /// Smallest and largest delay before retry `k`, in seconds, over all histories.
    #[must_use]
    pub fn support(&self, k: usize) -> (f64, f64) {
        if !self.is_conditional() {
            return self.delay(k, None).support();
        }
        let mut longest = self.delay(0, None).support().1;
        for step in 1..=k {
            longest = self.delay(step, Some(longest)).support().1;
        }
        (self.base().as_secs_f64().min(longest), longest)
    }

    /// The same as lengths of time; a delay longer than any is [`Duration::MAX`].
    #[must_use]
    pub fn waits(&self, k: usize) -> (Duration, Duration) {
        let length = |seconds: f64| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        let (shortest, longest) = self.support(k);
        (length(shortest), length(longest))
    }

    /// Length of the support before retry `k`, in seconds.
    #[must_use]
    pub fn width(&self, k: usize) -> f64 {
        let (lo, hi) = self.support(k);
        hi - lo
    }

    /// Whether the delay before retry `k` is one fixed value.
    #[must_use]
    pub fn is_atom(&self, k: usize) -> bool {
        self.width(k) <= 0.0
    }

    /// The support before retry `k` when the delay is plainly uniform on it, whatever went before; `None` for atoms,
    /// for laws with an atom at their cap, and for conditional laws.
    #[must_use]
    pub fn uniform(&self, k: usize) -> Option<(f64, f64)> {
        let delay = self.delay(k, None);
        (!self.is_conditional() && delay.is_uniform()).then(|| delay.support())
    }
}

#[cfg(test)]
mod tests;
