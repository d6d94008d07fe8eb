//! The written form of a law: builder, flat table, validation.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Law, LawError};
use crate::duration;

/// Longer waits are typing errors, and the arithmetic of [`Law`] stays far from its limits.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// The names of the known laws, as a contract writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LawName {
    /// No wait.
    Immediate,
    /// The base, always.
    Fixed,
    /// Exponential growth without jitter.
    Exponential,
    /// Uniform between zero and the ceiling.
    Full,
    /// Uniform between half the ceiling and the ceiling.
    Equal,
    /// Uniform between the base and a multiple of the delay before.
    Decorrelated,
    /// The ceiling plus or minus a share of it.
    PlusMinus,
    /// The ceiling times a uniform factor.
    Scaled,
    /// The ceiling plus up to a share of it.
    AdditiveRatio,
    /// The ceiling plus up to a fixed time.
    AdditiveFixed,
    /// Like `AdditiveFixed`, but capped after the jitter was added.
    CappedAdditive,
    /// Envoy's fully jittered law with ceilings 1, 3, 7, ... times the base.
    Envoy,
    /// One interval for each retry.
    Table,
}

impl LawName {
    /// The name as a contract writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            LawName::Immediate => "immediate",
            LawName::Fixed => "fixed",
            LawName::Exponential => "exponential",
            LawName::Full => "full",
            LawName::Equal => "equal",
            LawName::Decorrelated => "decorrelated",
            LawName::PlusMinus => "plus_minus",
            LawName::Scaled => "scaled",
            LawName::AdditiveRatio => "additive_ratio",
            LawName::AdditiveFixed => "additive_fixed",
            LawName::CappedAdditive => "capped_additive",
            LawName::Envoy => "envoy",
            LawName::Table => "table",
        }
    }

    /// The parameters the law requires, then those it may have.
    fn parameters(self) -> (&'static [&'static str], &'static [&'static str]) {
        const GROWTH: &[&str] = &["cap", "factor", "first_exponent"];
        match self {
            LawName::Immediate => (&[], &[]),
            LawName::Fixed => (&["base"], &[]),
            LawName::Exponential | LawName::Full | LawName::Equal => (&["base"], GROWTH),
            LawName::Decorrelated => (&["base"], &["cap", "factor"]),
            LawName::PlusMinus => (&["base", "spread"], GROWTH),
            LawName::Scaled => (&["base", "lo", "hi"], GROWTH),
            LawName::AdditiveRatio => (&["base", "ratio"], GROWTH),
            LawName::AdditiveFixed => (&["base", "jitter"], GROWTH),
            LawName::CappedAdditive => (&["base", "jitter", "cap"], &["factor", "first_exponent"]),
            LawName::Envoy => (&["base"], &["cap"]),
            LawName::Table => (&["table"], &[]),
        }
    }
}

impl fmt::Display for LawName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One row of a `table` law: the delay before that retry is uniform between `lo` and `hi`. Written `["100ms", "200ms"]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Text, Text)", into = "(Text, Text)")]
pub struct Row {
    /// Shortest delay.
    pub lo: Duration,
    /// Longest delay.
    pub hi: Duration,
}

/// A duration as a serde value of its own, for use in tuples.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Text(#[serde(with = "duration")] Duration);

impl From<(Text, Text)> for Row {
    fn from((lo, hi): (Text, Text)) -> Row {
        Row { lo: lo.0, hi: hi.0 }
    }
}

impl From<Row> for (Text, Text) {
    fn from(row: Row) -> (Text, Text) {
        (Text(row.lo), Text(row.hi))
    }
}

/// A law as it is written: every parameter optional, nothing checked until [`build`](Self::build).
///
/// In a contract this is the flat table `{ law = "full", base = "200ms", cap = "5s", factor = 2.0 }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawSpec {
    /// The law's name.
    pub law: LawName,
    /// The first delay or ceiling.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub base: Option<Duration>,
    /// The longest delay or ceiling.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub cap: Option<Duration>,
    /// Growth from one retry to the next; 2 unless given, 3 for `decorrelated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// Exponent of `factor` at the first retry; 0 unless given. 1 means the first ceiling is `factor * base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_exponent: Option<i32>,
    /// Of `plus_minus`: 0.25 means plus or minus 25 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Of `scaled`: smallest factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lo: Option<f64>,
    /// Of `scaled`: largest factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hi: Option<f64>,
    /// Of `additive_ratio`: largest addition, as a share of the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Of `additive_fixed` and `capped_additive`: largest addition.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// Of `table`: one row for each retry; the last row holds for all later ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<Row>,
}

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

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`LawError`] for a parameter that is missing, does not belong to the law, or is out of range.
    pub fn build(self) -> Result<Law, LawError> {
        self.check_presence()?;
        self.check_ranges()?;
        Ok(Law { spec: self })
    }

    /// The parameters that are set, by name.
    fn present(&self) -> [(&'static str, bool); 9] {
        [
            ("base", self.base.is_some()),
            ("cap", self.cap.is_some()),
            ("factor", self.factor.is_some()),
            ("first_exponent", self.first_exponent.is_some()),
            ("spread", self.spread.is_some()),
            ("lo", self.lo.is_some()),
            ("hi", self.hi.is_some()),
            ("ratio", self.ratio.is_some()),
            ("jitter", self.jitter.is_some()),
        ]
    }

    fn check_presence(&self) -> Result<(), LawError> {
        let law = self.law;
        let (required, optional) = law.parameters();
        let present = self.present().into_iter().chain([("table", !self.table.is_empty())]);
        for (parameter, set) in present {
            if set && !required.contains(&parameter) && !optional.contains(&parameter) {
                let all = [required, optional].concat();
                let allowed = if all.is_empty() { "no parameters".to_owned() } else { all.join(", ") };
                return Err(LawError::Unused { law, parameter, allowed });
            }
            if !set && required.contains(&parameter) {
                return Err(LawError::Missing { law, parameter, example: example(parameter) });
            }
        }
        Ok(())
    }

    fn check_ranges(&self) -> Result<(), LawError> {
        let law = self.law;
        let range = |parameter, value: String, range| -> Result<(), LawError> {
            Err(LawError::Range { law, parameter, value, range })
        };
        let number = |parameter, value: Option<f64>, lo: f64, hi: f64, text| match value {
            Some(v) if !(v.is_finite() && lo <= v && v <= hi) => range(parameter, v.to_string(), text),
            _ => Ok(()),
        };
        for (parameter, value) in [("base", self.base), ("cap", self.cap), ("jitter", self.jitter)] {
            if value == Some(Duration::ZERO) {
                return range(parameter, "0s".to_owned(), "longer than zero (for no wait declare law = \"immediate\")");
            }
            if let Some(value) = value.filter(|&value| value > LONGEST) {
                return range(parameter, duration::format(value), "at most 8760h (a year)");
            }
        }
        if let (Some(base), Some(cap)) = (self.base, self.cap)
            && cap < base
        {
            return range("cap", duration::format(cap), "at least the base");
        }
        number("factor", self.factor, 1.0, 1000.0, "a number from 1 to 1000")?;
        number("spread", self.spread, 1e-6, 1.0, "a share above 0, at most 1 (0.25 means plus or minus 25 %)")?;
        number("lo", self.lo, 0.0, 1000.0, "a factor from 0 to 1000")?;
        number("hi", self.hi, 0.0, 1000.0, "a factor from 0 to 1000")?;
        number("ratio", self.ratio, 1e-6, 1000.0, "a share above 0, at most 1000 (0.2 means up to 20 % more)")?;
        if let (Some(lo), Some(hi)) = (self.lo, self.hi)
            && lo >= hi
        {
            return range("hi", hi.to_string(), "larger than `lo`");
        }
        if let Some(exponent) = self.first_exponent
            && !(-8..=8).contains(&exponent)
        {
            return range("first_exponent", exponent.to_string(), "a whole number from -8 to 8");
        }
        if let Some(row) = self.table.iter().find(|row| row.hi > LONGEST) {
            return range("table", duration::format(row.hi), "at most 8760h (a year)");
        }
        let row = self.table.iter().enumerate().find(|(_, row)| row.lo > row.hi);
        row.map_or(Ok(()), |(i, row)| {
            Err(LawError::Row { row: i + 1, lo: duration::format(row.lo), hi: duration::format(row.hi) })
        })
    }
}

/// A value a user can start from.
fn example(parameter: &str) -> &'static str {
    match parameter {
        "base" => "base = \"200ms\"",
        "cap" => "cap = \"5s\"",
        "spread" => "spread = 0.25",
        "lo" => "lo = 0.8",
        "hi" => "hi = 1.2",
        "ratio" => "ratio = 0.2",
        "jitter" => "jitter = \"100ms\"",
        _ => "table = [[\"0s\", \"200ms\"], [\"0s\", \"400ms\"]]",
    }
}

impl TryFrom<LawSpec> for Law {
    type Error = LawError;

    fn try_from(spec: LawSpec) -> Result<Law, LawError> {
        spec.build()
    }
}

impl From<Law> for LawSpec {
    fn from(law: Law) -> LawSpec {
        law.spec
    }
}
