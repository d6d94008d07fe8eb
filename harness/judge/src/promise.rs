//! What a service promises: one value for configuring a scenario and for judging it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

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

/// A way for an attempt to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    /// A reply with this status.
    Status(u16),
    /// The connection is accepted and reset before a byte is read.
    Refuse,
    /// The request is read and answered with RST.
    Reset,
    /// The request is read and the connection closed.
    Cut,
    /// The request is read and never answered.
    Hang,
    /// The upstream answered; the answer was lost.
    Lost,
}

impl Failure {
    const WORDS: [(&'static str, Failure); 5] = [
        ("refuse", Failure::Refuse),
        ("reset", Failure::Reset),
        ("cut", Failure::Cut),
        ("hang", Failure::Hang),
        ("lost", Failure::Lost),
    ];
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Failure::Status(status) = self {
            return write!(f, "{status}");
        }
        f.write_str(Self::WORDS.iter().find(|(_, x)| x == self).map_or("?", |(word, _)| word))
    }
}

impl Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Failure::Status(status) => s.serialize_u16(*status),
            other => s.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Words;
        impl serde::de::Visitor<'_> for Words {
            type Value = Failure;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a status from 400 to 599, or one of \"refuse\", \"reset\", \"cut\", \"hang\", \"lost\"")
            }
            fn visit_i64<E: serde::de::Error>(self, v: i64) -> Result<Failure, E> {
                u64::try_from(v)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(v), &self))
                    .and_then(|v| self.visit_u64(v))
            }
            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Failure, E> {
                match u16::try_from(v) {
                    Ok(status @ 400..=599) => Ok(Failure::Status(status)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Unsigned(v), &self)),
                }
            }
            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Failure, E> {
                let known = Failure::WORDS.iter().find(|(word, _)| *word == v);
                known.map(|(_, x)| *x).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(v), &self))
            }
        }
        d.deserialize_any(Words)
    }
}

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

/// The promise about the circuit breaker towards one dependency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakerPolicy {
    /// How failures are counted.
    #[serde(default)]
    pub mode: BreakerMode,
    /// Failures that open it.
    pub threshold: u32,
    /// The time over which `window` mode counts.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub window: Option<Duration>,
    /// How long it stays open.
    #[serde(with = "duration")]
    pub open: Duration,
    /// Calls that half-open permits.
    #[serde(default = "one")]
    pub probes: u32,
    /// Factor on the open time each time a probe fails.
    #[serde(default = "unity")]
    pub growth: f64,
    /// Status of a rejected call.
    #[serde(default = "unavailable")]
    pub reject: u16,
    /// Longest time in which a rejected call is answered.
    #[serde(default = "fast", with = "duration")]
    pub fast_fail: Duration,
    /// How the breaker is observed, by the name of the states it goes through.
    #[serde(default)]
    pub profile: BreakerProfile,
}

/// How a breaker counts failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerMode {
    /// In a row; one success starts over.
    #[default]
    Consecutive,
    /// Within a window of time.
    Window,
}

/// Families of breakers, by the transitions they are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerProfile {
    /// closed -> open -> half-open -> closed or open.
    #[default]
    Classic,
    /// As classic, with resilience4j's special states.
    Resilience4j,
    /// Envoy's and Istio's outlier ejection: no half-open probe.
    Ejection,
}

fn one() -> u32 {
    1
}
fn unity() -> f64 {
    1.0
}
fn unavailable() -> u16 {
    503
}
fn fast() -> Duration {
    Duration::from_millis(100)
}

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
