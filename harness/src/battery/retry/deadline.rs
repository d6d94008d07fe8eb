//! The deadline of a request, and clients that leave.

use std::time::Duration;

use chaos_proxy::{Effect, Fault as Strike, Per, Phase, RetryAfter, Step, Then};
use judge::checks::{Check, retry};
use judge::promise::{Failure, RetryPolicy};

use super::super::scenario::Scenario;
use super::{by_policy, retried};
use crate::contract::Contract;
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments of each step.
const PAYMENTS: usize = 3;
/// How much longer than the deadline a client waits.
const LONGER: Duration = Duration::from_millis(1500);
/// The longest deadline over which a wait is measured in whole seconds.
const SHORT: Duration = Duration::from_secs(10);

/// The deadline of a request, and clients that leave.
pub static RETRY_DEADLINE: Scenario = Scenario {
    name: "retry-deadline",
    isolation: Isolation::Retry,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| {
        let promised = |r: &RetryPolicy| r.deadline.is_some() || (r.stops_when_client_leaves && r.attempts > 2);
        contract.promises.retry.as_ref().is_some_and(promised)
    },
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.retry_policy()?.clone();
    if let Some(deadline) = policy.deadline {
        let load = Load::burst("hung", PAYMENTS).patience(deadline + LONGER);
        rig.during(Fault::Hang.always().planned(PAYMENTS), async |rig| rig.drive(load).await).await?;
        if let Some(told) = told_to_wait(&policy, deadline) {
            let load = Load::burst("told-to-wait", PAYMENTS).patience(deadline + LONGER);
            rig.during(told, async |rig| rig.drive(load).await).await?;
        }
    }
    if policy.stops_when_client_leaves && policy.attempts > 2 {
        let load = Load::leaving("left/failed", PAYMENTS, 2);
        rig.during(retried(rig)?.planned(2 * PAYMENTS), async |rig| rig.drive(load).await).await?;
        if let (Some(_), true) = (policy.attempt_timeout, policy.retries(Failure::Hang)) {
            let load = Load::leaving("left/hung", PAYMENTS, 2);
            rig.during(then_hang(&policy), async |rig| rig.drive(load).await).await?;
        }
        let longest = policy.backoff.support(policy.attempts as usize - 2).1;
        rig.watch("watch", Duration::try_from_secs_f64(longest).unwrap_or(SHORT).min(SHORT) + 2 * rig.eps()).await;
    }
    Ok(())
}

/// A wait that fits into the deadline once and not twice, in whole seconds; none for a deadline that has no such or is long.
fn told_to_wait(policy: &RetryPolicy, deadline: Duration) -> Option<Disturbance> {
    let after = policy.retry_after?;
    let status = [503, 429].into_iter().find(|s| policy.retries(Failure::Status(*s)))?;
    let seconds = (1..SHORT.as_secs()).find(|s| 2 * Duration::from_secs(*s) > deadline)?;
    let fits = deadline <= SHORT && after.limit.is_none_or(|l| Duration::from_secs(seconds) <= l);
    let form = RetryAfter::Seconds(i64::try_from(seconds).ok()?);
    let strike = Strike::at(Phase::Request, Effect::retry_after(status, form));
    (fits && policy.attempts > 1).then(|| Disturbance::of(strike).planned(PAYMENTS))
}

/// The first attempt of each key fails, the next ones hang.
fn then_hang(policy: &RetryPolicy) -> Disturbance {
    let status = policy.retryable.iter().find(|f| matches!(f, Failure::Status(_))).copied();
    let first = Fault::from(status.unwrap_or(Failure::Hang)).strike();
    let steps = [Step::from(first), Step::from(Fault::Hang.strike())];
    Disturbance::in_turn(steps, Per::Key, Then::RepeatLast).planned(2 * PAYMENTS)
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![retry::deadline_and_cancel(policy, link, contract.noise)])
}
