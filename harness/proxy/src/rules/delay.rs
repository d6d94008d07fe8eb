//! How long a delay is.

use serde::{Deserialize, Serialize};

/// How long a delay is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Delay {
    /// Always this many milliseconds; fractions count.
    Ms(f64),
    /// Uniform between two bounds, in milliseconds, drawn from the proxy's seed.
    Uniform {
        /// Lower bound.
        lo_ms: f64,
        /// Upper bound.
        hi_ms: f64,
    },
}
