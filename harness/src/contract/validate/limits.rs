//! Bounds of what limits retries, and of how long a client waits.

use std::time::Duration;

use judge::promise::{BudgetPolicy, Failure, OnTop, RetryPolicy, TimeoutPolicy};

use super::Checked;
use super::rules::{LONGEST, require, timeout};

pub(super) fn retry(retry: &RetryPolicy) -> Checked {
    retry.deadline.map_or(Ok(()), |deadline| self::deadline(retry, deadline))?;
    if let Some(after) = retry.retry_after {
        after.limit.map_or(Ok(()), |l| wait("promises.retry.retry_after.limit", l))?;
        if let OnTop::UpTo(most) = after.jitter {
            wait("promises.retry.retry_after.jitter", most)?;
        }
    }
    retry.budget.as_ref().map_or(Ok(()), budget)
}

pub(super) fn answer(policy: &TimeoutPolicy) -> Checked {
    timeout("promises.timeout.answer", policy.answer)
}

/// A deadline that leaves room for what is promised to be retried.
fn deadline(retry: &RetryPolicy, deadline: Duration) -> Checked {
    timeout("promises.retry.deadline", deadline)?;
    let hangs = retry.attempt_timeout.filter(|_| retry.retries(Failure::Hang) && retry.attempts > 1);
    let first = hangs.unwrap_or_default();
    require(retry.attempts < 2 || !retry.may_run_out(first, 0), "promises.retry.deadline", || {
        format!(
            "is {deadline:?}: a first attempt of {first:?} and the longest first wait do not fit into nine tenths of it, so \
             that no retry is sure; give more, or take \"hang\" out of `retryable`"
        )
    })
}

fn wait(field: &str, value: Duration) -> Checked {
    require(value <= LONGEST, field, || format!("is {value:?}; give at most 10m"))
}

fn budget(budget: &BudgetPolicy) -> Checked {
    // NaN is in no range.
    let number = |field: &str, value: f64, range: std::ops::RangeInclusive<f64>| {
        require(range.contains(&value), &format!("promises.retry.budget.{field}"), || {
            format!("is {value}; give a number from {} to {}", range.start(), range.end())
        })
    };
    match *budget {
        BudgetPolicy::GrpcTokens { max_tokens, token_ratio } => {
            number("max_tokens", max_tokens, 1.0..=1000.0)?;
            number("token_ratio", token_ratio, 0.001..=1000.0)
        }
        BudgetPolicy::Ratio { ratio, min_per_second, ttl, .. } => {
            number("ratio", ratio, 0.0..=1000.0)?;
            number("min_per_second", min_per_second, 0.0..=1000.0)?;
            let range = Duration::from_secs(1)..=Duration::from_secs(60);
            require(range.contains(&ttl), "promises.retry.budget.ttl", || format!("is {ttl:?}; give 1s to 60s"))
        }
        BudgetPolicy::ActiveShare { percent, .. } => number("percent", percent, 0.0..=100.0),
        BudgetPolicy::AwsQuota { capacity, retry_cost, timeout_cost, success } => {
            number("capacity", f64::from(capacity), 1.0..=10_000.0)?;
            number("retry_cost", f64::from(retry_cost), 1.0..=f64::from(capacity))?;
            number("timeout_cost", f64::from(timeout_cost), 1.0..=f64::from(capacity))?;
            number("success", f64::from(success), 1.0..=f64::from(capacity))
        }
    }
}
