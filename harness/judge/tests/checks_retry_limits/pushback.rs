//! R14 against clients that obey a pushback and clients that do not.

use judge::checks::{Check, retry};
use judge::evidence::{Answer, Evidence};
use judge::promise::Noise;

use crate::pushback_service::{obeys, play};
use crate::{fails, is_unclear, noisy, passes, policy, unjoined};

fn check() -> Check {
    retry::pushback_is_obeyed(&policy(), "bank", Noise::default())
}

/// Proves that waits that are kept and stops that stop pass.
#[test]
fn obedience_passes() {
    passes(&check(), &play(obeys));
}

/// Proves that each way of not obeying is failed with its class.
#[test]
fn disobedience_is_told_apart() {
    // By its own law: early for 300, and again after a stop.
    fails(&check(), &play(|_| Some(100)), 0);
    fails(&check(), &play(|v| if v == "300" { Some(20) } else { obeys(v) }), 0);
    fails(&check(), &play(|v| if v == "300" { Some(900) } else { obeys(v) }), 0);
    fails(&check(), &play(|v| if v == "-1" { Some(20) } else { obeys(v) }), 1);
    fails(&check(), &play(|v| if v == "007" { Some(7) } else { obeys(v) }), 1);
    fails(&check(), &play(|v| if v == "soon" { Some(20) } else { obeys(v) }), 1);
    fails(&check(), &play(|_| None), 2);
}

/// Proves that a value that never struck, one kind alone, a noisy machine and attempts without a name decide nothing.
#[test]
fn doubts() {
    let sound = play(obeys);
    is_unclear(&check(), &noisy(&sound), "paused");
    let mut unstruck = sound.clone();
    unstruck.attempts.iter_mut().for_each(|a| a.fault = None);
    is_unclear(&check(), &unstruck, "never struck");
    let mut waits = sound.clone();
    waits.outcomes.retain(|o| obeys(o.step.strip_prefix("pushback/").unwrap_or_default()).is_some());
    waits.attempts.retain(|a| waits.outcomes.iter().any(|o| o.key == a.key));
    is_unclear(&check(), &waits, "no payment was told a stop");
    let mut unknown = play(|_| None);
    unknown.outcomes.iter_mut().for_each(|o| o.answer = Answer::TimedOut);
    unknown.outcomes.iter_mut().filter(|o| o.step == "pushback/300").for_each(|o| o.ended = o.sent);
    unknown.outcomes.retain(|o| o.step != "pushback/0");
    is_unclear(&check(), &unknown, "has no outcome");
    is_unclear(&check(), &unjoined(&sound), "never struck");
    is_unclear(&check(), &Evidence::new(sound.header), "did not run");
}
