//! What is retried and what is not.

use judge::checks::{Check, retry};
use judge::promise::Failure;

use super::super::scenario::{Scenario, money, same_request};
use super::{by_policy, telemetry};
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// The failures that every table holds, promised as retried or not.
const TABLE: [u16; 13] = [400, 401, 404, 408, 409, 422, 425, 429, 500, 501, 502, 503, 504];

/// What is retried and what is not.
pub static RETRY_TABLE: Scenario = Scenario {
    name: "retry-table",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.retry.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// One payment for each failure: a retried one strikes once, any other always.
async fn run(rig: &Rig) -> Result<(), RigError> {
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

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| vec![retry::retries_only_the_retryable(policy, link)]);
    checks.extend(same_request(contract));
    checks.extend(telemetry(contract));
    checks.extend(money(contract));
    checks
}
