//! The data of every law test: one row of gaps for each client.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The gaps of a herd: `rows[i][k]` is, in seconds, the time between the failure of attempt `k + 1` of client `i` as the
/// proxy saw it and the arrival of attempt `k + 2`.
///
/// Rows may differ in length. A row may only end early for a reason that does not depend on the delays themselves (the
/// run ended, the client was killed): a row cut *because* the next delay was long makes the rest look too short.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GapTable {
    rows: Vec<Vec<f64>>,
}

impl GapTable {
    /// A table of rows of gaps in seconds. Any number is accepted; the battery is undecided about those that are not finite.
    #[must_use]
    pub fn new(rows: Vec<Vec<f64>>) -> GapTable {
        GapTable { rows }
    }

    /// Appends one client with its gaps in order.
    pub fn push_client(&mut self, gaps: impl IntoIterator<Item = Duration>) {
        self.rows.push(gaps.into_iter().map(|gap| gap.as_secs_f64()).collect());
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// Clients with at least one gap.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_empty()).count()
    }

    /// Gaps of the longest row.
    #[must_use]
    pub fn retries(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// All gaps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Whether there is no gap at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gap `k` of every client that has one, in the order of the clients.
    #[must_use]
    pub fn column(&self, k: usize) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.get(k).copied()).collect()
    }

    /// The first gap that is not a finite number, as (client, retry).
    #[must_use]
    pub fn first_undefined(&self) -> Option<(usize, usize)> {
        self.rows.iter().enumerate().find_map(|(i, row)| row.iter().position(|g| !g.is_finite()).map(|k| (i, k)))
    }
}

impl FromIterator<Vec<Duration>> for GapTable {
    fn from_iter<T: IntoIterator<Item = Vec<Duration>>>(clients: T) -> GapTable {
        let mut table = GapTable::default();
        for gaps in clients {
            table.push_client(gaps);
        }
        table
    }
}
