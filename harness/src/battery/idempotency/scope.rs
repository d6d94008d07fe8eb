//! What a key belongs to.

use judge::checks::{Check, idempotency};
use judge::promise::KeyScope;

use super::super::scenario::Scenario;
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::load::{Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Keys that both owners use.
const KEYS: usize = 3;

/// What a key belongs to.
pub static KEY_SCOPE: Scenario = Scenario {
    name: "key-scope",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| !i.scope.is_empty()),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// One part for each promised scope, with keys of its own.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(policy) = rig.contract().promises.idempotency.clone() else {
        return Err(RigError::NotPromised { promise: "[promises.idempotency]" });
    };
    if policy.scope.contains(&KeyScope::Caller) {
        callers(rig).await?;
    }
    if let Some(route) = policy.scope_route.filter(|_| policy.scope.contains(&KeyScope::Route)) {
        routes(rig, &route).await?;
    }
    Ok(())
}

/// One caller, then another with the same keys. Then each its own once more.
async fn callers(rig: &Rig) -> Result<(), RigError> {
    let first = orders(&rig.drive(Load::sequence("first", KEYS)).await?);
    let other = last_differs(first.iter().map(|o| o.by_caller(1)).collect());
    rig.drive(Load::again("other", other.clone())).await?;
    rig.drive(Load::again("again", [first, other].concat())).await?;
    Ok(())
}

/// The payment, then the other route with the same keys. Then each its own once more.
async fn routes(rig: &Rig, route: &str) -> Result<(), RigError> {
    let first = orders(&rig.drive(Load::sequence("route/first", KEYS)).await?);
    let other = last_differs(first.clone());
    rig.drive(Load::again("route/other", other.clone()).route(route)).await?;
    rig.drive(Load::again("route/again", first)).await?;
    rig.drive(Load::again("route/again", other).route(route)).await?;
    Ok(())
}

/// The last of them asks for another amount: who takes both owners for one will then find that the payload differs.
fn last_differs(mut orders: Vec<Order>) -> Vec<Order> {
    if let Some(last) = orders.last_mut() {
        *last = last.with_other_amount();
    }
    orders
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![idempotency::key_belongs_to_its_owner(policy, link)])
}
