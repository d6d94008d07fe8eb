//! Calls that were sent while the breaker was closed and end while it is open or half-open.

use judge::checks::breaker;

use super::super::scenario::Scenario;
use super::{by_policy, half_opens};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Held calls of a cycle: one ends while open, one while the probes are held.
const LATE: usize = 2;
/// Share of the open time after which the first of them ends: late enough to show an open time that starts anew.
const WHILE_OPEN: f64 = 0.4;
/// Callers beside the probes, and behind the late answer.
const COMPANIONS: usize = 2;

/// Late answers, good ones and failures.
pub static BREAKER_LATE: Scenario = Scenario {
    name: "breaker-late",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| half_opens(contract) && waits_long_enough(contract),
    run: |rig| Box::pin(run(rig)),
    checks: |contract| {
        by_policy(contract, |policy, link| vec![breaker::stale_outcomes_change_nothing(policy, link, contract.noise)])
    },
};

/// Whether a call can be held from closed to half-open before the service gives it up.
pub(crate) fn waits_long_enough(contract: &Contract) -> bool {
    let timeout = contract.promises.retry.as_ref().and_then(|r| r.attempt_timeout);
    let open = contract.promises.breaker.as_ref().map(|b| b.open);
    timeout.is_none_or(|t| open.is_some_and(|open| t > open + 3 * contract.noise.eps))
}

async fn run(rig: &Rig) -> Result<(), RigError> {
    cycle(rig, "succeeds", false).await?;
    cycle(rig, "fails", true).await
}

async fn cycle(rig: &Rig, x: &str, failing: bool) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    let (probes, step) = (policy.probes as usize, |base: &str| format!("{base}/{x}"));
    rig.fail_below_threshold(step("below")).await?;
    rig.with_late(Load::burst(step("late"), LATE), failing, async |rig, late| {
        rig.fail_until_open(step("trip"), 1).await?;
        let opened = rig.last_failure().await;
        rig.wait_until(opened + policy.open.mul_f64(WHILE_OPEN)).await;
        late.release_one().await?;
        rig.drive(Load::sequence(step("open"), 3)).await?;
        rig.wait_until(opened + policy.open + rig.eps()).await;
        let probe = Load::burst(step("probe"), probes + COMPANIONS);
        rig.late_while_probing(probe, late, Load::burst(step("during"), probes + COMPANIONS)).await
    })
    .await?;
    rig.drive(Load::sequence(step("closed"), 3)).await?;
    Ok(())
}
