//! The checks of how long, for whom and of what a key is a key, and of degraded answers, against simulated services: the
//! sound one passes, each wrong one is failed with its class of bugs, and evidence that shows nothing is inconclusive.

mod degraded;
mod degraded_doubts;
mod degraded_service;
mod doubts;
mod keys;
mod lease;
mod scenarios;
mod service;
mod stage;

#[expect(dead_code, reason = "each suite uses the records that its stage writes")]
#[path = "../support/mod.rs"]
mod support;
