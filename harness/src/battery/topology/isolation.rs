//! One dependency's breaker is open: what of the other's routes?

use judge::checks::{Check, topology};

use super::super::scenario::Scenario;
use super::beside;
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Calls of a route.
const CALLS: usize = 5;
/// Failures of the route's dependency beyond the threshold.
const PATIENCE: usize = 5;

/// One dependency's breaker is open.
pub static BREAKER_ISOLATION: Scenario = Scenario {
    name: "breaker-isolation",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.isolation.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(policy) = rig.contract().promises.isolation.clone() else {
        return Err(RigError::NotPromised { promise: "[promises.isolation]" });
    };
    let threshold = rig.breaker_policy()?.threshold as usize;
    for route in beside(rig.contract(), &policy.routes) {
        let (name, link) = (route.route, route.link);
        let step = |word: &str| format!("{word}/{name}");
        rig.drive(Load::sequence(step("alone"), CALLS).route(&name)).await?;
        rig.trip(step("trip")).await?;
        // One payment before and one after: both are rejected without a call only if the breaker was open all the while.
        rig.drive(Load::sequence(step("open"), 1)).await?;
        // At once: one after the other they may outlast the open time on a busy machine.
        rig.drive(Load::burst(step("beside"), CALLS).route(&name)).await?;
        rig.drive(Load::sequence(step("still-open"), 1)).await?;
        rig.wait_half_open().await?;
        rig.drive(Load::sequence(step("recover"), 1)).await?;
        let load = Load::until_open(step("struck"), threshold + PATIENCE).route(&name);
        let fault = rig.failing().on(link).planned(1);
        rig.during(fault, async |rig| rig.drive(load).await).await?;
        rig.drive(Load::sequence(step("payments"), 3)).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let promises = &contract.promises;
    let (Some(isolation), Some(breaker)) = (&promises.isolation, &promises.breaker) else { return Vec::new() };
    let routes = beside(contract, &isolation.routes);
    vec![topology::breaker_isolation(breaker, contract.main_link(), &routes)]
}
