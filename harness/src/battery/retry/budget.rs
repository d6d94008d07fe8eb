//! The retry budget: spent, earned back, spent again.

use chaos_proxy::{Per, Step, Then};
use judge::checks::{Check, retry};
use judge::promise::{BudgetPolicy, Failure, RetryPolicy};

use super::super::scenario::Scenario;
use super::{by_policy, retried};
use crate::contract::Contract;
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments in flight.
const IN_FLIGHT: usize = 8;
/// Payments of the mixed step: so many groups of four attempts, of which three fail.
const GROUPS: usize = 6;
/// The most payments of a step.
const MOST: usize = 400;

/// The retry budget: spent, earned back, spent again.
pub static RETRY_BUDGET: Scenario = Scenario {
    name: "retry-budget",
    isolation: Isolation::Budget,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.retry.as_ref().is_some_and(|r| r.budget.is_some() && r.attempts > 1),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Between the steps passes twice the noise bound, so that nobody can doubt which came first.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.retry_policy()?.clone();
    let Some(budget) = policy.budget else { return Ok(()) };
    let fails = || failure(rig, &policy, &budget);
    // One by itself: a budget that is empty from the start cannot hide behind others.
    rig.during(fails()?.planned(1), async |rig| rig.drive(Load::sequence("alone", 1)).await).await?;
    pause(rig).await;
    let payments = to_drain(&policy, &budget);
    let load = Load::waves("drain", payments, IN_FLIGHT);
    rig.during(fails()?.planned(payments), async |rig| rig.drive(load).await).await?;
    pause(rig).await;
    let strike = retried_fault(&policy).strike();
    let steps = [Step::from(strike.clone()), Step::from(strike.clone()), Step::from(strike), Step::Pass];
    let mixed = Disturbance::in_turn(steps, Per::Link, Then::Cycle).planned(2 * GROUPS);
    rig.during(mixed, async |rig| rig.drive(Load::waves("mixed", 4 * GROUPS, IN_FLIGHT)).await).await?;
    pause(rig).await;
    rig.drive(Load::waves("refill", budget.refill().min(MOST), IN_FLIGHT)).await?;
    pause(rig).await;
    rig.during(fails()?.planned(1), async |rig| rig.drive(Load::sequence("after", 1)).await).await?;
    Ok(())
}

async fn pause(rig: &Rig) {
    rig.wait_until(rig.now() + 2 * rig.eps()).await;
}

/// A failure of every attempt. Where retries are limited by how many run at a time, they must take some: there it is a
/// dependency that hangs, if the service promises to notice.
fn failure(rig: &Rig, policy: &RetryPolicy, budget: &BudgetPolicy) -> Result<Disturbance, RigError> {
    let hangs = policy.retries(Failure::Hang) && policy.attempt_timeout.is_some();
    match budget {
        BudgetPolicy::ActiveShare { .. } if hangs => Ok(Fault::Hang.always()),
        _ => retried(rig),
    }
}

/// A failure that is retried, for single attempts: a status where one is.
fn retried_fault(policy: &RetryPolicy) -> Fault {
    let status = policy.retryable.iter().find(|f| matches!(f, Failure::Status(_)));
    status.or(policy.retryable.first()).copied().map_or(Fault::Status(503), Fault::from)
}

/// So many failing payments that their retries would be twice what the budget allows.
fn to_drain(policy: &RetryPolicy, budget: &BudgetPolicy) -> usize {
    let retries = (policy.attempts as usize).saturating_sub(1).max(1);
    let enough = |n: &usize| n * retries >= 2 * budget.allowance(*n) + 10;
    [20, 40, 80, 160, 320].into_iter().find(enough).unwrap_or(MOST)
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        policy.budget.iter().map(|budget| retry::budget_holds(policy, budget, link, contract.noise)).collect()
    })
}
