//! One dependency hangs: what of the other's routes?

use judge::checks::{Check, topology};

use super::super::scenario::Scenario;
use super::beside;
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Calls of a route, before the hang and in it: enough for a 99th percentile.
const CALLS: usize = 200;
/// Calls that are not judged: first ones cost more.
const WARM: usize = 20;
/// Calls in flight.
const IN_FLIGHT: usize = 4;

/// One dependency hangs.
pub static BULKHEAD: Scenario = Scenario {
    name: "bulkhead",
    isolation: Isolation::Bulkhead,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.bulkhead.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(policy) = rig.contract().promises.bulkhead.clone() else {
        return Err(RigError::NotPromised { promise: "[promises.bulkhead]" });
    };
    for route in policy.routes {
        let load = |word: &str, calls| Load::waves(format!("{word}/{route}"), calls, IN_FLIGHT).route(&route);
        rig.drive(load("warm", WARM)).await?;
        rig.drive(load("alone", CALLS)).await?;
        let hung = Load::burst(format!("hung/{route}"), policy.callers as usize);
        let beside = load("beside", CALLS);
        rig.hang_while(hung, async |rig| rig.drive(beside).await.map(drop)).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let policies = contract.promises.bulkhead.iter();
    let of = |policy: &judge::promise::BulkheadPolicy| {
        let routes = beside(contract, &policy.routes);
        topology::bulkhead_holds(policy, contract.main_link(), &routes, contract.noise)
    };
    policies.map(of).collect()
}
