//! Retries towards one dependency.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Failure;
use crate::duration;
use crate::law::Law;

/// The promise about retries towards one dependency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The law of the gaps between them.
    pub backoff: Law,
    /// What is retried; every other failure is not.
    pub retryable: Vec<Failure>,
    /// The service's own limit for one attempt: when it gives up on a dependency that hangs.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub attempt_timeout: Option<Duration>,
}

impl RetryPolicy {
    /// Whether a failure of that kind is retried by promise.
    #[must_use]
    pub fn retries(&self, failure: Failure) -> bool {
        self.retryable.contains(&failure)
    }
}
