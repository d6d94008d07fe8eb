//! Scenarios of the breaker promise.

mod crowd;
mod ejection;
mod late;
mod outcomes;
mod recovery;
mod relapse;
mod trip;
mod window;

use judge::checks::{Check, breaker};
use judge::promise::{BreakerMode, BreakerPolicy, BreakerProfile};

use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Rig, RigError};

pub use crowd::BREAKER_CROWD;
pub use ejection::BREAKER_EJECTION;
pub use late::BREAKER_LATE;
pub(crate) use late::waits_long_enough;
pub use outcomes::BREAKER_OUTCOMES;
pub use recovery::BREAKER_RECOVERY;
pub use relapse::BREAKER_RELAPSE;
pub use trip::BREAKER_TRIP;
pub use window::BREAKER_WINDOW;

/// Callers beside the probe in half-open.
const PROBE_COMPANIONS: usize = 31;
/// Calls that a stretch of open time is sampled with, about.
const SAMPLES: u32 = 40;

/// Whether the promised breaker goes through half-open.
fn half_opens(contract: &Contract) -> bool {
    contract.promises.breaker.as_ref().is_some_and(|b| b.profile != BreakerProfile::Ejection)
}

/// The checks that a breaker promise brings; none without one. Where its states can be read they must be true, and where
/// its changes can be they must be legal.
fn by_policy(contract: &Contract, checks: impl FnOnce(&BreakerPolicy, &str) -> Vec<Check>) -> Vec<Check> {
    let (Some(policy), link) = (&contract.promises.breaker, contract.main_link()) else { return Vec::new() };
    let mut checks = checks(policy, link);
    if contract.breaker_endpoint.is_some() {
        checks.push(breaker::state_is_truthful(policy, link));
    }
    if contract.tells_breaker_events() {
        checks.push(breaker::sequence_is_legal(policy, link));
    }
    checks
}

/// A good call; where failures are counted in a window, the window passes first.
async fn start_over(rig: &Rig, policy: &BreakerPolicy, step: &str) -> Result<(), RigError> {
    if let (BreakerMode::Window, Some(window)) = (policy.mode, policy.window) {
        rig.wait_until(rig.now() + window + rig.eps()).await;
    }
    rig.drive(Load::sequence(step, 1)).await?;
    Ok(())
}
