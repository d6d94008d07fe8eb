//! The noise bound.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// The noise bound that the verdicts of a run are declared against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Largest delay, beyond the policy's own, that the proxy may see in a gap.
    #[serde(with = "duration")]
    pub eps: Duration,
}

impl Default for Noise {
    fn default() -> Self {
        Self { eps: Duration::from_millis(60) }
    }
}
