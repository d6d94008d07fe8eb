//! Probes: the service's ledger rows, and what it says of its circuit breaker.
//!
//! The ledger is evidence of effects and is read from the service's own store, by SQL or over HTTP. A breaker endpoint
//! is a claim of the suspect: it may contradict the wire, which is a finding, but never replaces it. Every probe is
//! bounded in time, bytes and rows ([`ProbeLimits`]), and its errors say which query, URL, pointer or column to mend.

mod breaker;
mod error;
mod events;
mod fetch;
mod http_ledger;
mod ledger;
mod postgres;
mod prometheus;
mod row;
mod sqlite;

use std::time::Duration;

use judge::evidence::Note;

pub use breaker::{BreakerProbe, WordMap};
pub use error::ProbeError;
pub use events::EventsProbe;
pub(crate) use fetch::chain;
pub use ledger::{LedgerFields, LedgerProbe};

/// Codes of the notes that probes make.
pub mod code {
    /// The ledger had more rows than [`super::ProbeLimits::rows`]: the reading is cut off.
    pub const TOO_MANY_ROWS: &str = "ledger-too-many-rows";
    /// A breaker named its state by a word that is not known.
    pub const UNKNOWN_WORD: &str = "breaker-unknown-state";
    /// Events of a breaker were overwritten before they were read.
    pub const EVENTS_LOST: &str = "breaker-events-lost";
}

/// What one reading takes at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeLimits {
    /// Time of the whole reading, and how long a locked database is waited for.
    pub time: Duration,
    /// Bytes of an HTTP body, or of the cells that a query returns.
    pub bytes: usize,
    /// Ledger rows.
    pub rows: usize,
}

impl Default for ProbeLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), bytes: 64 << 20, rows: 200_000 }
    }
}

/// A reading, and what a reader of the evidence must know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Probed<T> {
    /// The reading.
    pub reading: T,
    /// Notes on it; they belong into the evidence.
    pub notes: Vec<Note>,
}
