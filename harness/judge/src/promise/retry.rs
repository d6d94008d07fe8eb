//! Retries towards one dependency.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{BudgetPolicy, CapCheck, Failure, RetryAfterPolicy};
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
    /// The limit of all attempts and waits of one request, from its arrival to its answer. A service may keep a tenth of it
    /// for writing down what came of them.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
    /// Whether no further attempt is made once the client has closed its connection.
    #[serde(default)]
    pub stops_when_client_leaves: bool,
    /// What is made of the dependency's `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfterPolicy>,
    /// How many retries all requests together may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetPolicy>,
    /// That no wait is above the cap, however many there are, and how the service retries while that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_check: Option<CapCheck>,
    /// Whether gRPC's pushback (`grpc-retry-pushback-ms`) is obeyed.
    #[serde(default)]
    pub pushback: bool,
}

impl RetryPolicy {
    /// Whether a failure of that kind is retried by promise.
    #[must_use]
    pub fn retries(&self, failure: Failure) -> bool {
        self.retryable.contains(&failure)
    }

    /// The part of the deadline in which attempts may be begun for certain.
    #[must_use]
    pub fn usable_deadline(&self) -> Option<Duration> {
        self.deadline.map(|d| d - d / 10)
    }

    /// Whether the deadline may rightly end the attempts of a request after its failure number `k` from 0, when `spent` has
    /// passed since it was sent.
    #[must_use]
    pub fn may_run_out(&self, spent: Duration, k: usize) -> bool {
        let (_, longest) = self.backoff.waits(k);
        self.usable_deadline().is_some_and(|d| spent.saturating_add(longest) >= d)
    }
}
