//! Whether a cap can be measured as the contract says.

use std::time::Duration;

use judge::promise::{CapCheck, RetryPolicy};

use super::super::Promises;
use super::Checked;
use super::rules::{require, timeout};
use crate::battery::{longest_waits, told_at_once};

/// Attempts of a payment: fewer show no cap, and more take time without showing more.
const ATTEMPTS: std::ops::RangeInclusive<u32> = 20..=200;
/// Waits at the cap that a payment must show at least.
const AT_THE_CAP: u32 = 8;
/// The longest that all waits of a payment may take.
const LONGEST: Duration = Duration::from_secs(120);

pub(super) fn check(promises: &Promises) -> Checked {
    let Some(retry) = &promises.retry else { return Ok(()) };
    retry.cap_check.as_ref().map_or(Ok(()), |cap| measurable(cap, retry))
}

fn measurable(cap: &CapCheck, retry: &RetryPolicy) -> Checked {
    let field = "promises.retry.cap_check";
    require(ATTEMPTS.contains(&cap.attempts), &format!("{field}.attempts"), || {
        let (least, most) = (ATTEMPTS.start(), ATTEMPTS.end());
        format!("is {}; give {least} to {most}, and 75 or more to see a 64-bit overflow", cap.attempts)
    })?;
    cap.deadline.map_or(Ok(()), |deadline| timeout(&format!("{field}.deadline"), deadline))?;
    let policy = cap.policy(retry).map_err(|error| (field.to_owned(), error.to_string()))?;
    require(told_at_once(&policy).is_some(), field, || {
        "needs a failure that is told at once; `retryable` holds no status, \"reset\", \"cut\" or \"lost\"".to_owned()
    })?;
    require(policy.backoff.is_capped((cap.attempts - 1 - AT_THE_CAP) as usize), field, || {
        format!("leaves fewer than {AT_THE_CAP} waits at the cap; give a smaller base, a lower cap or more attempts")
    })?;
    let waits = longest_waits(&policy);
    require(waits <= LONGEST, field, || {
        format!("lets a payment wait for {waits:?} in all, more than {LONGEST:?}; give a lower cap or fewer attempts")
    })?;
    let deadline = policy.usable_deadline().unwrap_or(LONGEST * 2);
    require(waits < deadline, &format!("{field}.deadline"), || {
        format!(
            "leaves {deadline:?} for waits of up to {waits:?}; give the longer deadline that [isolate.cap] gives the service, \
             best twice as long as the waits"
        )
    })
}
