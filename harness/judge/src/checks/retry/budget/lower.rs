//! The least that a budget can have held, whatever the order of events within the noise bound.

use std::time::Duration;

use super::record::{Denial, Record};
use crate::evidence::At;
use crate::promise::{BudgetPolicy, Deposit};

/// Whether the budget had room for the retry that was not made, with one retry to spare.
pub(super) fn has_room(record: &Record<'_, '_>, budget: &BudgetPolicy, denial: &Denial<'_, '_>, eps: Duration) -> bool {
    match *budget {
        BudgetPolicy::GrpcTokens { max_tokens, token_ratio } => {
            let given = record.successes.iter().map(|s| Move::up(s.at, eps, token_ratio));
            let taken = record.failures.iter().map(|at| Move { from: *at, to: *at + eps, by: -1.0 });
            let held = least(given.chain(taken).collect(), max_tokens, denial.at(), eps);
            held > max_tokens / 2.0 + 1.0
        }
        BudgetPolicy::AwsQuota { capacity, retry_cost, timeout_cost, success } => {
            let cost = |timeout: bool| f64::from(if timeout { timeout_cost } else { retry_cost });
            let credit = |retried: Option<bool>| retried.map_or_else(|| f64::from(success), cost);
            let given = record.successes.iter().map(|s| Move::up(s.at, eps, credit(s.retried)));
            let taken = record.retries.iter();
            let taken = taken.map(|r| Move { from: r.from(), to: r.to(), by: -cost(r.after_timeout) });
            let held = least(given.chain(taken).collect(), f64::from(capacity), denial.at(), eps);
            held >= cost(denial.after_timeout) + cost(false)
        }
        BudgetPolicy::Ratio { ratio, min_per_second, ttl, deposit } => {
            let (at, young) = (denial.at(), ttl.mul_f64(0.9));
            let spent = record.retries.iter().filter(|r| r.to() + ttl + eps >= at && r.from() <= at + eps).count();
            let counted = |known: At| known <= at && known + young >= at + eps;
            let deposits = match deposit {
                // It was made before the first attempt arrived.
                Deposit::Request => record.begun.iter().filter(|b| counted(**b)).count(),
                Deposit::Success => record.successes.iter().filter(|s| counted(s.at + eps)).count(),
            };
            spent as f64 + 2.0 <= min_per_second * ttl.as_secs_f64() + ratio * deposits as f64
        }
        BudgetPolicy::ActiveShare { percent, min_concurrency } => {
            let at = denial.at();
            let may_run = |from: At, to: At| from <= at + eps && to + eps >= at;
            // The payment's own last retry was given back before the next one is asked for.
            let others = record.retries.iter().filter(|r| r.attempt.seq != denial.last.seq);
            let running = others.filter(|r| may_run(r.from(), r.attempt.reply.ended)).count();
            let active = record.live.iter().filter(|(begun, end)| *begun <= at && *end > at + eps).count();
            let allowed = (percent / 100.0 * active as f64).trunc().max(f64::from(min_concurrency));
            running as f64 + 1.0 < allowed
        }
    }
}

/// One movement of a bucket, at some moment of a stretch of time.
#[derive(Debug, Clone, Copy)]
struct Move {
    from: At,
    to: At,
    by: f64,
}

impl Move {
    /// A success is noticed up to the noise bound after it ended.
    fn up(at: At, eps: Duration, by: f64) -> Self {
        Self { from: at, to: at + eps, by }
    }
}

/// The least that a bucket between 0 and `top`, full at first, can hold when a decision is made at `at` or up to the noise
/// bound later.
///
/// Movements whose stretches of time overlap may have happened in any order. Of all orders, all gains before all losses
/// leaves the least: a gain is lost when the bucket is full, a loss when it is empty, and swapping a loss with the gain
/// behind it can only lower the end.
fn least(mut moves: Vec<Move>, top: f64, at: At, eps: Duration) -> f64 {
    // Gains count when they were made for certain, losses when they may have been.
    moves.retain(|m| if m.by > 0.0 { m.to <= at } else { m.from <= at + eps });
    moves.sort_by_key(|m| m.from);
    let mut held = top;
    let mut rest = moves.as_slice();
    while let Some(first) = rest.first() {
        // The first one is always taken, so that the rest grows shorter whatever its stretch of time is.
        let (mut until, mut n) = (first.to, 1);
        while let Some(m) = rest.get(n).filter(|m| m.from <= until) {
            until = until.max(m.to);
            n += 1;
        }
        let (together, later) = rest.split_at(n);
        let gains: f64 = together.iter().map(|m| m.by).filter(|by| *by > 0.0).sum();
        let losses: f64 = together.iter().map(|m| m.by).filter(|by| *by < 0.0).sum();
        held = ((held + gains).min(top) + losses).max(0.0);
        rest = later;
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPS: Duration = Duration::from_nanos(5);

    fn held(moves: &[(u64, f64)], top: f64, at: u64) -> f64 {
        let moves = moves.iter().map(|(at, by)| Move { from: At(*at), to: At(*at + 5), by: *by }).collect();
        least(moves, top, At(at), EPS)
    }

    /// Proves the bound by every order, for three rows of five movements close to one another: the bucket never holds less
    /// than it says, and some order holds exactly that much.
    #[test]
    fn no_order_leaves_less() {
        fn orders(rest: &[f64], held: f64, top: f64) -> Vec<f64> {
            if rest.is_empty() {
                return vec![held];
            }
            let step = |i: usize| {
                let mut others = rest.to_vec();
                let by = others.remove(i);
                orders(&others, (held + by).clamp(0.0, top), top)
            };
            (0..rest.len()).flat_map(step).collect()
        }
        let steps = [[0.5, -1.0, -1.0, 0.5, -1.0], [2.0, 2.0, -1.0, -3.0, 0.5], [-1.0, -1.0, -1.0, 3.0, 3.0]];
        for step in steps {
            let moves: Vec<_> = step.iter().enumerate().map(|(i, by)| (i as u64, *by)).collect();
            let bound = held(&moves, 3.0, 100);
            let seen = orders(&step, 3.0, 3.0).into_iter().fold(f64::INFINITY, f64::min);
            assert_eq!(bound, seen, "{step:?}");
        }
    }

    /// Proves that a stretch of time which ends before it begins is a movement like any other, and no endless one.
    #[test]
    fn a_stretch_in_reverse_is_counted_once() {
        let moves = vec![Move { from: At(9), to: At(2), by: -1.0 }, Move { from: At(3), to: At(4), by: -1.0 }];
        assert_eq!(least(moves, 3.0, At(20), EPS), 1.0);
    }

    /// Proves that movements that are far enough apart keep their order, that a gain of the last moment does not count,
    /// and that a loss of the next one does.
    #[test]
    fn what_is_certain_keeps_its_order() {
        assert_eq!(held(&[(0, -9.0), (50, 2.0)], 3.0, 100), 2.0);
        assert_eq!(held(&[(0, -9.0), (98, 2.0)], 3.0, 100), 0.0);
        assert_eq!(held(&[(104, -1.0)], 3.0, 100), 2.0);
        assert_eq!(held(&[(106, -1.0)], 3.0, 100), 3.0);
    }
}
