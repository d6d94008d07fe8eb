//! What the battery may assume about noise and chance.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Alpha;
use crate::duration;

/// The explicit inputs of a battery besides the gaps and the law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A gap is at most this much longer than the delay behind it; the canary of the run must confirm it.
    #[serde(with = "duration")]
    pub eps: Duration,
    /// A gap may look this much shorter than it was: clock rounding.
    #[serde(with = "duration")]
    pub early: Duration,
    /// Level of each test.
    pub alpha: Alpha,
    /// Share of gaps that may lie outside the support, for instance because of a stalled connection.
    pub outlier_share: f64,
    /// Fewest clients for which "nothing was rejected" is worth anything. Below, the battery is undecided unless a test
    /// rejects: a rejection is valid at any size.
    pub floor: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            eps: Duration::from_millis(60),
            early: Duration::from_millis(2),
            alpha: Alpha::DEFAULT,
            outlier_share: 0.02,
            floor: 60,
        }
    }
}

impl Settings {
    /// `eps` in seconds.
    #[must_use]
    pub fn eps_secs(&self) -> f64 {
        self.eps.as_secs_f64()
    }

    /// `early` in seconds.
    #[must_use]
    pub fn early_secs(&self) -> f64 {
        self.early.as_secs_f64()
    }
}
