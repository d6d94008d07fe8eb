//! What the service says of its circuit breaker.

use serde::{Deserialize, Serialize};

use super::time::At;

/// One reading of a breaker, by a probe or from a span event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BreakerReading {
    /// When it was read.
    pub at: At,
    /// Where it came from, e.g. `actuator`, `prometheus`, `json`, `span`.
    pub source: String,
    /// The breaker's name.
    pub name: String,
    /// The state it left, when the source tells of a change and not of a moment: then `at` is when it was read, and
    /// the order of the records is that of the changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<BreakerState>,
    /// Its state.
    pub state: BreakerState,
    /// Calls it has not permitted so far, when the source tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_permitted: Option<u64>,
}

/// Breaker states; the last three are resilience4j's special ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Calls pass.
    Closed,
    /// Calls are rejected.
    Open,
    /// A limited number of probes pass.
    HalfOpen,
    /// Always passes.
    Disabled,
    /// Held open by hand.
    ForcedOpen,
    /// Passes and only measures.
    MetricsOnly,
    /// A word that none of the known profiles uses.
    Unknown,
}
