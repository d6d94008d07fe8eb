//! Scenarios of the idempotency promise.

use super::{BURST, BURST_ROUNDS, TWINS};
use crate::faults::{Disturbance, Fault};
use crate::load::{Asked, Load, Order};
use crate::rig::{Rig, RigError};

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
pub(super) async fn one_effect(rig: &Rig) -> Result<(), RigError> {
    for (name, fault) in points(rig) {
        let load = Load::sequence(format!("point/{name}"), 1);
        let one = rig.during(fault.clone(), async |rig| rig.drive(load).await).await?;
        let load = Load::twins(format!("crowd/{name}"), TWINS);
        let many = rig.during(fault, async |rig| rig.drive(load).await).await?;
        rig.drive(Load::again(format!("again/{name}"), keys(&[one, many]))).await?;
    }
    Ok(())
}

/// Many callers, one key: with the first call held, and in bursts.
pub(super) async fn duplicates(rig: &Rig) -> Result<(), RigError> {
    let mut all = Vec::new();
    for n in 1..=3 {
        all.push(rig.hold_while(Load::twins(format!("held/{n}"), TWINS)).await?);
    }
    for n in 1..=BURST_ROUNDS {
        all.push(rig.drive(Load::twins(format!("burst/{n}"), BURST)).await?);
    }
    let orders = keys(&all);
    rig.drive(Load::again("after", orders.clone())).await?;
    let policy = rig.idempotency_policy()?;
    if policy.mismatch.is_some() {
        let other = orders.iter().take(3).map(Order::with_other_amount).collect();
        rig.drive(Load::again("mismatch", other)).await?;
    }
    if policy.missing.is_some() {
        let none = (0..3).map(|_| rig.fresh_order().without_key()).collect();
        rig.drive(Load::again("missing", none)).await?;
    }
    Ok(())
}

/// The distinct orders of some loads, in the order they were first asked for.
fn keys(loads: &[Vec<Asked>]) -> Vec<Order> {
    let mut orders: Vec<Order> = Vec::new();
    for asked in loads.iter().flatten() {
        if !orders.contains(&asked.order) {
            orders.push(asked.order.clone());
        }
    }
    orders
}
