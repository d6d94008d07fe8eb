//! Test 10, partners: clients of one run whose gaps all return in another.
//!
//! A client of the second run has a partner when some client of the first has each of its gaps within [`RADIUS`] of the
//! same gap of its own. For draws that are new, every gap k with a declared uniform delay of width w_k has a density of at
//! most 1 / w_k, whatever noise is added that does not know the draws. So one client is a partner with a chance of at most
//! the product of 2 r / w_k, any of n with at most n times that, and the number of partners among m independent clients
//! is at most binomial. It rejects beyond the upper alpha quantile. False alarms: at most alpha.
//!
//! It sees what the pooled distance of [`restart`](super::restart) loses in noise: that distance needs a noise of less
//! than a hundredth of the delays, this one only that some clients' gaps move by less than [`RADIUS`]. The pooled distance
//! in turn sees draws that return in another order than client by client.

use super::quantile::{binomial_at_least, binomial_upper};
use super::{Sample, Skipped, Tail, TestName, TestResult};

/// How far apart, in seconds, two gaps may be that count as the same.
pub const RADIUS: f64 = 0.010;

/// One client of each run, by row of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Row of the first table.
    pub first: usize,
    /// Row of the second.
    pub second: usize,
}

/// Counts the clients of `second` with a partner in `first`, and says which.
///
/// # Errors
/// [`Skipped`] when the law is conditional or has too little jitter, or there are too few clients, for partners to be rare.
pub fn test(first: &Sample<'_>, second: &Sample<'_>) -> Result<(TestResult, Vec<Pair>), Skipped> {
    judge(first, second, false)
}

/// Counts the clients with a partner in their own run: a run whose clients draw alike cannot be compared with another.
///
/// # Errors
/// As [`test()`].
pub fn within(run: &Sample<'_>) -> Result<TestResult, Skipped> {
    judge(run, run, true).map(|(result, _)| result)
}

fn judge(first: &Sample<'_>, second: &Sample<'_>, same: bool) -> Result<(TestResult, Vec<Pair>), Skipped> {
    let retries = first.columns.len().max(second.columns.len());
    let compared: Vec<usize> = (0..retries).filter(|&k| first.law.uniform(k).is_some()).collect();
    let (ours, theirs) = (Rows::of(second, retries), Rows::of(first, retries));
    let (alpha, n) = (first.settings.alpha, ours.0.len());
    let widths: Vec<f64> = compared.iter().map(|&k| first.law.width(k)).collect();
    let chance = chance(theirs.0.len(), &widths);
    let critical = if chance < 1.0 { binomial_upper(n, chance, alpha.get()) } else { n };
    if critical >= n {
        let reason = "with so few clients, or so little declared jitter, gaps agree by chance";
        return Err(Skipped { name: TestName::Partners, reason: reason.to_owned() });
    }
    let pairs = ours.pairs(&theirs, &compared, same);
    let count = pairs.len();
    let result = TestResult {
        name: TestName::Partners,
        statistic: count as f64,
        critical: critical as f64,
        rejected: count > critical,
        tail: Tail::at_most(binomial_at_least(n, chance, count)),
        detail: format!(
            "{count} of {n} clients have all their gaps within {:.0} ms of those of a client of {} run; more than \
             {critical} are no chance",
            1e3 * RADIUS,
            if same { "their own" } else { "the other" }
        ),
    };
    Ok((result, pairs))
}

/// Clients with all gaps: row of the table, gaps. Sorted by the last gap, whose law is the widest.
struct Rows<'a>(Vec<(usize, &'a [f64])>);

impl<'a> Rows<'a> {
    fn of(sample: &Sample<'a>, retries: usize) -> Rows<'a> {
        let rows = sample.table.rows().iter().enumerate();
        let mut whole: Vec<(usize, &[f64])> =
            rows.filter(|(_, row)| row.len() == retries).map(|(i, row)| (i, row.as_slice())).collect();
        whole.sort_by(|a, b| last(a.1).total_cmp(&last(b.1)));
        Rows(whole)
    }

    /// For each row the first of `others` that is near in all compared gaps, other than itself.
    fn pairs(&self, others: &Rows<'_>, compared: &[usize], same: bool) -> Vec<Pair> {
        let mut from = 0;
        let mut out = Vec::new();
        for (second, row) in &self.0 {
            while others.0.get(from).is_some_and(|(_, other)| last(other) < last(row) - RADIUS) {
                from += 1;
            }
            let reachable = others.0[from..].iter().take_while(|(_, other)| last(other) <= last(row) + RADIUS);
            let near = |(first, other): &&(usize, &[f64])| {
                !(same && first == second) && compared.iter().all(|&k| (row[k] - other[k]).abs() <= RADIUS)
            };
            let found = reachable.into_iter().find(near);
            out.extend(found.map(|(first, _)| Pair { first: *first, second: *second }));
        }
        out
    }
}

fn last(row: &[f64]) -> f64 {
    row.last().copied().unwrap_or(0.0)
}

/// Bound on the chance that a client with new draws has a partner among `others`, for delays of those widths in seconds.
#[must_use]
pub fn chance(others: usize, widths: &[f64]) -> f64 {
    let near: f64 = widths.iter().map(|w| (2.0 * RADIUS / w).min(1.0)).product();
    (others as f64 * near).min(1.0)
}
