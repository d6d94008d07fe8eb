//! A service with a deadline, whose clients sometimes leave.

use judge::evidence::{Answer, Evidence};

use super::world::{Met, World, reply};
use crate::support::MS;

/// How it keeps to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    Sound,
    BlindToTheDeadline,
    LettingTheLastAttemptRunOn,
    SleepingToTheDeadline,
    AnsweringLate,
    BlindToTheClient,
    DoneBeforeTheClientLeft,
}

/// The scenario: an outage, two long waits, and three clients that leave; then it is watched.
pub fn play(is: Is) -> Evidence {
    let mut w = World::new("retry-deadline");
    hung(&mut w, is);
    told_to_wait(&mut w, is);
    left(&mut w, is);
    w.step("watch", 9000 * MS, 12_000 * MS);
    w.evidence
}

/// Every attempt hangs for its second; the deadline of three seconds falls into the third.
fn hung(w: &mut World, is: Is) {
    for n in 0..3 {
        let p = w.pay((1 + n) * MS);
        let mut at = p.sent + MS;
        let last = if is == Is::BlindToTheDeadline { 3 } else { 2 };
        for rank in 0..=last {
            let left = (p.sent + 3000 * MS).saturating_sub(at);
            let took = match is {
                Is::BlindToTheDeadline => 1000 * MS,
                Is::LettingTheLastAttemptRunOn => (1000 * MS).min(left + 400 * MS),
                _ => (1000 * MS).min(left),
            };
            at = w.attempt(p, at, rank, &Met::Hang(took)) + 120 * MS;
        }
        let late = if is == Is::AnsweringLate { 450 * MS } else { 0 };
        w.answer(p, "hung", at - 118 * MS + late, reply(504));
    }
}

/// Told to come again in two seconds, twice: the second time less than two are left.
fn told_to_wait(w: &mut World, is: Is) {
    let p = w.pay(4000 * MS);
    let first = w.attempt(p, p.sent + MS, 0, &Met::Told(503, "2".into()));
    let second = w.attempt(p, first + 2100 * MS, 1, &Met::Told(503, "2".into()));
    let end = if is == Is::SleepingToTheDeadline { p.sent + 3000 * MS } else { second + 2 * MS };
    w.answer(p, "told-to-wait", end, reply(504));
}

/// The second attempt hangs when the client leaves.
fn left(w: &mut World, is: Is) {
    for n in 0..3 {
        let p = w.pay((8000 + n) * MS);
        let mut at = w.attempt(p, p.sent + MS, 0, &Met::Status(503)) + 80 * MS;
        let gone = at + 5 * MS;
        if is == Is::DoneBeforeTheClientLeft {
            for rank in 1..4 {
                at = w.attempt(p, at, rank, &Met::Status(503));
            }
            w.answer(p, "left/hung", gone, Answer::Left);
            continue;
        }
        at = w.attempt(p, at, 1, &Met::Hang(1000 * MS));
        if is == Is::BlindToTheClient {
            w.attempt(p, at + 200 * MS, 2, &Met::Success);
        }
        w.answer(p, "left/hung", gone, Answer::Left);
    }
}
