//! What a key belongs to.

use judge::checks::{Check, idempotency};
use judge::promise::KeyScope;

use super::super::scenario::Scenario;
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::load::{Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Keys that both callers use.
const KEYS: usize = 3;

/// What a key belongs to.
pub static KEY_SCOPE: Scenario = Scenario {
    name: "key-scope",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| i.scope.contains(&KeyScope::Caller)),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// One caller, then another with the same keys; the last of them also asks for another amount. Then each its own once more.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let first = orders(&rig.drive(Load::sequence("first", KEYS)).await?);
    let mut other: Vec<Order> = first.iter().map(|o| o.by_caller(1)).collect();
    if let Some(last) = other.last_mut() {
        *last = last.with_other_amount();
    }
    rig.drive(Load::again("other", other.clone())).await?;
    rig.drive(Load::again("again", [first, other].concat())).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![idempotency::key_belongs_to_caller(policy, link)])
}
