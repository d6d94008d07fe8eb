//! Repeated keys.

use serde::{Deserialize, Serialize};

/// The promise about repeated keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdempotencyPolicy {
    /// Header (and optionally value) that marks a replay; absent when the service marks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_marker: Option<String>,
    /// Statuses that answer a key whose first request still runs.
    #[serde(default = "conflict")]
    pub in_flight: u16,
    /// Status that answers a known key with another payload; absent when not promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<u16>,
    /// Status that answers a missing key; absent when keys are optional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u16>,
    /// Whether keys survive a restart of the service.
    #[serde(default)]
    pub survives_restart: bool,
}

fn conflict() -> u16 {
    409
}
