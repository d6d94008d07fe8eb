//! Scenarios of the breaker promise.

use std::time::Duration;

use judge::promise::{BreakerMode, BreakerPolicy};

use super::{CYCLES, PROBE_COMPANIONS};
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Rig, RigError};

/// Share of the open time in which the calls of `open` are sent: long enough for the breaker's endpoint to be read.
const OPEN_CALLS: f64 = 0.6;
/// How long before the end of the open time the last early call is sent.
const EARLY_MARGIN: Duration = Duration::from_millis(20);
/// Calls that a stretch of open time is sampled with, about.
const SAMPLES: u32 = 40;

/// The threshold, and the fast failure after it.
pub(super) async fn trip(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    rig.drive(Load::sequence("good", 3)).await?;
    rig.fail_below_threshold("below").await?;
    start_over(rig, &policy, "reset").await?;
    rig.fail_below_threshold("below-again").await?;
    start_over(rig, &policy, "closed").await?;
    rig.trip("trip").await?;
    rig.pace("open", rig.last_failure() + policy.open.mul_f64(OPEN_CALLS), policy.open / SAMPLES).await
}

/// Half-open with a held probe that succeeds, three cycles.
pub(super) async fn recovery(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    for cycle in 1..=CYCLES {
        rig.trip(format!("trip/{cycle}")).await?;
        let opened = rig.last_failure();
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

/// Probes that fail, are refused, or hang; then a good one.
pub(super) async fn relapse(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    let mut fates = vec![("fails", Fault::Status(500)), ("refused", Fault::Refuse)];
    if rig.contract().promises.retry.as_ref().is_some_and(|r| r.attempt_timeout.is_some()) {
        fates.push(("hangs", Fault::Hang));
    }
    for (fate, fault) in fates {
        rig.trip(format!("trip/{fate}")).await?;
        rig.wait_half_open().await?;
        let load = Load::sequence(format!("fate/{fate}"), 1);
        rig.during(fault.always().planned(1), async |rig| rig.drive(load).await).await?;
        let (reopened, open) = (rig.last_failure(), policy.open.mul_f64(policy.growth));
        rig.pace(&format!("reopened/{fate}"), reopened + open.mul_f64(0.75), open / SAMPLES).await?;
        rig.wait_until(reopened + open + rig.eps()).await;
        rig.hold_while(Load::burst(format!("probe/{fate}"), 1 + PROBE_COMPANIONS)).await?;
        rig.drive(Load::sequence(format!("closed/{fate}"), 3)).await?;
    }
    Ok(())
}

/// A good call; where failures are counted in a window, the window passes first.
async fn start_over(rig: &Rig, policy: &BreakerPolicy, step: &str) -> Result<(), RigError> {
    if let (BreakerMode::Window, Some(window)) = (policy.mode, policy.window) {
        rig.wait_until(rig.now() + window + rig.eps()).await;
    }
    rig.drive(Load::sequence(step, 1)).await?;
    Ok(())
}
