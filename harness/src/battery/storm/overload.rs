//! Twice as many payments as the dependency can bear.

use std::time::Duration;

use judge::checks::{Check, storm};

use super::super::scenario::Scenario;
use super::CAPACITY;
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// How many times the dependency's capacity is asked for.
const TIMES: f64 = 2.0;
/// For how long: longer than a call may wait, so that a line without end shows.
const OVER: Duration = Duration::from_secs(4);

/// More than the dependency can do.
pub static OVERLOAD: Scenario = Scenario {
    name: "overload",
    isolation: Isolation::None,
    timed: false,
    alone: true,
    restarts: false,
    applies: |contract| contract.promises.overload.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    rig.limit_bank(CAPACITY).await?;
    let payments = TIMES * CAPACITY.per_second() * OVER.as_secs_f64();
    rig.drive(Load::paced("overload", payments as usize, OVER)).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let policy = contract.promises.overload.iter();
    policy.map(|policy| storm::goodput(policy, contract.main_link(), CAPACITY.per_second())).collect()
}
