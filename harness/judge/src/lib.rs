//! Pure checks and statistics over recorded evidence.
//!
//! `judge` has no sockets, files, threads or clock: evidence goes in, findings come out, and the same check serves a
//! pull request, a nightly soak and an incident that was read from a file.

#![deny(missing_docs)]

pub mod checks;
pub mod duration;
pub mod expect;
mod finding;
pub mod law;
pub mod promise;
pub mod render;
pub mod sim;
pub mod stats;

/// What everybody saw.
pub use evidence;
pub use finding::{Fact, Finding, Line, MAX_LINES, NotPromised, Ruling, Verdict};
