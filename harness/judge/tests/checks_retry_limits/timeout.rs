//! T1 against services that hang with their dependency.

use std::time::Duration;

use judge::checks::{Check, timeout};
use judge::evidence::{Answer, Evidence};
use judge::promise::{Noise, TimeoutPolicy};

use crate::timeout_service::play;
use crate::world::reply;
use crate::{fails, is_unclear, noisy, passes, unjoined};

fn check() -> Check {
    let policy = TimeoutPolicy { answer: Duration::from_millis(3500) };
    timeout::answers_in_time(&policy, "bank", Noise::default())
}

/// Proves that an answer in time passes, up to the noise bound above the promise.
#[test]
fn an_answer_in_time_passes() {
    passes(&check(), &play(&[1000, 1000, 700], 3005, &reply(504)));
    passes(&check(), &play(&[1000, 1000, 700], 3555, &reply(504)));
}

/// Proves that a late answer, none, and a broken connection are failed, by whether one attempt hung or many did.
#[test]
fn late_or_none_fails() {
    fails(&check(), &play(&[9000], 9005, &reply(504)), 0);
    fails(&check(), &play(&[9000], 9000, &Answer::TimedOut), 0);
    fails(&check(), &play(&[1000, 1000, 1000, 1000], 4400, &reply(504)), 1);
    fails(&check(), &play(&[900], 1000, &Answer::Failed { error: "reset".into() }), 2);
}

/// Proves that nothing is concluded from a fault that never struck, a driver that gave up first, or a noisy machine.
#[test]
fn doubts() {
    let late = play(&[9000], 9005, &reply(504));
    is_unclear(&check(), &noisy(&late), "paused");
    is_unclear(&check(), &play(&[900], 900, &Answer::TimedOut), "gave up");
    let mut unstruck = late.clone();
    unstruck.attempts.iter_mut().for_each(|a| a.fault = None);
    is_unclear(&check(), &unstruck, "no payment of the step called");
    let mut no_time = play(&[1000], 1005, &reply(504));
    no_time.attempts.iter_mut().for_each(|a| a.reply.ended = a.arrived);
    is_unclear(&check(), &no_time, "no payment of the step called");
    is_unclear(&check(), &unjoined(&late), "no payment of the step called");
    is_unclear(&check(), &Evidence::new(late.header), "did not run");
}
