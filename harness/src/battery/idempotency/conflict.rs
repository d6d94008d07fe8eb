//! A call that still runs at the dependency.

use judge::checks::{Check, idempotency};

use super::super::scenario::Scenario;
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::faults::Disturbance;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments.
const PAYMENTS: usize = 3;

/// A call that still runs at the dependency.
pub static BANK_CONFLICT: Scenario = Scenario {
    name: "bank-conflict",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| i.waits_out.is_some()),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Payments whose first calls meet the conflict; then their keys once more.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let missing = RigError::NotPromised { promise: "promises.idempotency.waits_out" };
    let pending = rig.idempotency_policy()?.waits_out.clone().ok_or(missing)?;
    // Whoever tries twice only would be left without an attempt that succeeds.
    let conflicts = if rig.contract().promises.retry.as_ref().is_some_and(|r| r.attempts >= 3) { 2 } else { 1 };
    let fault = Disturbance::pending_first(conflicts, &pending).planned(PAYMENTS);
    let load = Load::burst("conflict", PAYMENTS);
    let asked = rig.during(fault, async |rig| rig.drive(load).await).await?;
    rig.drive(Load::again("settled", orders(&asked))).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![idempotency::conflict_is_pending(policy, link)])
}
