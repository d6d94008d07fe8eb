//! How much each measure does in one round. Many short rounds rather than few long ones: what else the machine does then
//! falls on every contender alike.

use crate::args::{Options, Size};

/// Counts of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds of the interleaved measures. One more is run before them and thrown away.
    pub(crate) rounds: usize,
    /// Rounds of measures that start fresh processes.
    pub(crate) fresh_rounds: usize,
    /// Requests on one connection.
    pub(crate) requests: usize,
    /// Requests on each of the concurrent connections.
    pub(crate) requests_each: usize,
    /// Bytes of one bulk transfer.
    pub(crate) bulk_bytes: u64,
    /// Connections opened one after the other by each of the concurrent clients.
    pub(crate) connects_each: usize,
    /// Connections held for the memory measure.
    pub(crate) held: usize,
    /// Requests through a delay of 100 ms; four times as many through a short one.
    pub(crate) delayed: usize,
    /// How often each toxic comes and goes under load.
    pub(crate) toxics: usize,
}

/// Concurrent clients, where a measure has several.
pub(crate) const CONCURRENT: usize = 16;

impl Plan {
    pub(crate) fn of(options: &Options) -> Self {
        let mut plan = match options.size {
            Size::Full => Self {
                rounds: 21,
                fresh_rounds: 5,
                requests: 1500,
                requests_each: 200,
                bulk_bytes: 256 << 20,
                connects_each: 50,
                held: 1000,
                delayed: 20,
                toxics: 10,
            },
            Size::Quick => Self {
                rounds: 7,
                fresh_rounds: 2,
                requests: 1000,
                requests_each: 100,
                bulk_bytes: 128 << 20,
                connects_each: 30,
                held: 1000,
                delayed: 20,
                toxics: 10,
            },
            Size::Smoke => Self {
                rounds: 1,
                fresh_rounds: 1,
                requests: 10,
                requests_each: 2,
                bulk_bytes: 1 << 20,
                connects_each: 2,
                held: 10,
                delayed: 2,
                toxics: 1,
            },
        };
        plan.rounds = options.rounds.unwrap_or(plan.rounds).max(1);
        plan
    }
}
