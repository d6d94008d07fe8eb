//! Checks of several layers, dependencies and routes, on simulated services: sound ones pass, each wrong one is failed
//! for the right reason, and evidence that shows too little is inconclusive.

mod amplification;
mod breakers;
mod bulkhead;
mod isolation;
mod layers;
mod pools;
mod stage;

#[expect(dead_code, reason = "each suite uses the records that its stage writes")]
#[path = "../support/mod.rs"]
mod support;
