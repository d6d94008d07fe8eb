//! How long a client waits at most.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// The promise that a client is answered within a time, also when the dependency never answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeoutPolicy {
    /// The longest time from a request to its answer.
    #[serde(with = "duration")]
    pub answer: Duration,
}
