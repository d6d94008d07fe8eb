//! The circuit breaker towards one dependency.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Outcomes;
use crate::duration;

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
    /// A call that takes this long counts as a failure, whatever it is answered.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub slow_call: Option<Duration>,
    /// What certain ends of calls count as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Outcomes>,
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
