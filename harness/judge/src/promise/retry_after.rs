//! What a service makes of `Retry-After`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// The promise about `Retry-After` on a failure that is retried (RFC 9110, 10.2.3): a usable value is waited out, one
/// that cannot be used leaves the declared law alone, and one that is longer than the service may wait ends the attempts
/// at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryAfterPolicy {
    /// The longest wait that is honoured. Without it only the deadline limits.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub limit: Option<Duration>,
    /// What the service adds on top, so that all who were told the same do not return together.
    #[serde(default)]
    pub jitter: OnTop,
}

/// What is added to a wait that the dependency asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnTop {
    /// Nothing.
    None,
    /// One draw of the declared backoff law.
    #[default]
    Law,
    /// Anything up to this.
    UpTo(#[serde(with = "duration")] Duration),
}
