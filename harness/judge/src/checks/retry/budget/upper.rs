//! The most that a budget allows, whatever the order of events within the noise bound.

use std::time::Duration;

use super::record::{Record, Retry};
use crate::evidence::At;
use crate::promise::{BudgetPolicy, Deposit};

/// More retries than the budget can have allowed.
pub(super) struct Excess<'r, 'a> {
    pub what: String,
    pub retries: Vec<&'r Retry<'a>>,
}

/// How many slots implementations of the ratio keep their window in: the oldest one leaves as a whole.
const SLOTS: f64 = 10.0;

/// The window with the largest excess of more than one retry.
pub(super) fn excess<'r, 'j, 'a>(
    record: &'r Record<'j, 'a>,
    budget: &BudgetPolicy,
    eps: Duration,
) -> Option<Excess<'r, 'a>> {
    match *budget {
        BudgetPolicy::GrpcTokens { max_tokens, token_ratio } => {
            // Each retry needs more than half after its own failure was taken off, so that over any window they are
            // fewer than half and what the successes of the window added.
            let bucket = Bucket { capacity: max_tokens / 2.0, cost: &|_| 1.0, credit: &|_| token_ratio, unit: 1.0 };
            bucket.excess(record, eps)
        }
        BudgetPolicy::AwsQuota { capacity, retry_cost, timeout_cost, success } => {
            let cost = |timeout: bool| f64::from(if timeout { timeout_cost } else { retry_cost });
            let credit = |retried: Option<bool>| retried.map_or_else(|| f64::from(success), cost);
            let unit = f64::from(retry_cost.max(timeout_cost).max(1));
            Bucket { capacity: f64::from(capacity), cost: &cost, credit: &credit, unit }.excess(record, eps)
        }
        BudgetPolicy::Ratio { ratio, min_per_second, ttl, deposit } => {
            by_ratio(record, (ratio, min_per_second * ttl.as_secs_f64()), ttl, deposit, eps)
        }
        BudgetPolicy::ActiveShare { percent, min_concurrency } => by_share(record, percent, min_concurrency, eps),
    }
}

/// A bucket: over any window no more can be taken out than it holds at most and what was put in.
struct Bucket<'f> {
    capacity: f64,
    /// What a retry takes, by whether it followed a time-out.
    cost: &'f dyn Fn(bool) -> f64,
    /// What a success gives, by its last retry.
    credit: &'f dyn Fn(Option<bool>) -> f64,
    /// The most that one retry takes.
    unit: f64,
}

impl Bucket<'_> {
    fn excess<'r, 'j, 'a>(&self, record: &'r Record<'j, 'a>, eps: Duration) -> Option<Excess<'r, 'a>> {
        let mut worst: Option<(f64, At, At, f64, usize)> = None;
        let mut starts: Vec<At> = record.retries.iter().map(Retry::from).collect();
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            // A success may be noticed up to the noise bound after it ended.
            let mut given = record.successes.iter().skip_while(|s| s.at < start - eps).peekable();
            let (mut taken, mut allowed, mut count) = (0.0, self.capacity, 0);
            for retry in record.retries.iter().filter(|r| r.from() >= start) {
                while let Some(success) = given.next_if(|s| s.at <= retry.to()) {
                    allowed += (self.credit)(success.retried);
                }
                taken += (self.cost)(retry.after_timeout);
                count += 1;
                if taken - allowed > worst.map_or(self.unit, |w| w.0) {
                    worst = Some((taken - allowed, start, retry.to(), allowed / self.unit, count));
                }
            }
        }
        let (_, start, end, allowed, count) = worst?;
        let what = format!(
            "{count} retries within {:.0} ms, and the budget allows {allowed:.1}",
            end.seconds_from(start) * 1e3
        );
        Some(Excess { what, retries: between(record, start, end) })
    }
}

fn between<'r, 'j, 'a>(record: &'r Record<'j, 'a>, start: At, end: At) -> Vec<&'r Retry<'a>> {
    record.retries.iter().filter(|r| r.from() >= start && r.to() <= end).collect()
}

fn by_ratio<'r, 'j, 'a>(
    record: &'r Record<'j, 'a>,
    (ratio, floor): (f64, f64),
    ttl: Duration,
    deposit: Deposit,
    eps: Duration,
) -> Option<Excess<'r, 'a>> {
    let deposits: Vec<At> = match deposit {
        Deposit::Request => record.begun.clone(),
        Deposit::Success => record.successes.iter().map(|s| s.at).collect(),
    };
    let surely = ttl.mul_f64(1.0 - 1.0 / SLOTS);
    let mut worst: Option<(f64, At, At, f64, usize)> = None;
    for last in &record.retries {
        let (start, end) = (last.to() - surely, last.to());
        let inside = record.retries.iter().filter(|r| r.from() >= start && r.to() <= end);
        let (count, latest) = inside.fold((0, At(0)), |(n, at), r| (n + 1, at.max(r.from())));
        // A request is begun up to the noise bound before its first attempt arrives.
        let in_reach = |at: &&At| **at + ttl + eps >= latest && **at <= end + eps;
        let allowed = floor + ratio * deposits.iter().filter(in_reach).count() as f64;
        if count as f64 - allowed > worst.map_or(1.0, |w| w.0) {
            worst = Some((count as f64 - allowed, start, end, allowed, count));
        }
    }
    let (_, start, end, allowed, count) = worst?;
    let what = format!("{count} retries within {:.1} s, and the budget allows {allowed:.1}", end.seconds_from(start));
    Some(Excess { what, retries: between(record, start, end) })
}

fn by_share<'r, 'j, 'a>(record: &'r Record<'j, 'a>, percent: f64, least: u32, eps: Duration) -> Option<Excess<'r, 'a>> {
    let mut worst: Option<(f64, At, f64, usize)> = None;
    // A retry runs for certain from the noise bound after the failure that it follows to its own end.
    let runs = |r: &Retry<'_>, at: At| r.from() + eps <= at && at <= r.attempt.reply.ended;
    for at in record.retries.iter().map(|r| r.from() + eps) {
        let running: Vec<_> = record.retries.iter().filter(|r| runs(r, at)).collect();
        let Some(latest) = running.iter().map(|r| r.from()).max() else { continue };
        let active = most_active(record, (latest, at), eps);
        let allowed = (percent / 100.0 * active as f64).trunc().max(f64::from(least));
        let over = running.len() as f64 - allowed;
        if over > worst.as_ref().map_or(1.0, |w| w.0) {
            worst = Some((over, at, allowed, running.len()));
        }
    }
    let (_, at, allowed, count) = worst?;
    let what = format!("{count} retries at a time, and the budget allows {allowed:.0}");
    Some(Excess { what, retries: record.retries.iter().filter(|r| runs(r, at)).collect() })
}

/// The most attempts that can have been open at one moment of a stretch of time.
fn most_active(record: &Record<'_, '_>, (from, to): (At, At), eps: Duration) -> usize {
    let edges = record.live.iter().map(|(begun, _)| *begun - eps).filter(|at| (from..=to).contains(at));
    let open = |at: At| record.live.iter().filter(|(a, e)| *a - eps <= at && at <= *e + eps).count();
    edges.chain([from, to]).map(open).max().unwrap_or(0)
}
