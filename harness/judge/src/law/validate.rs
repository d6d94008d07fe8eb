//! The rules a written law must keep: its parameters are there, belong to it, and are in range.

use std::time::Duration;

use super::{Law, LawError, LawName, LawSpec};
use crate::duration;

/// Longer waits are typing errors, and the arithmetic of [`Law`] stays far from its limits.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl LawName {
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

impl LawSpec {
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
