//! How long a delay is: a distribution that turns one uniform draw into a time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::normal::normal_quantile;

/// The longest delay that can be asked for or drawn, in milliseconds: a day.
pub const MAX_DELAY_MS: f64 = 86_400_000.0;
/// Points that a table may have.
pub const MAX_TABLE_POINTS: usize = 1_000;

/// How long a delay is, in milliseconds; fractions count. Draws below zero count as zero, and draws above
/// [`MAX_DELAY_MS`] (or `max_ms`, where it is given) as that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same: `{ "ms": 5 }`.
    Ms(f64),
    /// Uniform between two bounds.
    Uniform {
        /// Lower bound.
        lo_ms: f64,
        /// Upper bound.
        hi_ms: f64,
    },
    /// Normal.
    Normal {
        /// Mean.
        mean_ms: f64,
        /// Standard deviation.
        sd_ms: f64,
        /// Longest draw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_ms: Option<f64>,
    },
    /// Lognormal: the logarithm is normal. The usual shape of service times.
    Lognormal {
        /// Median.
        median_ms: f64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
        /// Longest draw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_ms: Option<f64>,
    },
    /// Pareto: P(delay > x) = (scale / x)^shape. A heavy tail; below shape 1 it has no mean.
    Pareto {
        /// The shortest delay.
        scale_ms: f64,
        /// Exponent of the tail.
        shape: f64,
        /// Longest draw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_ms: Option<f64>,
    },
    /// Measured percentiles, e.g. `[[0.5, 10], [0.99, 200], [1, 900]]`: linear between the points, constant outside.
    Table {
        /// Pairs of probability and delay, both rising.
        quantiles: Vec<(f64, f64)>,
    },
}

/// A distribution that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {expected}")]
pub struct DistributionError {
    /// The field, in the words of the grammar.
    pub field: String,
    /// What would do.
    pub expected: String,
}

impl Distribution {
    /// Looks every field over.
    ///
    /// # Errors
    /// Names the first field that does not hold.
    pub fn check(&self) -> Result<(), DistributionError> {
        match self {
            Self::Ms(ms) => delay("ms", *ms),
            Self::Uniform { lo_ms, hi_ms } => {
                delay("uniform.lo_ms", *lo_ms)?;
                delay("uniform.hi_ms", *hi_ms)?;
                holds("uniform.hi_ms", lo_ms <= hi_ms, "must not be below lo_ms")
            }
            Self::Normal { mean_ms, sd_ms, max_ms } => {
                delay("normal.mean_ms", *mean_ms)?;
                delay("normal.sd_ms", *sd_ms)?;
                longest("normal.max_ms", *max_ms)
            }
            Self::Lognormal { median_ms, sigma, max_ms } => {
                delay("lognormal.median_ms", *median_ms)?;
                holds("lognormal.sigma", (0.0..=10.0).contains(sigma), "must be from 0 to 10")?;
                longest("lognormal.max_ms", *max_ms)
            }
            Self::Pareto { scale_ms, shape, max_ms } => {
                delay("pareto.scale_ms", *scale_ms)?;
                holds("pareto.shape", (0.01..=1_000.0).contains(shape), "must be from 0.01 to 1000")?;
                longest("pareto.max_ms", *max_ms)
            }
            Self::Table { quantiles } => table(quantiles),
        }
    }

    /// The delay at the fraction `u` (at least 0, below 1) of the distribution.
    #[must_use]
    pub fn sample(&self, u: f64) -> Duration {
        let (ms, max) = match self {
            Self::Ms(ms) => (*ms, None),
            Self::Uniform { lo_ms, hi_ms } => (lo_ms + u * (hi_ms - lo_ms), None),
            // At u = 0 a standard deviation of zero would meet an infinite quantile.
            Self::Normal { mean_ms, sd_ms: 0.0, max_ms } => (*mean_ms, *max_ms),
            Self::Normal { mean_ms, sd_ms, max_ms } => (mean_ms + sd_ms * normal_quantile(u), *max_ms),
            Self::Lognormal { median_ms, sigma: 0.0, max_ms } => (*median_ms, *max_ms),
            Self::Lognormal { median_ms, sigma, max_ms } => (median_ms * (sigma * normal_quantile(u)).exp(), *max_ms),
            Self::Pareto { scale_ms, shape, max_ms } => (scale_ms * (1.0 - u).powf(-1.0 / shape), *max_ms),
            Self::Table { quantiles } => (interpolated(quantiles, u), None),
        };
        milliseconds(ms.min(max.unwrap_or(MAX_DELAY_MS)))
    }
}

/// A time from milliseconds: negative ones and NaN are none, long ones are [`MAX_DELAY_MS`].
fn milliseconds(ms: f64) -> Duration {
    Duration::from_nanos((ms.clamp(0.0, MAX_DELAY_MS) * 1e6).round() as u64)
}

fn interpolated(points: &[(f64, f64)], u: f64) -> f64 {
    let above = points.partition_point(|(p, _)| *p <= u);
    let (Some(low), high) = (points.get(above.saturating_sub(1)), points.get(above)) else { return 0.0 };
    match high {
        Some(high) if above > 0 => low.1 + (high.1 - low.1) * (u - low.0) / (high.0 - low.0),
        _ => low.1,
    }
}

fn table(points: &[(f64, f64)]) -> Result<(), DistributionError> {
    let count = (1..=MAX_TABLE_POINTS).contains(&points.len());
    holds("table.quantiles", count, &format!("must have 1 to {MAX_TABLE_POINTS} points"))?;
    for (i, (p, ms)) in points.iter().enumerate() {
        holds(&format!("table.quantiles[{i}][0]"), (0.0..=1.0).contains(p), "must be a probability from 0 to 1")?;
        delay(&format!("table.quantiles[{i}][1]"), *ms)?;
    }
    for (i, pair) in points.windows(2).enumerate() {
        holds(&format!("table.quantiles[{}][0]", i + 1), pair[0].0 < pair[1].0, "must be above the one before it")?;
        let rising = pair[0].1 <= pair[1].1;
        holds(&format!("table.quantiles[{}][1]", i + 1), rising, "must not be below the one before it")?;
    }
    Ok(())
}

fn delay(field: &str, ms: f64) -> Result<(), DistributionError> {
    let inside = (0.0..=MAX_DELAY_MS).contains(&ms);
    holds(field, inside, &format!("must be a number of milliseconds from 0 to {MAX_DELAY_MS}"))
}

fn longest(field: &str, ms: Option<f64>) -> Result<(), DistributionError> {
    ms.map_or(Ok(()), |ms| delay(field, ms))
}

fn holds(field: &str, holds: bool, expected: &str) -> Result<(), DistributionError> {
    if holds {
        return Ok(());
    }
    Err(DistributionError { field: field.to_owned(), expected: expected.to_owned() })
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod tests;
