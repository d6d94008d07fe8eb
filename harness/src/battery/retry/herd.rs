//! Retries of a synchronised herd.

use judge::checks::{Check, retry};

use super::super::scenario::Scenario;
use super::{by_policy, retried, retries};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Clients of the herd.
const CLIENTS: usize = 100;

/// Retries of a synchronised herd.
pub static RETRY_HERD: Scenario = Scenario {
    name: "retry-herd",
    isolation: Isolation::Retry,
    timed: true,
    // The herd itself makes the machine pause; with others beside it the pauses hide a peak of its size.
    alone: true,
    restarts: false,
    applies: retries,
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// A synchronised herd, every attempt fails.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let fault = retried(rig)?.planned(CLIENTS * rig.retry_policy()?.attempts as usize);
    rig.during(fault, async |rig| rig.drive(Load::burst("herd", CLIENTS)).await).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| {
        let mut checks = vec![retry::bounded_attempts(policy, link)];
        // A law without jitter promises no dispersion: its herd returns as one by declaration.
        if retry::excludes_a_herd(policy) {
            checks.push(retry::no_herd(policy, link, contract.noise));
        }
        checks
    })
}
