//! Promises about several layers, several dependencies and several routes.

use serde::{Deserialize, Serialize};

/// The promise that retries of several layers do not multiply beyond a bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmplificationPolicy {
    /// The links from the client to the last backend, each with the attempts that one call on the link before may cause.
    pub hops: Vec<Hop>,
    /// Calls to the last backend that one client request may cause, when that is fewer than the hops multiply to: a
    /// layer that leaves alone what the layer below has already retried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
}

/// One link on the way to the backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link.
    pub link: String,
    /// Attempts on it, the first included, for each call that reaches the layer before it.
    pub attempts: u32,
}

impl AmplificationPolicy {
    /// What the hops multiply to.
    #[must_use]
    pub fn product(&self) -> u32 {
        self.hops.iter().fold(1, |product: u32, hop| product.saturating_mul(hop.attempts))
    }

    /// Calls to the last backend that one client request may cause.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.at_most.unwrap_or(u32::MAX).min(self.product())
    }
}

/// The promise that each dependency has a breaker of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsolationPolicy {
    /// Routes that use another dependency, and that an open breaker of the main one leaves alone.
    pub routes: Vec<String>,
}

/// The promise that a dependency that hangs leaves other routes alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BulkheadPolicy {
    /// Routes that use another dependency.
    pub routes: Vec<String>,
    /// Callers whose requests to the main dependency hang at the same time.
    #[serde(default = "callers")]
    pub callers: u32,
    /// How much slower the 99th percentile of those routes may become: a factor on what it is in the same run without
    /// the hang. The noise bound comes on top.
    #[serde(default = "slowdown")]
    pub slowdown: f64,
    /// Share of the success rate without the hang that stays with it.
    #[serde(default = "success")]
    pub success: f64,
}

fn callers() -> u32 {
    64
}
fn slowdown() -> f64 {
    3.0
}
fn success() -> f64 {
    0.99
}
