//! A breaker without half-open: it comes back whole.

use judge::checks::{Check, breaker};
use judge::promise::BreakerProfile;

use super::super::scenario::Scenario;
use super::{SAMPLES, by_policy};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Cycles of ejection and return.
const CYCLES: usize = 3;
/// Callers that come back together.
const CALLERS: usize = 8;

/// Ejection and return.
pub static BREAKER_EJECTION: Scenario = Scenario {
    name: "breaker-ejection",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.breaker.as_ref().is_some_and(|b| b.profile == BreakerProfile::Ejection),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    for cycle in 1..=CYCLES {
        rig.trip(format!("trip/{cycle}")).await?;
        let opened = rig.last_failure().await;
        rig.wait_until(opened + policy.open.mul_f64(0.75)).await;
        rig.pace(&format!("early/{cycle}"), opened + policy.open.mul_f64(0.9), policy.open / SAMPLES).await?;
        rig.wait_half_open().await?;
        rig.drive(Load::burst(format!("back/{cycle}"), CALLERS)).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        vec![breaker::trips_at_threshold(policy, link), breaker::stays_open(policy, link, contract.noise)]
    })
}
