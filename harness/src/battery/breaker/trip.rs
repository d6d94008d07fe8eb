//! The threshold, and the fast failure after it.

use judge::checks::{Check, breaker};

use super::super::scenario::Scenario;
use super::{SAMPLES, by_policy, start_over};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Share of the open time in which the calls of `open` are sent: long enough for the breaker's endpoint to be read.
const OPEN_CALLS: f64 = 0.6;

/// The threshold, and the fast failure after it.
pub static BREAKER_TRIP: Scenario = Scenario {
    name: "breaker-trip",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.breaker.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// The threshold, and the fast failure after it.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    rig.drive(Load::sequence("good", 3)).await?;
    rig.fail_below_threshold("below").await?;
    start_over(rig, &policy, "reset").await?;
    rig.fail_below_threshold("below-again").await?;
    start_over(rig, &policy, "closed").await?;
    rig.trip("trip").await?;
    rig.pace("open", rig.last_failure().await + policy.open.mul_f64(OPEN_CALLS), policy.open / SAMPLES).await
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        vec![breaker::trips_at_threshold(policy, link), breaker::open_fails_fast(policy, link, contract.noise)]
    })
}
