//! Resilience verification: start a service between a load driver and a mock dependency, disturb the wire at exact
//! moments, record what everybody saw, and judge each promise.
//!
//! Two ways in, one engine: [`verify()`] takes a [`contract`] and derives the whole [`battery`]; a suite in Rust starts a
//! [`rig`] itself, drives it with [`load`] under [`faults`], and judges the evidence with the checks of the `judge`
//! crate.

#![deny(missing_docs)]

mod aside;
pub mod battery;
pub mod canary;
pub mod clock;
pub mod collector;
pub mod contract;
mod error;
pub mod faults;
pub mod lanes;
pub mod load;
mod open_files;
pub mod place;
mod place_in_text;
mod placement;
pub mod probe;
pub mod record;
mod recordings;
pub mod remote;
mod replay;
pub mod rig;
pub mod scenario;
mod session;
pub mod suite;
pub mod sweep;
mod verify;

pub use error::HarnessError;
pub use judge;
pub use placement::Placement;
pub use replay::replay;
pub use session::Session;
pub use verify::{Progress, Silent, Verified, VerifyOptions, verify};
