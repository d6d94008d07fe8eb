//! Retry budgets: how many retries all payments together may make.
//!
//! Four models are known, by the numbers that their users configure. All of them are shared by the requests of one
//! process; none of them ever stops a first attempt.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::duration;

/// A declared retry budget.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BudgetPolicy {
    /// gRPC's retry throttling (gRFC A6): a count that begins at `max_tokens` and stays between 0 and that; each failed
    /// attempt takes 1, each success adds `token_ratio`; a retry needs more than half of `max_tokens` after its own
    /// failure was taken off.
    GrpcTokens {
        /// The count at the start, and its upper end.
        max_tokens: f64,
        /// What a success adds.
        token_ratio: f64,
    },
    /// The ratio with a floor of Finagle, linkerd and tower: within the last `ttl`, at most `min_per_second` times `ttl`
    /// retries, and `ratio` more for each deposit.
    Ratio {
        /// Retries that each deposit allows.
        ratio: f64,
        /// Retries allowed without any deposit, for each second of `ttl`.
        min_per_second: f64,
        /// How long deposits and withdrawals count. Implementations keep them in slots of a tenth of it.
        #[serde(with = "duration")]
        ttl: Duration,
        /// What makes a deposit.
        #[serde(default)]
        deposit: Deposit,
    },
    /// Envoy's retry budget: retries waiting or running at a time are fewer than `percent` of the active requests, or
    /// than `min_concurrency`, whichever is more.
    ActiveShare {
        /// Percent of the active requests, 0 to 100.
        percent: f64,
        /// Retries that are always allowed at a time.
        min_concurrency: u32,
    },
    /// The quota of the AWS SDKs' standard mode: `capacity` tokens at first and at most; a retry takes `retry_cost`, after a
    /// time-out `timeout_cost`, and is refused when there are fewer; a request that succeeds gives back what its last
    /// retry took, or `success` when it made none.
    AwsQuota {
        /// Tokens at the start, and at most.
        #[serde(default = "capacity")]
        capacity: u32,
        /// What a retry takes.
        #[serde(default = "retry_cost")]
        retry_cost: u32,
        /// What a retry after a time-out takes.
        #[serde(default = "timeout_cost")]
        timeout_cost: u32,
        /// What a success at the first attempt gives.
        #[serde(default = "success")]
        success: u32,
    },
}

/// What makes a deposit into a budget by ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deposit {
    /// Each request, when it begins (Finagle).
    #[default]
    Request,
    /// Each success (linkerd's proxy, tower's policies).
    Success,
}

impl BudgetPolicy {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::GrpcTokens { max_tokens, token_ratio } => {
                format!("gRPC tokens: {max_tokens} at most, {token_ratio} for a success, retries above half")
            }
            Self::Ratio { ratio, min_per_second, ttl, deposit } => {
                let of = if *deposit == Deposit::Request { "requests" } else { "successes" };
                format!("{ratio} of the {of} of {}, and {min_per_second} a second", duration::format(*ttl))
            }
            Self::ActiveShare { percent, min_concurrency } => {
                format!("{percent} % of the active requests at a time, or {min_concurrency}")
            }
            Self::AwsQuota { capacity, retry_cost, timeout_cost, success } => format!(
                "a quota of {capacity}: {retry_cost} for a retry, {timeout_cost} after a time-out, {success} back for a \
                 success"
            ),
        }
    }

    /// About how many retries it allows while nothing succeeds and `requests` are asked for, to size a load by.
    #[must_use]
    pub fn allowance(&self, requests: usize) -> usize {
        let retries = match *self {
            Self::GrpcTokens { max_tokens, .. } => max_tokens / 2.0,
            Self::Ratio { ratio, min_per_second, ttl, deposit } => {
                let deposits = if deposit == Deposit::Request { ratio * requests as f64 } else { 0.0 };
                min_per_second * ttl.as_secs_f64() + deposits
            }
            Self::ActiveShare { percent, min_concurrency } => {
                (percent / 100.0 * requests as f64).max(f64::from(min_concurrency))
            }
            Self::AwsQuota { capacity, retry_cost, .. } => f64::from(capacity) / f64::from(retry_cost.max(1)),
        };
        retries.ceil() as usize
    }

    /// About how many requests must succeed at once before an exhausted budget surely allows a retry again.
    #[must_use]
    pub fn refill(&self) -> usize {
        let successes = match *self {
            Self::GrpcTokens { max_tokens, token_ratio } => (max_tokens / 2.0 + 3.0) / token_ratio,
            Self::Ratio { ratio, .. } => 4.0 / ratio.max(0.01),
            Self::ActiveShare { .. } => 1.0,
            Self::AwsQuota { retry_cost, timeout_cost, success, .. } => {
                f64::from(2 * retry_cost.saturating_add(timeout_cost)) / f64::from(success.max(1))
            }
        };
        successes.ceil() as usize
    }
}

fn capacity() -> u32 {
    500
}
fn retry_cost() -> u32 {
    5
}
fn timeout_cost() -> u32 {
    10
}
fn success() -> u32 {
    1
}
