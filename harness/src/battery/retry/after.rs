//! `Retry-After` in all its forms.

use std::time::Duration;

use chaos_proxy::{Effect, Fault as Strike, Per, Phase, RetryAfter, Step, Then};
use judge::checks::{Check, retry};
use judge::promise::{Failure, RetryPolicy};

use super::super::scenario::{Scenario, same_request};
use super::by_policy;
use crate::contract::Contract;
use crate::faults::Disturbance;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// The statuses that usually carry it.
const STATUSES: [u16; 2] = [429, 503];
/// How much longer than the deadline a client waits, so that a service that sleeps on is seen to.
const LONGER: Duration = Duration::from_secs(1);

/// `Retry-After` in all its forms.
pub static RETRY_AFTER: Scenario = Scenario {
    name: "retry-after",
    isolation: Isolation::Retry,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| {
        let promised = |r: &RetryPolicy| r.retry_after.is_some() && r.attempts > 1 && !statuses(r).is_empty();
        contract.promises.retry.as_ref().is_some_and(promised)
    },
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Those of the statuses that are promised to be retried.
fn statuses(policy: &RetryPolicy) -> Vec<u16> {
    STATUSES.into_iter().filter(|s| policy.retries(Failure::Status(*s))).collect()
}

/// The forms: what is waited out first, so that a service without keys meets each of them at a first attempt.
fn forms(policy: &RetryPolicy) -> Vec<RetryAfter> {
    let mut forms = vec![RetryAfter::HttpDateInS(2), RetryAfter::Seconds(1)];
    let limited = policy.deadline.is_some() || policy.retry_after.is_some_and(|a| a.limit.is_some());
    // Without any limit the service would rightly sleep for a day.
    forms.extend(limited.then_some(RetryAfter::Seconds(86_400)));
    forms.extend([RetryAfter::Text("2.5".into()), RetryAfter::Seconds(-1), RetryAfter::Text("soon".into())]);
    forms.extend([RetryAfter::HttpDateInS(-3600), RetryAfter::Seconds(0)]);
    forms
}

/// All at once, one payment for each form and status: its first attempt is told, its next one passes.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.retry_policy()?;
    let of = |status: u16| forms(policy).into_iter().map(move |form| Effect::retry_after(status, form));
    let steps: Vec<Step> =
        statuses(policy).into_iter().flat_map(of).map(|e| Step::from(Strike::at(Phase::Request, e))).collect();
    let mut load = Load::burst("told", steps.len());
    load.patience = policy.deadline.map(|d| d + LONGER);
    let mut fault = Disturbance::in_turn(steps, Per::Link, Then::Pass);
    if rig.contract().promises.idempotency.is_some() {
        // With keys the proxy knows a first attempt from a retry, so that no payment meets two forms.
        fault = fault.on_first_attempts();
    }
    rig.during(fault, async |rig| rig.drive(load).await).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| {
        let check = |after| retry::retry_after_is_honoured(policy, after, link, contract.noise);
        policy.retry_after.iter().map(check).collect()
    });
    checks.extend(same_request(contract));
    checks
}
