//! How long a key is known.

use judge::checks::{Check, idempotency};

use super::super::scenario::Scenario;
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Keys that are repeated within their life, and as many that are left alone until it is over.
const KEYS: usize = 3;
/// When in its life a key is repeated late.
const LATE: f64 = 0.75;

/// How long a key is known.
pub static KEY_EXPIRY: Scenario = Scenario {
    name: "key-expiry",
    isolation: Isolation::Ttl,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| i.ttl.is_some()),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Half of the keys are repeated at once and late in their life, the other half after it.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let ttl = rig.idempotency_policy()?.ttl.unwrap_or_default();
    let began = rig.now();
    let mut known = orders(&rig.drive(Load::burst("first", 2 * KEYS)).await?);
    let ended = rig.now();
    let idle = known.split_off(KEYS);
    rig.drive(Load::again("within", known.clone())).await?;
    rig.wait_until(began + ttl.mul_f64(LATE)).await;
    rig.drive(Load::again("late", known)).await?;
    rig.wait_until(ended + ttl + rig.eps()).await;
    rig.drive(Load::again("expired", idle)).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        policy.ttl.map(|_| idempotency::key_expires_as_declared(policy, link)).into_iter().collect()
    })
}
