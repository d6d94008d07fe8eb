//! Failures that overlap.

use judge::checks::{Check, breaker};

use super::super::scenario::Scenario;
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Calls beyond the threshold that fail together.
const BEYOND: usize = 15;

/// A crowd that fails together, and callers behind it.
pub static BREAKER_CROWD: Scenario = Scenario {
    name: "breaker-crowd",
    isolation: Isolation::Breaker,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.breaker.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Too few readings of the endpoint fall into so short a time to judge them here.
fn checks(contract: &Contract) -> Vec<Check> {
    let policy = contract.promises.breaker.as_ref();
    policy.map(|policy| breaker::overshoot_is_bounded(policy, contract.main_link())).into_iter().collect()
}

async fn run(rig: &Rig) -> Result<(), RigError> {
    let threshold = rig.breaker_policy()?.threshold as usize;
    rig.drive(Load::sequence("good", 3)).await?;
    // All of them wait at the proxy with a 500 each, and get it at the same moment.
    rig.with_late(Load::burst("crowd/1", threshold + BEYOND), true, async |_, _| Ok(())).await?;
    rig.fail_until_open("after/1", 0).await
}
