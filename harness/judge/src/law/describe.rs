//! A law in words.

use std::fmt;

use super::{Law, LawName};
use crate::duration::format;

impl Law {
    /// One line that a person reads as the law, for example `full jitter: U(0, 200ms * 2^k), cap 5s`. `k` counts the
    /// retries from 0.
    #[must_use]
    pub fn describe(&self) -> String {
        let spec = self.spec();
        let base = format(self.base());
        let exponent = match self.first_exponent() {
            0 => "k".to_owned(),
            e if e > 0 => format!("(k+{e})"),
            e => format!("(k{e})"),
        };
        // A factor of 1 does not grow: the power would only distract.
        let d = if self.factor() == 1.0 { base.clone() } else { format!("{base} * {}^{exponent}", self.factor()) };
        let cap = self.cap().map_or(String::new(), |cap| format!(", cap {}", format(cap)));
        match self.name() {
            LawName::Immediate => "immediate: no delay".to_owned(),
            LawName::Fixed => format!("fixed: {base}"),
            LawName::Exponential => format!("fixed exponential: {d}{cap}"),
            LawName::Full => format!("full jitter: U(0, {d}){cap}"),
            LawName::Equal => format!("equal jitter: U(1/2, 1) * {d}{cap}"),
            LawName::Decorrelated => format!("decorrelated jitter: U({base}, {} * previous delay){cap}", self.factor()),
            LawName::PlusMinus => {
                format!("plus or minus {} %: {d} +- {0} %{cap}", trim(100.0 * spec.spread.unwrap_or(0.0)))
            }
            LawName::Scaled => {
                format!("scaled: U({}, {}) * {d}{cap}", spec.lo.unwrap_or(1.0), spec.hi.unwrap_or(1.0))
            }
            LawName::AdditiveRatio => {
                format!(
                    "exponential plus 0..{} %: {d} * U(1, {}){cap}",
                    trim(100.0 * spec.ratio.unwrap_or(0.0)),
                    trim(1.0 + spec.ratio.unwrap_or(0.0))
                )
            }
            LawName::AdditiveFixed => {
                format!("exponential plus jitter: {d} + U(0, {}){cap}", format(spec.jitter.unwrap_or_default()))
            }
            LawName::CappedAdditive => format!(
                "capped additive jitter: min({}, {d} + U(0, {}))",
                format(self.cap().unwrap_or_default()),
                format(spec.jitter.unwrap_or_default())
            ),
            LawName::Envoy => format!("Envoy full jitter: U(0, (2^(k+1) - 1) * {base}){cap}"),
            LawName::Table => {
                let rows: Vec<String> =
                    spec.table.iter().map(|row| format!("{}..{}", format(row.lo), format(row.hi))).collect();
                format!("table: {}", rows.join(", "))
            }
        }
    }
}

/// Up to six decimals, without trailing zeros: `0.1 + 1.0` must not print as 1.1000000000000001.
fn trim(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}
