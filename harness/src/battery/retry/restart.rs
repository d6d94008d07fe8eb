//! The gaps of two herds, and a restart between them.

use judge::checks::{Check, retry};

use super::super::scenario::Scenario;
use super::{by_policy, retried};
use crate::contract::Contract;
use crate::load::{Load, Replica};
use crate::rig::{Isolation, Rig, RigError};

/// Payments of each start: as many gaps as the law's own scenario has.
const CLIENTS: usize = 100;
/// Payments in flight. What queueing adds costs the comparison some power and no false alarm, so there may be more of
/// them than where the law itself is measured.
const IN_FLIGHT: usize = 50;

/// The gaps before and after a restart.
pub static RETRY_RESTART: Scenario = Scenario {
    name: "retry-restart",
    isolation: Isolation::Retry,
    timed: true,
    alone: true,
    restarts: true,
    // A law without jitter draws nothing that could repeat.
    applies: |contract| contract.promises.retry.as_ref().is_some_and(retry::excludes_a_herd),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// The same herd twice, every attempt fails; the service is killed and started again in between.
async fn run(rig: &Rig) -> Result<(), RigError> {
    start(rig, "start/1", Replica::First).await?;
    rig.kill_service().await?;
    rig.start_service().await?;
    start(rig, "start/2", Replica::First).await
}

/// A herd at an instance, every attempt fails.
pub(super) async fn start(rig: &Rig, step: &str, replica: Replica) -> Result<(), RigError> {
    let fault = retried(rig)?.planned(CLIENTS * rig.retry_policy()?.attempts as usize);
    rig.during(fault, async |rig| rig.drive(Load::waves(step, CLIENTS, IN_FLIGHT).to(replica)).await).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| match retry::excludes_a_herd(policy) {
        true => vec![retry::draws_anew(policy, link, contract.noise)],
        false => Vec::new(),
    })
}
