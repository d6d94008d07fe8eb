//! The written form of a law: a flat table of optional parameters.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Law, LawError};
use crate::duration;

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
