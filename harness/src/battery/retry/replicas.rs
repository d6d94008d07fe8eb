//! The gaps of two replicas.

use judge::checks::{Check, retry};

use super::super::scenario::Scenario;
use super::by_policy;
use super::restart::start;
use crate::contract::Contract;
use crate::load::Replica;
use crate::rig::{Isolation, Rig, RigError};

/// The gaps of two replicas.
pub static RETRY_REPLICAS: Scenario = Scenario {
    name: "retry-replicas",
    isolation: Isolation::Retry,
    timed: true,
    alone: true,
    restarts: true,
    // A law without jitter draws nothing that could repeat.
    applies: |contract| contract.promises.retry.as_ref().is_some_and(retry::excludes_a_herd),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// The same herd at each of two replicas, every attempt fails.
async fn run(rig: &Rig) -> Result<(), RigError> {
    rig.start_replica().await?;
    start(rig, "start/1", Replica::First).await?;
    start(rig, "start/2", Replica::Second).await
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| match retry::excludes_a_herd(policy) {
        true => vec![retry::draws_anew(policy, link, contract.noise)],
        false => Vec::new(),
    })
}
