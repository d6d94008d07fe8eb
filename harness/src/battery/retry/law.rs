//! The gaps of many independent retries.

use judge::checks::{Check, retry};

use super::super::scenario::{Scenario, same_request};
use super::{by_policy, retried, retries, telemetry};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Clients: the recommended default of the battery of statistics.
const CLIENTS: usize = 100;
/// Clients in flight: few enough that the service's own pools stay out of the gaps.
const IN_FLIGHT: usize = 20;

/// The gaps of many independent retries.
pub static RETRY_LAW: Scenario = Scenario {
    name: "retry-law",
    isolation: Isolation::Retry,
    timed: true,
    alone: false,
    restarts: false,
    applies: retries,
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Independent retries: few in flight, every attempt fails.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let fault = retried(rig)?.planned(CLIENTS * rig.retry_policy()?.attempts as usize);
    rig.during(fault, async |rig| rig.drive(Load::waves("waves", CLIENTS, IN_FLIGHT)).await).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| {
        vec![retry::bounded_attempts(policy, link), retry::backoff_law(policy, link, contract.noise)]
    });
    checks.extend(same_request(contract));
    checks.extend(telemetry(contract));
    checks
}
