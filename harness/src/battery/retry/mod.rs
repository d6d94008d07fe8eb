//! Scenarios of the retry promise.

mod after;
mod budget;
mod cap;
mod deadline;
mod herd;
mod law;
mod pushback;
mod replicas;
mod restart;
mod table;

use judge::checks::{Check, retry};
use judge::promise::{Failure, RetryPolicy};

use crate::contract::Contract;
use crate::faults::{Disturbance, Fault};
use crate::rig::{Rig, RigError};

pub use after::RETRY_AFTER;
pub use budget::RETRY_BUDGET;
pub use cap::RETRY_CAP;
pub(crate) use cap::{longest_waits, told_at_once};
pub use deadline::RETRY_DEADLINE;
pub use herd::RETRY_HERD;
pub use law::RETRY_LAW;
pub use pushback::PUSHBACK;
pub use replicas::RETRY_REPLICAS;
pub use restart::RETRY_RESTART;
pub use table::RETRY_TABLE;

/// Whether the service promises to try more than once.
fn retries(contract: &Contract) -> bool {
    contract.promises.retry.as_ref().is_some_and(|r| r.attempts > 1)
}

/// The checks that a retry promise brings; none without one.
fn by_policy(contract: &Contract, checks: impl FnOnce(&RetryPolicy, &str) -> Vec<Check>) -> Vec<Check> {
    contract.promises.retry.as_ref().map(|policy| checks(policy, contract.main_link())).unwrap_or_default()
}

/// What the service's spans tell of its retries, if it promises that they tell.
fn telemetry(contract: &Contract) -> Option<Check> {
    let telemetry = &contract.telemetry;
    (telemetry.spans && telemetry.resend_count).then(|| retry::spans_tell_of_resends(contract.main_link()))
}

/// A failure of every attempt that the contract promises to retry: 503 where it is among them, else the first status,
/// else the first of the others.
pub(super) fn retried(rig: &Rig) -> Result<Disturbance, RigError> {
    let retryable = &rig.retry_policy()?.retryable;
    let usual = Failure::Status(503);
    let status = retryable.iter().find(|f| matches!(f, Failure::Status(_)));
    let chosen = retryable.iter().find(|f| **f == usual).or(status).or(retryable.first());
    Ok(Fault::from(*chosen.unwrap_or(&usual)).always())
}
