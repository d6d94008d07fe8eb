//! Half-open, the single probe, and the way back.

use std::time::Duration;

use judge::checks::{Check, breaker};

use super::super::scenario::Scenario;
use super::{PROBE_COMPANIONS, SAMPLES, by_policy, half_opens, start_over};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Cycles of trip and recovery.
const CYCLES: usize = 3;
/// How long before the end of the open time the last early call is sent.
const EARLY_MARGIN: Duration = Duration::from_millis(20);

/// Half-open, the single probe, and the way back.
pub static BREAKER_RECOVERY: Scenario = Scenario {
    name: "breaker-recovery",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: half_opens,
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Half-open with a held probe that succeeds, three cycles.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    for cycle in 1..=CYCLES {
        rig.trip(format!("trip/{cycle}")).await?;
        let opened = rig.last_failure().await;
        rig.wait_until(opened + policy.open.mul_f64(0.75)).await;
        let last_early = opened + policy.open.saturating_sub(EARLY_MARGIN);
        rig.pace(&format!("early/{cycle}"), last_early, policy.open / SAMPLES).await?;
        rig.wait_half_open().await?;
        rig.hold_while(Load::burst(format!("probe/{cycle}"), 1 + PROBE_COMPANIONS)).await?;
        rig.drive(Load::sequence(format!("closed/{cycle}"), 3)).await?;
        rig.fail_below_threshold(format!("below/{cycle}")).await?;
        start_over(rig, &policy, &format!("alive/{cycle}")).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        vec![
            breaker::trips_at_threshold(policy, link),
            breaker::stays_open(policy, link, contract.noise),
            breaker::half_open_single_probe(policy, link),
            breaker::probe_success_resets(policy, link),
        ]
    })
}
