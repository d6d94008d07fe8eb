//! One payment through every fault point, by one caller and by ten.

use judge::checks::{Check, idempotency};

use super::super::scenario::{Scenario, money, same_request};
use super::{TWINS, by_policy, keys};
use crate::contract::Contract;
use crate::faults::{Disturbance, Fault};
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// One payment through every fault point, by one caller and by ten.
pub static ONE_EFFECT: Scenario = Scenario {
    name: "one-effect",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// The fault points of one payment, by name.
fn points(rig: &Rig) -> Vec<(&'static str, Disturbance)> {
    let mut points = vec![
        ("refuse", Fault::Refuse.first(1)),
        ("cut", Fault::Cut.first(1)),
        ("reset", Fault::Reset.first(1)),
        ("cut-after-request", Fault::CutAfterRequest.first(1)),
        ("torn", Fault::Torn.first(1)),
        ("lost-reset", Fault::LostReset.first(1)),
        ("lost-close", Fault::LostClose.first(1)),
        ("twice-503", Fault::Status(503).first(2)),
    ];
    let retry = rig.contract().promises.retry.as_ref();
    if retry.is_some_and(|r| r.attempt_timeout.is_some()) {
        points.push(("hang", Fault::Hang.first(1)));
    }
    // A service that retries less often than the fault strikes would only show that it gives up.
    if retry.is_none_or(|r| r.attempts < 3) {
        points.retain(|(name, _)| *name != "twice-503");
    }
    points
}

/// One payment through every fault point, by one caller and by ten with the same key; then every key once more.
async fn run(rig: &Rig) -> Result<(), RigError> {
    for (name, fault) in points(rig) {
        let load = Load::sequence(format!("point/{name}"), 1);
        let one = rig.during(fault.clone(), async |rig| rig.drive(load).await).await?;
        let load = Load::twins(format!("crowd/{name}"), TWINS);
        let many = rig.during(fault, async |rig| rig.drive(load).await).await?;
        rig.drive(Load::again(format!("again/{name}"), keys(&[one, many]))).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| vec![idempotency::replay_is_faithful(policy, link)]);
    checks.extend(same_request(contract));
    checks.extend(money(contract));
    checks
}
