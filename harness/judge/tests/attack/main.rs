//! The judge under attack. Every check of the catalogue is bound to evidence that it passes and evidence that it must
//! not pass, played by the simulated services of the other suites; properties are then claimed over all of them:
//! clean evidence never acquits, the order of records decides nothing, what is degenerate proves nothing, and no bytes
//! make a check panic.
//!
//! A check that enters the catalogue joins by a scene in [`scene::SCENES`]; until then `registry` fails. Where a property
//! rightly does not hold of a check, `registry` says so by its id and with the reason.
//!
//! `ATTACK_TIMES=20 cargo test -p judge --test attack` tries every property twenty times as often as usual.

mod bystanders;
mod clean;
mod degenerate;
mod extremes;
mod garbage;
mod mangle;
mod merged;
mod monotone;
mod order;
mod registry;
mod scene;

mod breaker;
mod cap;
mod degradation;
mod idempotency;
mod limits;
mod payments;
mod promises;
mod retry;
mod storm;
mod timeout;
mod topology;
mod trust;

#[path = "../support/mod.rs"]
mod support;
