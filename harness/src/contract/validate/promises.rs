//! Bounds of what is promised: what the battery can wait for and count.

use std::time::Duration;

use judge::promise::{BreakerMode, BreakerPolicy, CallEnd, Failure, IdempotencyPolicy, RecoveryPolicy, RetryPolicy};

use super::super::Promises;
use super::rules::{LONGEST, header, require, timeout};
use super::{Checked, limits};

/// The longest that all attempts of one payment may hang.
const LONGEST_PAYMENT: Duration = Duration::from_secs(60 * 60);

/// Shorter than that a machine's own pauses are no part of it; longer than that nobody waits in a battery.
const SHORTEST_RECOVERY: Duration = Duration::from_millis(200);
const LONGEST_RECOVERY: Duration = Duration::from_secs(60);

pub(super) fn check(promises: &Promises) -> Checked {
    promises.retry.as_ref().map_or(Ok(()), retry)?;
    promises.idempotency.as_ref().map_or(Ok(()), idempotency)?;
    let timeout = promises.retry.as_ref().and_then(|r| r.attempt_timeout);
    promises.breaker.as_ref().map_or(Ok(()), |b| breaker(b).and_then(|()| outcomes(b, timeout)))?;
    promises.timeout.as_ref().map_or(Ok(()), limits::answer)?;
    promises.recovery.as_ref().map_or(Ok(()), recovery)?;
    promises.overload.as_ref().map_or(Ok(()), |overload| share("promises.overload.goodput", overload.goodput))
}

fn recovery(recovery: &RecoveryPolicy) -> Checked {
    let within = recovery.within;
    require((SHORTEST_RECOVERY..=LONGEST_RECOVERY).contains(&within), "promises.recovery.within", || {
        format!("is {within:?}; the battery can wait from 200ms to 1m")
    })?;
    share("promises.recovery.goodput", recovery.goodput)
}

fn share(field: &str, share: f64) -> Checked {
    // NaN is in no range.
    require(share > 0.0 && share <= 1.0, field, || format!("is {share}; give a share above 0, at most 1"))
}

fn retry(retry: &RetryPolicy) -> Checked {
    require((1..=1000).contains(&retry.attempts), "promises.retry.attempts", || {
        format!("is {}; give 1 to 1000, the first included", retry.attempts)
    })?;
    require(!retry.retryable.is_empty() || retry.attempts == 1, "promises.retry.retryable", || {
        "is empty, so that nothing is ever retried; list statuses and kinds".to_owned()
    })?;
    limits::retry(retry)?;
    let Some(limit) = retry.attempt_timeout else { return Ok(()) };
    timeout("promises.retry.attempt_timeout", limit)?;
    require(limit * retry.attempts <= LONGEST_PAYMENT, "promises.retry.attempt_timeout", || {
        format!("is {limit:?}: {} attempts that hang take more than an hour; lower one of them", retry.attempts)
    })
}

fn idempotency(keys: &IdempotencyPolicy) -> Checked {
    for (field, status) in [
        ("promises.idempotency.in_flight", Some(keys.in_flight)),
        ("promises.idempotency.mismatch", keys.mismatch),
        ("promises.idempotency.missing", keys.missing),
    ] {
        status.map_or(Ok(()), |status| error_status(field, status))?;
    }
    keys.replay_marker.as_deref().map_or(Ok(()), |name| header("promises.idempotency.replay_marker", name))
}

fn breaker(breaker: &BreakerPolicy) -> Checked {
    require((1..=1000).contains(&breaker.threshold), "promises.breaker.threshold", || {
        format!("is {}; give 1 to 1000", breaker.threshold)
    })?;
    require(breaker.probes != 0, "promises.breaker.probes", || {
        "is 0: a breaker without probes never closes again; give 1 to 31".to_owned()
    })?;
    require(breaker.probes <= 31, "promises.breaker.probes", || format!("is {}; give 1 to 31", breaker.probes))?;
    require((Duration::from_millis(100)..=LONGEST).contains(&breaker.open), "promises.breaker.open", || {
        format!("is {:?}; the battery can wait from 100ms to 10m", breaker.open)
    })?;
    // NaN is in no range.
    require((1.0..=100.0).contains(&breaker.growth), "promises.breaker.growth", || {
        format!("is {}; give a factor from 1 to 100", breaker.growth)
    })?;
    require(breaker.open.as_secs_f64() * breaker.growth <= LONGEST.as_secs_f64(), "promises.breaker.growth", || {
        format!("is {}: the second open time would exceed the 10m that the battery can wait", breaker.growth)
    })?;
    error_status("promises.breaker.reject", breaker.reject)?;
    let missing = matches!(breaker.mode, BreakerMode::Window) && breaker.window.is_none();
    require(!missing, "promises.breaker.window", || {
        "is missing; mode `window` needs the time it counts over".to_owned()
    })?;
    let window = breaker.window.unwrap_or(LONGEST);
    require(!window.is_zero() && window <= LONGEST, "promises.breaker.window", || {
        format!("is {window:?}; give more than zero and at most 10m")
    })
}

/// What the ends of calls count as.
fn outcomes(breaker: &BreakerPolicy, timeout: Option<Duration>) -> Checked {
    let field = "promises.breaker.outcomes";
    let ends = breaker.classified();
    for (i, (end, class)) in ends.iter().enumerate() {
        let other = ends.iter().take(i).find(|(seen, _)| seen == end);
        require(other.is_none(), field, || format!("names {end} twice, the second time as {class}; name it once"))?;
    }
    let hangs = ends.iter().any(|(end, _)| *end == CallEnd::Fails(Failure::Hang));
    require(!hangs || timeout.is_some(), field, || {
        "names \"hang\", but nothing says when a call that hangs has failed; give promises.retry.attempt_timeout"
            .to_owned()
    })?;
    let Some(slow) = breaker.slow_call else { return Ok(()) };
    let field = "promises.breaker.slow_call";
    require((Duration::from_millis(100)..=LONGEST).contains(&slow), field, || {
        format!("is {slow:?}; give 100ms to 10m, well above what a good call takes")
    })?;
    require(timeout.is_none_or(|t| slow < t), field, || {
        format!("is {slow:?}, which no call reaches before promises.retry.attempt_timeout; give less than that")
    })
}

pub(super) fn error_status(field: &str, status: u16) -> Checked {
    require((400..=599).contains(&status), field, || format!("is {status}; give a status from 400 to 599"))
}
