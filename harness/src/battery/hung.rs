//! A dependency that hangs, and the time to an answer.

use std::time::Duration;

use judge::checks::{Check, timeout};

use super::scenario::Scenario;
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments.
const PAYMENTS: usize = 5;
/// How much longer than promised a client waits.
const LONGER: Duration = Duration::from_millis(1500);

/// A dependency that hangs, and the time to an answer.
pub static HUNG: Scenario = Scenario {
    name: "hung",
    isolation: Isolation::Retry,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.timeout.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Payments at once, whose every call to the dependency is read and never answered.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(policy) = rig.contract().promises.timeout else { return Ok(()) };
    let load = Load::burst("hung", PAYMENTS).patience(policy.answer + LONGER);
    rig.during(Fault::Hang.always().planned(PAYMENTS), async |rig| rig.drive(load).await).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let link = contract.main_link();
    let check = |policy| timeout::answers_in_time(policy, link, contract.noise);
    contract.promises.timeout.iter().map(check).collect()
}
