//! Answers while the dependency cannot be asked.

use judge::checks::{Check, degradation};
use judge::promise::DegradationPolicy;

use super::scenario::Scenario;
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::{Asked, Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Payments whose confirmations are read, and payments that are asked for during the outage.
const PAYMENTS: usize = 3;
/// Share of the declared age in which confirmations are read while they may still be served.
const YOUNG: f64 = 0.7;
/// Rounds of reading in such a stretch, about.
const ROUNDS: u32 = 20;
/// Calls beyond the breaker's threshold after which it counts as one that does not open.
const TRIP_SLACK: usize = 5;

/// Answers while the dependency cannot be asked.
pub static DEGRADATION: Scenario = Scenario {
    name: "degradation",
    isolation: Isolation::Degradation,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.degradation.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.degradation_policy()?.clone();
    let seeds = orders(&rig.drive(Load::sequence("seed", PAYMENTS)).await?);
    let now = rig.now();
    rig.read_until("live", &seeds, now, policy.max_age / ROUNDS).await?;
    rig.during(Fault::Status(503).always(), async |rig| outage(rig, &policy, &seeds).await).await?;
    let due = rig.now() + policy.fresh_within + 2 * rig.eps();
    rig.read_until("recovering", &seeds, due, policy.fresh_within / ROUNDS).await?;
    rig.wait_until(due).await;
    rig.read_until("fresh", &seeds, due, policy.fresh_within).await
}

/// Payments, confirmations that may still be served, and confirmations that are too old.
async fn outage(rig: &Rig, policy: &DegradationPolicy, seeds: &[Order]) -> Result<(), RigError> {
    let (from, bound) = (rig.now(), policy.max_age);
    let breaker = rig.contract().promises.breaker.as_ref();
    let load = match breaker {
        Some(b) => Load::until_open("outage/ask", b.threshold as usize + TRIP_SLACK),
        None => Load::sequence("outage/ask", PAYMENTS),
    };
    let asked = orders(&rig.drive(load).await?);
    // What was asked for in the outage comes first, while the fallback is surely on.
    let all = [&asked[..], seeds].concat();
    rig.read_until("outage/read", &all, from + bound.mul_f64(YOUNG), bound / ROUNDS).await?;
    rig.wait_until(from + bound + rig.eps()).await;
    rig.read_until("outage/old", seeds, from + bound.mul_f64(1.3), bound / ROUNDS).await
}

fn orders(asked: &[Asked]) -> Vec<Order> {
    asked.iter().map(|a| a.order.clone()).collect()
}

fn checks(contract: &Contract) -> Vec<Check> {
    let (Some(policy), link) = (&contract.promises.degradation, contract.main_link()) else { return Vec::new() };
    vec![
        degradation::degraded_is_marked(policy, link),
        degradation::age_is_bounded(policy, link),
        degradation::fresh_again(policy, link),
        degradation::confirmed_has_a_row(policy, link),
    ]
}
