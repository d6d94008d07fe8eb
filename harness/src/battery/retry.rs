//! Scenarios of the retry promise.

use judge::promise::Failure;

use super::{HERD_CLIENTS, LAW_CLIENTS, LAW_IN_FLIGHT};
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Rig, RigError};

/// The failures that every table holds, promised as retried or not.
const TABLE: [u16; 13] = [400, 401, 404, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504];

/// Independent retries: few in flight, every attempt fails.
pub(super) async fn law(rig: &Rig) -> Result<(), RigError> {
    let fault = retried(rig)?.planned(LAW_CLIENTS * rig.retry_policy()?.attempts as usize);
    rig.during(fault, async |rig| rig.drive(Load::waves("waves", LAW_CLIENTS, LAW_IN_FLIGHT)).await).await?;
    Ok(())
}

/// A synchronised herd, every attempt fails.
pub(super) async fn herd(rig: &Rig) -> Result<(), RigError> {
    let fault = retried(rig)?.planned(HERD_CLIENTS * rig.retry_policy()?.attempts as usize);
    rig.during(fault, async |rig| rig.drive(Load::burst("herd", HERD_CLIENTS)).await).await?;
    Ok(())
}

/// A failure of every attempt that the contract promises to retry: 503 where it is among them, else the first status,
/// else the first of the others.
fn retried(rig: &Rig) -> Result<Disturbance, RigError> {
    let retryable = &rig.retry_policy()?.retryable;
    let usual = Failure::Status(503);
    let status = retryable.iter().find(|f| matches!(f, Failure::Status(_)));
    let chosen = retryable.iter().find(|f| **f == usual).or(status).or(retryable.first());
    Ok(Fault::from(*chosen.unwrap_or(&usual)).always())
}

/// One payment for each failure: a retried one strikes once, any other always.
pub(super) async fn table(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.retry_policy()?.clone();
    let others = [Failure::Refuse, Failure::Reset, Failure::Cut, Failure::Lost, Failure::Hang];
    let mut cases: Vec<_> = TABLE.into_iter().map(Failure::Status).chain(others).collect();
    cases.extend(policy.retryable.iter().filter(|f| !cases.contains(f)).copied().collect::<Vec<_>>());
    for failure in cases {
        if failure == Failure::Hang && policy.attempt_timeout.is_none() {
            // Without a promised time limit nobody can say when a hung attempt has failed.
            continue;
        }
        let fault = Fault::from(failure);
        let fault = if policy.retries(failure) { fault.first(1) } else { fault.always() };
        let load = Load::sequence(format!("case/{failure}"), 1);
        rig.during(fault.planned(1), async |rig| rig.drive(load).await).await?;
    }
    Ok(())
}
