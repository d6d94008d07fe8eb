//! Many attempts under a low cap.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::promise::{Failure, RetryPolicy};

use super::super::scenario::Scenario;
use super::by_policy;
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments. With 67 waits at the cap each they show a loop without a wait in any eight successive retries.
const PAYMENTS: usize = 12;
/// How much longer than the service can take its clients wait.
const LONGER: Duration = Duration::from_secs(5);

/// Many attempts under a low cap.
pub static RETRY_CAP: Scenario = Scenario {
    name: "retry-cap",
    isolation: Isolation::Cap,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.retry.as_ref().is_some_and(|r| r.cap_check.is_some()),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let promised = rig.retry_policy()?;
    let Some(policy) = promised.cap_check.and_then(|cap| cap.policy(promised).ok()) else {
        return Err(RigError::NotPromised { promise: "promises.retry.cap_check" });
    };
    let Some(failure) = told_at_once(&policy) else {
        return Err(RigError::NotPromised { promise: "promises.retry.retryable: a status, reset, cut or lost" });
    };
    let fault = Fault::from(failure).always().planned(PAYMENTS * policy.attempts as usize);
    let load = Load::burst("capped", PAYMENTS).patience(patience(&policy));
    rig.during(fault, async |rig| rig.drive(load).await).await?;
    Ok(())
}

/// A retried failure that takes no time and leaves the attempt its name: 503 where it is among them, else the first status,
/// else a connection that breaks.
pub(crate) fn told_at_once(policy: &RetryPolicy) -> Option<Failure> {
    let among = |wanted: fn(&Failure) -> bool| policy.retryable.iter().copied().find(wanted);
    among(|f| *f == Failure::Status(503))
        .or_else(|| among(|f| matches!(f, Failure::Status(_))))
        .or_else(|| among(|f| matches!(f, Failure::Reset | Failure::Cut | Failure::Lost)))
}

/// The longest time that all waits of a payment can take together.
pub(crate) fn longest_waits(policy: &RetryPolicy) -> Duration {
    let retries = 0..policy.attempts.saturating_sub(1) as usize;
    let seconds = retries.map(|k| policy.backoff.support(k).1).sum();
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// A client waits for the deadline, or twice as long as all waits can take: attempts and noise take time as well.
fn patience(policy: &RetryPolicy) -> Duration {
    policy.deadline.unwrap_or_else(|| longest_waits(policy).saturating_mul(2)).saturating_add(LONGER)
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        policy.cap_check.iter().map(|cap| retry::cap_holds(policy, cap, link, contract.noise)).collect()
    })
}
