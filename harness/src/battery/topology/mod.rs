//! Scenarios of several layers, several dependencies and several routes.

mod amplification;
mod bulkhead;
mod isolation;

use judge::checks::topology::Beside;

use crate::contract::Contract;

pub use amplification::AMPLIFICATION;
pub use bulkhead::BULKHEAD;
pub use isolation::BREAKER_ISOLATION;

/// The named routes with their links.
fn beside(contract: &Contract, routes: &[String]) -> Vec<Beside> {
    let of = |route: &String| Beside { route: route.clone(), link: contract.link_of(Some(route)).to_owned() };
    routes.iter().map(of).collect()
}
