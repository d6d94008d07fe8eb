//! R9 against services that keep their deadline and stop for a client that left, and services that do not.

use std::time::Duration;

use judge::checks::{Check, retry};
use judge::evidence::Evidence;
use judge::promise::{Noise, RetryPolicy};

use crate::deadline_service::{Is, play};
use crate::{fails, is_unclear, noisy, passes, policy, unjoined};

fn check_for(policy: &RetryPolicy) -> Check {
    retry::deadline_and_cancel(policy, "bank", Noise::default())
}

fn check() -> Check {
    check_for(&policy())
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
    // Told to wait for less than what is left, it gave up at once: that is no deadline.
    let mut hasty = sound.clone();
    hasty.outcomes.retain(|o| o.step != "hung");
    hasty.attempts.retain(|a| hasty.outcomes.iter().any(|o| o.key == a.key));
    hasty.attempts.retain(|a| a.reply.retry_after.is_none() || a.ordinal == 1);
    for outcome in hasty.outcomes.iter_mut().filter(|o| o.step == "told-to-wait") {
        outcome.ended = outcome.sent + Duration::from_millis(5);
    }
    is_unclear(&check(), &hasty, "no payment reached its deadline");
    let mut stayed = sound.clone();
    stayed.outcomes.retain(|o| !o.step.starts_with("left"));
    stayed.attempts.retain(|a| stayed.outcomes.iter().any(|o| o.key == a.key));
    is_unclear(&check(), &stayed, "holds no client that left");
    is_unclear(&check(), &unjoined(&sound), "");
    is_unclear(&check(), &Evidence::new(sound.header), "did not run");
}
