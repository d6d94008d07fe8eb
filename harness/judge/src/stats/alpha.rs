//! The level of a test: how often a correct service may be failed by chance.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A level strictly between 0 and 1/2.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Alpha(f64);

/// The number is no level.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("alpha is {0}: it must be a number above 0 and below 0.5, for example 1e-7")]
pub struct AlphaError(f64);

impl Alpha {
    /// The level of one check when a run has one law check: 1e-7.
    pub const DEFAULT: Alpha = Alpha(1e-7);

    /// A level.
    ///
    /// # Errors
    /// [`AlphaError`] unless `0 < level < 0.5`, so also for NaN.
    pub fn new(level: f64) -> Result<Alpha, AlphaError> {
        if level > 0.0 && level < 0.5 { Ok(Alpha(level)) } else { Err(AlphaError(level)) }
    }

    /// The level for each of the seven tests when a run has `law_checks` law checks: together they fail a correct
    /// service in at most one run of a million.
    #[must_use]
    pub fn recommended(law_checks: usize) -> Alpha {
        // One check alone would get 1.4e-7; the round number below it is what the tables are made for.
        Alpha((1e-6 / (7.0 * law_checks.max(1) as f64)).min(Alpha::DEFAULT.0))
    }

    /// The level as a number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The level of one of `parts` comparisons that share this level (Bonferroni).
    #[must_use]
    pub fn split(self, parts: usize) -> f64 {
        self.0 / parts.max(1) as f64
    }
}

impl Default for Alpha {
    fn default() -> Alpha {
        Alpha::DEFAULT
    }
}

impl TryFrom<f64> for Alpha {
    type Error = AlphaError;

    fn try_from(level: f64) -> Result<Alpha, AlphaError> {
        Alpha::new(level)
    }
}

impl From<Alpha> for f64 {
    fn from(alpha: Alpha) -> f64 {
        alpha.0
    }
}

impl fmt::Display for Alpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2e}", self.0)
    }
}
