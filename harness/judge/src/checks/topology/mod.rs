//! Checks of several layers, several dependencies and several routes.
//!
//! The witness is the wire in front of each dependency, and the client. Outcomes by a route carry its name; see
//! [`Outcome::route`](crate::evidence::Outcome::route).

mod amplification;
mod bulkhead;
mod hops;
mod isolation;
mod latency;

pub use amplification::bounded_amplification;
pub use bulkhead::bulkhead_holds;
pub use isolation::breaker_isolation;

use crate::evidence::{At, Attempt, Evidence, Outcome};

/// A route that uses another dependency than the payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// Name of the route; also the part of a step's name after the slash.
    pub route: String,
    /// The link that it uses.
    pub link: String,
}

/// Whether the client got what it asked for, and not a substitute.
fn is_whole(outcome: &Outcome) -> bool {
    outcome.succeeded() && outcome.reply().is_some_and(|r| r.degraded.is_none())
}

/// Arrivals on the link while a request ran: those that it caused, where requests are sent one after another.
fn arrivals<'e>(evidence: &'e Evidence, link: &str, outcome: &Outcome) -> Vec<&'e Attempt> {
    within(evidence, link, (outcome.sent, outcome.ended))
}

fn within<'e>(evidence: &'e Evidence, link: &str, (from, to): (At, At)) -> Vec<&'e Attempt> {
    evidence.attempts.iter().filter(|a| a.link == link && (from..=to).contains(&a.arrived)).collect()
}
