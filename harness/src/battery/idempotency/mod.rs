//! Scenarios of the idempotency promise.

mod conflict;
mod duplicates;
mod expiry;
mod memo;
mod one_effect;
mod restart;
mod scope;

use judge::checks::Check;
use judge::promise::IdempotencyPolicy;

use crate::contract::Contract;
use crate::load::{Asked, Order};

pub use conflict::BANK_CONFLICT;
pub use duplicates::DUPLICATES;
pub use expiry::KEY_EXPIRY;
pub use memo::KEY_MEMO;
pub use one_effect::ONE_EFFECT;
pub use restart::RESTART;
pub use scope::KEY_SCOPE;

/// Callers that share one key.
const TWINS: usize = 10;

/// The checks that an idempotency promise brings; none without one.
fn by_policy(contract: &Contract, checks: impl FnOnce(&IdempotencyPolicy, &str) -> Vec<Check>) -> Vec<Check> {
    contract.promises.idempotency.as_ref().map(|policy| checks(policy, contract.main_link())).unwrap_or_default()
}

/// The orders of a load.
fn orders(asked: &[Asked]) -> Vec<Order> {
    asked.iter().map(|a| a.order.clone()).collect()
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
