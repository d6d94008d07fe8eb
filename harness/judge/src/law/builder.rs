//! Building a law in Rust: one constructor for each law, then its options.

use std::time::Duration;

use super::{LawName, LawSpec, Row};

impl LawSpec {
    /// A law with that name and no parameters yet.
    #[must_use]
    pub fn new(law: LawName) -> LawSpec {
        LawSpec {
            law,
            base: None,
            cap: None,
            factor: None,
            first_exponent: None,
            spread: None,
            lo: None,
            hi: None,
            ratio: None,
            jitter: None,
            table: Vec::new(),
        }
    }

    fn with_base(law: LawName, base: Duration) -> LawSpec {
        LawSpec { base: Some(base), ..LawSpec::new(law) }
    }

    /// No wait.
    #[must_use]
    pub fn immediate() -> LawSpec {
        LawSpec::new(LawName::Immediate)
    }

    /// Always `base`.
    #[must_use]
    pub fn fixed(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Fixed, base)
    }

    /// Exponential growth from `base`, un-jittered.
    #[must_use]
    pub fn exponential(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Exponential, base)
    }

    /// Full jitter.
    #[must_use]
    pub fn full(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Full, base)
    }

    /// Equal jitter.
    #[must_use]
    pub fn equal(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Equal, base)
    }

    /// Decorrelated jitter with the usual factor of 3.
    #[must_use]
    pub fn decorrelated(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Decorrelated, base)
    }

    /// Plus or minus a share: `spread` 0.25 means plus or minus 25 %.
    #[must_use]
    pub fn plus_minus(base: Duration, spread: f64) -> LawSpec {
        LawSpec { spread: Some(spread), ..LawSpec::with_base(LawName::PlusMinus, base) }
    }

    /// The delay times a factor that is uniform on `[lo, hi]`.
    #[must_use]
    pub fn scaled_by(base: Duration, lo: f64, hi: f64) -> LawSpec {
        LawSpec { lo: Some(lo), hi: Some(hi), ..LawSpec::with_base(LawName::Scaled, base) }
    }

    /// The delay plus up to `ratio` of itself.
    #[must_use]
    pub fn additive_ratio(base: Duration, ratio: f64) -> LawSpec {
        LawSpec { ratio: Some(ratio), ..LawSpec::with_base(LawName::AdditiveRatio, base) }
    }

    /// The delay plus up to `jitter`.
    #[must_use]
    pub fn additive_fixed(base: Duration, jitter: Duration) -> LawSpec {
        LawSpec { jitter: Some(jitter), ..LawSpec::with_base(LawName::AdditiveFixed, base) }
    }

    /// The delay plus up to `jitter`, the sum never more than `cap`.
    #[must_use]
    pub fn capped_additive(base: Duration, jitter: Duration, cap: Duration) -> LawSpec {
        LawSpec { jitter: Some(jitter), cap: Some(cap), ..LawSpec::with_base(LawName::CappedAdditive, base) }
    }

    /// Envoy's law.
    #[must_use]
    pub fn envoy(base: Duration) -> LawSpec {
        LawSpec::with_base(LawName::Envoy, base)
    }

    /// One interval for each retry.
    #[must_use]
    pub fn table(rows: impl IntoIterator<Item = (Duration, Duration)>) -> LawSpec {
        LawSpec { table: rows.into_iter().map(|(lo, hi)| Row { lo, hi }).collect(), ..LawSpec::new(LawName::Table) }
    }

    /// Sets the longest delay or ceiling.
    #[must_use]
    pub fn cap(self, cap: Duration) -> LawSpec {
        LawSpec { cap: Some(cap), ..self }
    }

    /// Sets the growth from one retry to the next.
    #[must_use]
    pub fn factor(self, factor: f64) -> LawSpec {
        LawSpec { factor: Some(factor), ..self }
    }

    /// Sets the exponent of the factor at the first retry.
    #[must_use]
    pub fn first_exponent(self, exponent: i32) -> LawSpec {
        LawSpec { first_exponent: Some(exponent), ..self }
    }
}
