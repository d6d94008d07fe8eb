//! An even load before, during and after an outage of a dependency that can do twice as much and no more.

use std::time::Duration;

use judge::checks::{Check, storm};

use super::super::retry::retried;
use super::super::scenario::Scenario;
use super::CAPACITY;
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError, TimedFault};

/// Payments a second: half of what the dependency can do, so that doubled requests are already too many.
const RATE: f64 = 100.0;
/// Before the outage, the outage, and what is looked at after the promised time.
const BEFORE: Duration = Duration::from_millis(1_200);
const OUTAGE: Duration = Duration::from_millis(1_200);
const AFTERMATH: Duration = Duration::from_millis(1_300);
/// Strikes without which there was no outage: an open breaker lets through a few only.
const STRIKES: usize = 3;

/// An outage under load, and the way back.
pub static RECOVERY: Scenario = Scenario {
    name: "recovery",
    isolation: Isolation::None,
    timed: false,
    alone: true,
    restarts: false,
    applies: |contract| contract.promises.recovery.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let promised = rig.contract().promises.recovery.as_ref();
    let within = promised.ok_or(RigError::NotPromised { promise: "[promises.recovery]" })?.within;
    rig.limit_bank(CAPACITY).await?;
    let over = BEFORE + OUTAGE + within + AFTERMATH;
    let load = Load::paced("load", (RATE * over.as_secs_f64()) as usize, over);
    let outage = TimedFault {
        disturbance: retried(rig).unwrap_or_else(|_| Fault::Status(503).always()).planned(STRIKES),
        link: rig.contract().main_link().to_owned(),
        from: BEFORE,
        to: Some(BEFORE + OUTAGE),
    };
    rig.timeline(load, vec![outage]).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let policy = contract.promises.recovery.iter();
    policy.map(|policy| storm::recovers_after_trigger(policy, contract.main_link())).collect()
}
