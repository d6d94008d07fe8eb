//! Many callers, one key: with the first call held, and in bursts.

use judge::checks::{Check, idempotency};

use super::super::scenario::{Scenario, money};
use super::{TWINS, by_policy, keys};
use crate::contract::Contract;
use crate::load::{Load, Order};
use crate::rig::{Isolation, Rig, RigError};

/// Callers of a burst.
const BURST: usize = 32;
/// Bursts of a run.
const BURST_ROUNDS: usize = 10;

/// Many callers, one key.
pub static DUPLICATES: Scenario = Scenario {
    name: "duplicates",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.idempotency.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// Many callers, one key: with the first call held, and in bursts.
async fn run(rig: &Rig) -> Result<(), RigError> {
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
    if policy.fingerprint.is_some() {
        rig.drive(Load::again("respelt", orders.iter().take(3).map(Order::respelt).collect())).await?;
    }
    if policy.missing.is_some() {
        let none = (0..3).map(|_| rig.fresh_order().without_key()).collect();
        rig.drive(Load::again("missing", none)).await?;
    }
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = by_policy(contract, |policy, link| {
        let mut checks =
            vec![idempotency::one_of_many_runs(policy, link), idempotency::replay_is_faithful(policy, link)];
        checks.extend(policy.mismatch.map(|_| idempotency::mismatch_is_rejected(policy, link)));
        checks.extend(policy.missing.map(|_| idempotency::missing_key_is_rejected(policy, link)));
        checks
    });
    checks.extend(money(contract));
    checks
}
