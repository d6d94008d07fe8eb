//! Repeated keys.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AfterTtl, Fingerprint, KeyScope, Memo, PendingReply};
use crate::duration;

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
    /// How long a key whose owner died may still be answered as in flight; absent when not promised.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub lease: Option<Duration>,
    /// Which answers are given again; absent when only successes are promised to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memo: Option<Memo>,
    /// What a key belongs to; empty when the same key from elsewhere is not promised to be another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scope: Vec<KeyScope>,
    /// The further route that is asked with keys of the payment's; absent when keys are not promised to belong to routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_route: Option<String>,
    /// How long a key is known at least; absent when not promised.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
    /// What a repetition does after that.
    #[serde(default)]
    pub after_ttl: AfterTtl,
    /// Over what two payloads are compared; absent when not promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// How the dependency says that a call still runs, which the service waits out; absent when not promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_out: Option<PendingReply>,
}

fn conflict() -> u16 {
    409
}
