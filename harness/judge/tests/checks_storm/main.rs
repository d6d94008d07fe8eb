//! The checks of load that feeds on failure, against simulated services: the sound one passes, each wrong one is failed
//! for its own reason, and evidence that shows nothing is inconclusive.

mod expect;
mod goodput;
mod herd_service;
mod load_service;
mod overload_service;
mod recovery;
mod replay;
mod stage;

#[path = "../support/mod.rs"]
mod support;
