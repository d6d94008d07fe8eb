//! A window of time that moves on.

use std::time::Duration;

use judge::checks::{Check, breaker};
use judge::promise::BreakerMode;

use super::super::scenario::Scenario;
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// In a shorter window the noise bound would hide what left it.
const SHORTEST: Duration = Duration::from_millis(500);
/// Share of the window after which the later failures come.
const LATER: f64 = 0.7;

/// Failures spread over more than the window, and then one more.
pub static BREAKER_WINDOW: Scenario = Scenario {
    name: "breaker-window",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies,
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Too few readings of the endpoint fall into so short a time to judge them here.
fn checks(contract: &Contract) -> Vec<Check> {
    let policy = contract.promises.breaker.as_ref();
    policy.map(|policy| breaker::trips_at_threshold(policy, contract.main_link())).into_iter().collect()
}

fn applies(contract: &Contract) -> bool {
    contract.promises.breaker.as_ref().is_some_and(|b| {
        b.mode == BreakerMode::Window && b.threshold > 2 && b.window.is_some_and(|window| window >= SHORTEST)
    })
}

/// The first failure has left the window when the last ones come: of `threshold` failures one less counts. A window that
/// never moves opens one failure early, one that starts anew at its end opens late.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    let window = policy.window.unwrap_or_default();
    rig.drive(Load::sequence("good", 3)).await?;
    let failures = policy.threshold as usize - 1;
    rig.during(rig.failing().planned(failures), async |rig| {
        rig.drive(Load::sequence("sparse", 1)).await?;
        let first = rig.last_failure().await;
        rig.wait_until(first + window.mul_f64(LATER)).await;
        rig.drive(Load::sequence("sparse/later", failures - 1)).await?;
        rig.wait_until(first + window + 3 * rig.eps()).await;
        Ok(())
    })
    .await?;
    rig.fail_until_open("trip/slid", 2).await
}
