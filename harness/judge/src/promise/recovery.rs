//! Recovery from a disturbance, and what is left of the service under overload.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// The promise that the service comes back by itself when a disturbance is over: no state that keeps it down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryPolicy {
    /// How long after the end of the disturbance goodput, retries and load may still be off.
    #[serde(with = "duration")]
    pub within: Duration,
    /// The share of the goodput before the disturbance that must then be there again, above 0 and at most 1.
    #[serde(default = "nearly_all")]
    pub goodput: f64,
}

/// The promise about successes while more is asked than the dependency can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverloadPolicy {
    /// The share of the dependency's capacity that still ends as successes, above 0 and at most 1.
    pub goodput: f64,
}

fn nearly_all() -> f64 {
    0.95
}
