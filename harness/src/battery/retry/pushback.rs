//! gRPC's pushback, as an HTTP header.

use std::collections::BTreeMap;

use chaos_proxy::{Effect, Fault as Strike, Phase, Schedule};
use judge::checks::{Check, retry};
use judge::promise::{Failure, RetryPolicy};

use super::super::scenario::Scenario;
use super::by_policy;
use crate::contract::Contract;
use crate::faults::Disturbance;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// The header of the rule.
const HEADER: &str = "grpc-retry-pushback-ms";
/// Waits and stops: at once, longer than usual first waits, negative, unreadable, with a needless zero.
const VALUES: [&str; 5] = ["0", "300", "-1", "soon", "007"];

/// gRPC's pushback, as an HTTP header.
pub static PUSHBACK: Scenario = Scenario {
    name: "pushback",
    isolation: Isolation::Retry,
    timed: true,
    alone: false,
    restarts: false,
    applies: |contract| {
        let promised = |r: &RetryPolicy| r.pushback && r.attempts > 1 && status(r).is_some();
        contract.promises.retry.as_ref().is_some_and(promised)
    },
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// A status that is promised to be retried: 503 where it is among them.
fn status(policy: &RetryPolicy) -> Option<u16> {
    let statuses = policy.retryable.iter().filter_map(|f| if let Failure::Status(s) = f { Some(*s) } else { None });
    statuses.clone().find(|s| *s == 503).or_else(|| statuses.clone().next())
}

/// One payment for each value, whose first attempt fails with it.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(status) = status(rig.retry_policy()?) else { return Ok(()) };
    for value in VALUES {
        let headers = BTreeMap::from([(HEADER.to_owned(), value.to_owned())]);
        let effect = Effect::Reply { status, headers, body: String::new(), retry_after: None };
        let fault = Disturbance::of(Strike::at(Phase::Request, effect)).scheduled(Schedule::fail_first(1));
        let load = Load::sequence(format!("pushback/{value}"), 1);
        rig.during(fault, async |rig| rig.drive(load).await).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    by_policy(contract, |policy, link| vec![retry::pushback_is_obeyed(policy, link, contract.noise)])
}
