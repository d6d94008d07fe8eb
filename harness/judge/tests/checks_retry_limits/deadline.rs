//! R9 against services that keep their deadline and stop for a client that left, and services that do not.

use judge::checks::{Check, retry};
use judge::evidence::{Answer, Evidence};
use judge::promise::{Noise, RetryPolicy};

use crate::support::MS;
use crate::world::{Met, World, reply};
use crate::{fails, is_unclear, noisy, passes, policy, unjoined};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Sound,
    BlindToTheDeadline,
    LettingTheLastAttemptRunOn,
    SleepingToTheDeadline,
    AnsweringLate,
    BlindToTheClient,
    DoneBeforeTheClientLeft,
}

fn check_for(policy: &RetryPolicy) -> Check {
    retry::deadline_and_cancel(policy, "bank", Noise::default())
}

fn check() -> Check {
    check_for(&policy())
}

fn play(is: Is) -> Evidence {
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

/// Proves that a deadline in the middle of an attempt, a wait that is not begun, and a client that left are all followed.
#[test]
fn keeping_to_them_passes() {
    passes(&check(), &play(Is::Sound));
    let finding = check().judge(&play(Is::Sound));
    assert!(finding.headline.starts_with("4 payments") && finding.headline.contains("and 3 "), "{}", finding.headline);
}

/// Proves that each way of not keeping to them is failed with its class.
#[test]
fn ways_of_going_on_are_told_apart() {
    fails(&check(), &play(Is::BlindToTheDeadline), 0);
    fails(&check(), &play(Is::AnsweringLate), 0);
    fails(&check(), &play(Is::LettingTheLastAttemptRunOn), 1);
    fails(&check(), &play(Is::SleepingToTheDeadline), 2);
    fails(&check(), &play(Is::BlindToTheClient), 3);
}

/// Proves that only what is promised is judged.
#[test]
fn what_is_not_promised_is_not_judged() {
    let no_deadline = RetryPolicy { deadline: None, ..policy() };
    passes(&check_for(&no_deadline), &play(Is::BlindToTheDeadline));
    let no_cancel = RetryPolicy { stops_when_client_leaves: false, ..policy() };
    passes(&check_for(&no_cancel), &play(Is::BlindToTheClient));
}

/// Proves that a deadline nobody reached, a client that left too late, or one that was not watched proves nothing.
#[test]
fn doubts() {
    let sound = play(Is::Sound);
    for is in [Is::Sound, Is::BlindToTheDeadline, Is::BlindToTheClient] {
        is_unclear(&check(), &noisy(&play(is)), "paused");
    }
    is_unclear(&check(), &play(Is::DoneBeforeTheClientLeft), "no client left while");
    let mut unwatched = sound.clone();
    unwatched.steps.retain(|s| s.name != "watch");
    is_unclear(&check(), &unwatched, "was not watched");
    let mut short = sound.clone();
    short.outcomes.retain(|o| o.step.starts_with("left"));
    short.attempts.retain(|a| short.outcomes.iter().any(|o| o.key == a.key));
    is_unclear(&check(), &short, "no payment reached its deadline");
    let mut stayed = sound.clone();
    stayed.outcomes.retain(|o| !o.step.starts_with("left"));
    stayed.attempts.retain(|a| stayed.outcomes.iter().any(|o| o.key == a.key));
    is_unclear(&check(), &stayed, "holds no client that left");
    is_unclear(&check(), &unjoined(&sound), "");
    is_unclear(&check(), &Evidence::new(sound.header), "did not run");
}
