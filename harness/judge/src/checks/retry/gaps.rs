//! The gaps between attempts, as the proxy's clock shows them.

use crate::checks::support::{Request, failed};
use crate::evidence::{Attempt, Outcome};
use crate::promise::RetryPolicy;
use crate::stats::GapTable;

/// Two attempts of one client request that follow each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<'a> {
    /// The one that failed.
    pub before: &'a Attempt,
    /// The next one.
    pub after: &'a Attempt,
    /// Number of the failed one within the request, from 1.
    pub rank: usize,
}

impl Gap<'_> {
    /// Arrival minus failure instant, in seconds; negative when the next attempt did not wait for the failure.
    pub fn seconds(&self) -> f64 {
        self.after.arrived.seconds_from(self.before.reply.ended)
    }
}

/// The gaps of many requests.
#[derive(Debug, Default)]
pub(super) struct Gaps<'a> {
    /// One row for each request, in the order of the requests.
    pub rows: Vec<Vec<Gap<'a>>>,
    /// Gaps that the promise expects.
    pub expected: usize,
    /// Expected gaps that are not there.
    pub missing: usize,
    /// Requests that the driver gave up on while gaps were missing: the long ones are the missing ones.
    pub cut_short: usize,
}

impl<'a> Gaps<'a> {
    /// The gaps of those requests under that promise.
    pub fn of(requests: &[Request<'_, 'a>], policy: &RetryPolicy) -> Self {
        let mut gaps = Gaps::default();
        for request in requests {
            gaps.add(request.outcome, &request.attempts, (policy.attempts as usize).saturating_sub(1));
        }
        gaps
    }

    fn add(&mut self, outcome: &Outcome, attempts: &[&'a Attempt], expected: usize) {
        let pairs = attempts.windows(2).enumerate();
        let row: Vec<Gap<'a>> = pairs
            .map(|(i, pair)| Gap { before: pair[0], after: pair[1], rank: i + 1 })
            // A success ends the row, and so does a reply that asked for another wait than the law's.
            .take_while(|g| failed(g.before) && g.before.reply.retry_after.is_none())
            .collect();
        let missing = expected.saturating_sub(row.len());
        self.expected += expected;
        self.missing += missing;
        self.cut_short += usize::from(missing > 0 && outcome.reply().is_none());
        self.rows.push(row);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Gap<'a>> {
        self.rows.iter().flatten()
    }

    /// The table that the statistics read.
    pub fn table(&self) -> GapTable {
        GapTable::new(self.rows.iter().map(|row| row.iter().map(Gap::seconds).collect()).collect())
    }
}
