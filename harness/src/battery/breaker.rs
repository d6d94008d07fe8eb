//! Scenarios of the breaker promise.

use std::time::Duration;

use judge::promise::{BreakerMode, BreakerPolicy};

use super::{CYCLES, PROBE_COMPANIONS};
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Rig, RigError};

/// Calls beyond the threshold that a trip may take before the battery gives up on it.
const PATIENCE: usize = 5;
/// Calls while open.
const OPEN_CALLS: usize = 20;
/// How long before the end of the open time the last early call is sent.
const EARLY_MARGIN: Duration = Duration::from_millis(20);

fn failing() -> Disturbance {
    Fault::Status(500).always()
}

/// The threshold, and the fast failure after it.
pub(super) async fn trip(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    rig.drive(Load::sequence("good", 3)).await?;
    below(rig, &policy, "below").await?;
    start_over(rig, &policy, "reset").await?;
    below(rig, &policy, "below-again").await?;
    start_over(rig, &policy, "closed").await?;
    open_it(rig, &policy, "trip").await?;
    rig.drive(Load::sequence("open", OPEN_CALLS)).await?;
    Ok(())
}

/// Half-open with a held probe that succeeds, three cycles.
pub(super) async fn recovery(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    for cycle in 1..=CYCLES {
        open_it(rig, &policy, &format!("trip/{cycle}")).await?;
        let opened = rig.last_failure();
        early(rig, &format!("early/{cycle}"), opened, policy.open).await?;
        rig.wait_until(opened + policy.open + rig.eps()).await;
        rig.hold_while(Load::burst(format!("probe/{cycle}"), 1 + PROBE_COMPANIONS)).await?;
        rig.drive(Load::sequence(format!("closed/{cycle}"), 3)).await?;
        below(rig, &policy, &format!("below/{cycle}")).await?;
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
        open_it(rig, &policy, &format!("trip/{fate}")).await?;
        rig.wait_until(rig.last_failure() + policy.open + rig.eps()).await;
        let load = Load::sequence(format!("fate/{fate}"), 1);
        rig.during(fault.always().planned(1), async |rig| rig.drive(load).await).await?;
        let (reopened, open) = (rig.last_failure(), policy.open.mul_f64(policy.growth));
        calls_until(rig, &format!("reopened/{fate}"), reopened, open.mul_f64(0.75)).await?;
        rig.wait_until(reopened + open + rig.eps()).await;
        rig.hold_while(Load::burst(format!("probe/{fate}"), 1 + PROBE_COMPANIONS)).await?;
        rig.drive(Load::sequence(format!("closed/{fate}"), 3)).await?;
    }
    Ok(())
}

/// One failure less than the threshold.
async fn below(rig: &Rig, policy: &BreakerPolicy, step: &str) -> Result<(), RigError> {
    let n = policy.threshold as usize - 1;
    if n > 0 {
        let load = Load::sequence(step, n);
        rig.during(failing().planned(n), async |rig| rig.drive(load).await).await?;
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

async fn open_it(rig: &Rig, policy: &BreakerPolicy, step: &str) -> Result<(), RigError> {
    let threshold = policy.threshold as usize;
    let load = Load::until_open(step, threshold + PATIENCE);
    rig.during(failing().planned(threshold), async |rig| rig.drive(load).await).await?;
    Ok(())
}

/// Calls in the last quarter of the open time.
async fn early(rig: &Rig, step: &str, opened: judge::evidence::At, open: Duration) -> Result<(), RigError> {
    rig.wait_until(opened + open.mul_f64(0.75)).await;
    calls_until(rig, step, opened, open.saturating_sub(EARLY_MARGIN)).await
}

/// Calls one after another, a few milliseconds apart, as long as they can be sent before `opened + within`.
async fn calls_until(rig: &Rig, step: &str, opened: judge::evidence::At, within: Duration) -> Result<(), RigError> {
    rig.pace(step, opened + within, within / 40).await
}
