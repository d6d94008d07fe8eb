//! Scenarios of the breaker promise.

mod recovery;
mod relapse;
mod trip;

use judge::checks::{Check, breaker};
use judge::promise::{BreakerMode, BreakerPolicy, BreakerProfile};

use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Rig, RigError};

pub use recovery::BREAKER_RECOVERY;
pub use relapse::BREAKER_RELAPSE;
pub use trip::BREAKER_TRIP;

/// Callers beside the probe in half-open.
const PROBE_COMPANIONS: usize = 31;
/// Calls that a stretch of open time is sampled with, about.
const SAMPLES: u32 = 40;

/// Whether the promised breaker goes through half-open.
fn half_opens(contract: &Contract) -> bool {
    contract.promises.breaker.as_ref().is_some_and(|b| b.profile != BreakerProfile::Ejection)
}

/// The checks that a breaker promise brings; none without one. Where its states can be read they must be true.
fn by_policy(contract: &Contract, checks: impl FnOnce(&BreakerPolicy, &str) -> Vec<Check>) -> Vec<Check> {
    let (Some(policy), link) = (&contract.promises.breaker, contract.main_link()) else { return Vec::new() };
    let mut checks = checks(policy, link);
    if contract.breaker_endpoint.is_some() {
        checks.push(breaker::state_is_truthful(policy, link));
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
