//! Keys over a kill and a restart of the service.

use std::time::Duration;

use judge::checks::{Check, idempotency};
use judge::evidence::At;
use judge::promise::Memo;

use super::super::scenario::{Scenario, money};
use super::{by_policy, orders};
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::{Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Payments of each half.
const PAYMENTS: usize = 3;
/// Payments for each way in which the dependency dies.
const DYING: usize = 2;
/// How often a client asks again after the restart before it gives up.
const TRIES: usize = 10;
/// Pause between the tries: long enough for a lease that is not declared to expire over all of them.
const PAUSE: Duration = Duration::from_millis(300);

/// Keys over a kill and a restart.
pub static RESTART: Scenario = Scenario {
    name: "restart",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: true,
    applies: |contract| contract.promises.idempotency.as_ref().is_some_and(|i| i.survives_restart),
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    let first = rig.drive(Load::sequence("first", PAYMENTS)).await?;
    rig.kill_service().await?;
    rig.start_service().await?;
    let orders = first.iter().map(|a| a.order.clone()).collect();
    rig.drive(Load::again("replay", orders)).await?;

    let orders = accepted(rig).await?;
    // The lease of the dead owner is over by then at the latest.
    let unleased = rig.now() + rig.idempotency_policy()?.lease.unwrap_or_default() + rig.eps();
    rig.start_service().await?;
    until_paid(rig, "recover", orders, unleased).await?;
    dependency_dies(rig).await
}

/// Payments that lose their dependency: it has accepted them and its answers are lost, or it never hears of them. A key that
/// remembers every failure would answer with this one for ever.
async fn dependency_dies(rig: &Rig) -> Result<(), RigError> {
    if rig.idempotency_policy()?.memo == Some(Memo::All) {
        return Ok(());
    }
    let mut open = Vec::new();
    for (fate, fault) in [("lost", Fault::LostReset), ("down", Fault::Refuse)] {
        let load = Load::burst(format!("dying/{fate}"), DYING);
        let asked = rig.during(fault.always().planned(DYING), async |rig| rig.drive(load).await).await?;
        open.extend(orders(&asked));
    }
    let now = rig.now();
    until_paid(rig, "revived", open, now).await
}

/// Payments that the bank has accepted and whose answer is on its way when the service is killed.
async fn accepted(rig: &Rig) -> Result<Vec<Order>, RigError> {
    let orders: Vec<_> = (0..PAYMENTS).map(|_| rig.fresh_order()).collect();
    let load = Load::again("accepted", orders.clone()).at_once();
    rig.hold_replies(load, PAYMENTS, async |rig| rig.kill_service().await).await?;
    Ok(orders)
}

/// Asks until every order is paid, some times at least and until a moment at least.
async fn until_paid(rig: &Rig, step: &str, orders: Vec<Order>, until: At) -> Result<(), RigError> {
    let mut open = orders;
    for attempt in 1.. {
        let (last, over) = (attempt >= TRIES, rig.now() > until);
        let asked = rig.drive(Load::again(format!("{step}/{attempt}"), open)).await?;
        open = asked.into_iter().filter(|a| !a.outcome.succeeded()).map(|a| a.order).collect();
        if open.is_empty() || (last && over) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| vec![idempotency::survives_crash(policy, link)]);
    checks.extend(money(contract));
    checks
}
