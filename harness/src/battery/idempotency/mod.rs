//! Scenarios of the idempotency promise.

mod duplicates;
mod one_effect;
mod restart;

use judge::checks::Check;
use judge::promise::IdempotencyPolicy;

use crate::contract::Contract;
use crate::load::{Asked, Order};

pub use duplicates::DUPLICATES;
pub use one_effect::ONE_EFFECT;
pub use restart::RESTART;

/// Callers that share one key.
const TWINS: usize = 10;

/// The checks that an idempotency promise brings; none without one.
fn by_policy(contract: &Contract, checks: impl FnOnce(&IdempotencyPolicy, &str) -> Vec<Check>) -> Vec<Check> {
    contract.promises.idempotency.as_ref().map(|policy| checks(policy, contract.main_link())).unwrap_or_default()
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
