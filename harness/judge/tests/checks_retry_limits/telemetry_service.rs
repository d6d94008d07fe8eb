//! A service that tells of its attempts.

use judge::evidence::{Evidence, SpanId};

use super::world::{Met, World, reply};
use crate::support::MS;

/// Three attempts that fail by status and by time-out and then succeed, for each of five payments. `tell` may change what
/// the span of an attempt tells, by its rank.
pub fn play(tell: impl Fn(usize) -> Vec<(&'static str, Option<serde_json::Value>)>) -> Evidence {
    let mut w = World::new("retry-table");
    for n in 0..5 {
        let p = w.pay((1 + 2000 * n) * MS);
        let mut at = p.sent + MS;
        for (rank, met) in [Met::Status(503), Met::Hang(900 * MS), Met::Success].iter().enumerate() {
            w.misreport = tell(rank).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            at = w.attempt(p, at, rank, met) + 10 * MS;
        }
        w.answer(p, "case/503", at, reply(201));
    }
    w.evidence
}

/// By the convention.
pub fn sound() -> Evidence {
    play(|_| Vec::new())
}

/// One span for both attempts of a payment.
pub fn one_span_for_two() -> Evidence {
    let mut w = World::new("retry-table");
    let p = w.pay(MS);
    let span = SpanId([7; 8]);
    let first = w.attempt_under(p, p.sent + MS, 0, &Met::Status(503), span);
    let second = w.attempt_under(p, first + 10 * MS, 1, &Met::Success, span);
    w.answer(p, "case/503", second + MS, reply(201));
    w.evidence
}
