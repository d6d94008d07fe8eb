//! A service whose dependency hangs.

use judge::evidence::{Answer, Evidence};

use super::world::{Met, World};
use crate::support::MS;

/// Five payments whose attempts last `each`, and whose clients get `answer` at `end`.
pub fn play(each: &[u64], end: u64, answer: &Answer) -> Evidence {
    let mut w = World::new("hung");
    for n in 0..5 {
        let p = w.pay((1 + n) * MS);
        let mut at = p.sent + MS;
        for (rank, took) in each.iter().enumerate() {
            at = w.attempt(p, at, rank, &Met::Hang(took * MS)) + 100 * MS;
        }
        w.answer(p, "hung", p.sent + end * MS, answer.clone());
    }
    w.evidence
}
