//! Probes that fail, are refused, or hang; then a good one.

use judge::checks::{Check, breaker};

use super::super::scenario::Scenario;
use super::{PROBE_COMPANIONS, SAMPLES, by_policy, half_opens};
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Probes that fail, are refused, or hang.
pub static BREAKER_RELAPSE: Scenario = Scenario {
    name: "breaker-relapse",
    isolation: Isolation::Breaker,
    timed: true,
    alone: false,
    restarts: false,
    applies: half_opens,
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Probes that fail, are refused, or hang; then a good one.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    let mut fates = vec![("fails", Fault::Status(500)), ("refused", Fault::Refuse)];
    if hang_is_bounded(rig.contract()) {
        fates.push(("hangs", Fault::Hang));
    }
    for (fate, fault) in fates {
        rig.trip(format!("trip/{fate}")).await?;
        rig.wait_half_open().await?;
        let load = Load::sequence(format!("fate/{fate}"), 1);
        rig.during(fault.always().planned(1), async |rig| rig.drive(load).await).await?;
        let (reopened, open) = (rig.last_failure().await, policy.open.mul_f64(policy.growth));
        rig.pace(&format!("reopened/{fate}"), reopened + open.mul_f64(0.75), open / SAMPLES).await?;
        rig.wait_until(reopened + open + rig.eps()).await;
        rig.hold_while(Load::burst(format!("probe/{fate}"), 1 + PROBE_COMPANIONS)).await?;
        rig.drive(Load::sequence(format!("closed/{fate}"), 3)).await?;
    }
    Ok(())
}

/// Without a promised time limit nobody can say when a probe that hangs has failed.
fn hang_is_bounded(contract: &Contract) -> bool {
    contract.promises.retry.as_ref().is_some_and(|r| r.attempt_timeout.is_some())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let noise = contract.noise;
    by_policy(contract, |policy, link| {
        let mut checks = vec![
            breaker::stays_open(policy, link, noise),
            breaker::half_open_single_probe(policy, link),
            breaker::probe_failure_reopens(policy, link, noise),
        ];
        if hang_is_bounded(contract) {
            checks.push(breaker::probe_never_answers(policy, link, noise));
        }
        checks
    })
}
