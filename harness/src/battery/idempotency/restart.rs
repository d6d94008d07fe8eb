//! Keys over a kill and a restart of the service.

use std::time::Duration;

use judge::checks::{Check, idempotency};

use super::super::scenario::{Scenario, money};
use super::by_policy;
use crate::contract::Contract;
use crate::load::{Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Payments of each half.
const PAYMENTS: usize = 3;
/// How often a client asks again after the restart before it gives up.
const TRIES: usize = 10;
/// Pause between the tries: long enough for a lease of some seconds to expire over all of them.
const PAUSE: Duration = Duration::from_millis(300);

/// Keys over a kill and a restart.
pub static RESTART: Scenario = Scenario {
    name: "restart",
    isolation: Isolation::Retry,
    timed: false,
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
    rig.start_service().await?;
    recover(rig, orders).await
}

/// Payments that the bank has accepted and whose answer is on its way when the service is killed.
async fn accepted(rig: &Rig) -> Result<Vec<Order>, RigError> {
    let orders: Vec<_> = (0..PAYMENTS).map(|_| rig.fresh_order()).collect();
    let load = Load::again("accepted", orders.clone()).at_once();
    rig.hold_replies(load, PAYMENTS, async |rig| rig.kill_service().await).await?;
    Ok(orders)
}

async fn recover(rig: &Rig, orders: Vec<Order>) -> Result<(), RigError> {
    let mut open = orders;
    for attempt in 1..=TRIES {
        let asked = rig.drive(Load::again(format!("recover/{attempt}"), open)).await?;
        open = asked.into_iter().filter(|a| !a.outcome.succeeded()).map(|a| a.order).collect();
        if open.is_empty() {
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
