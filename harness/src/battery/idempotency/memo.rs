//! Which answers a key remembers.

use judge::checks::{Check, idempotency};
use judge::promise::Failure;

use super::super::scenario::Scenario;
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Payments of each case.
const PAYMENTS: usize = 2;
/// Statuses by which a dependency refuses a payment; the first that is not retried by promise is used.
const REFUSALS: [u16; 5] = [402, 422, 400, 404, 403];

/// Which answers a key remembers.
pub static KEY_MEMO: Scenario = Scenario {
    name: "key-memo",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| i.memo.is_some()),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// A success, a refusal and a failure; then each key once more while nothing is wrong.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let cases =
        [("paid", None), ("refused", Some(refusal(rig.contract()))), ("failed", Some(Fault::Status(503).always()))];
    for (case, fault) in cases {
        let load = Load::burst(format!("first/{case}"), PAYMENTS);
        let first = match fault {
            None => rig.drive(load).await?,
            Some(fault) => rig.during(fault.planned(PAYMENTS), async |rig| rig.drive(load).await).await?,
        };
        rig.drive(Load::again(format!("again/{case}"), orders(&first))).await?;
    }
    Ok(())
}

fn refusal(contract: &Contract) -> Disturbance {
    let retried = |status: u16| contract.promises.retry.as_ref().is_some_and(|r| r.retries(Failure::Status(status)));
    let status = REFUSALS.into_iter().find(|s| !retried(*s)).unwrap_or(REFUSALS[0]);
    Fault::Status(status).always()
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![idempotency::failures_are_remembered(policy, link)])
}
