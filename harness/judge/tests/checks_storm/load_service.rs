//! A service under an even load, of which a part is disturbed.

use judge::evidence::Evidence;
use judge::promise::RecoveryPolicy;

use super::stage::{Try, fault, payment};
use crate::support::{MS, evidence};

/// When the disturbance begins and ends.
pub const TRIGGER: (u64, u64) = (1_000 * MS, 2_000 * MS);

/// What it promises.
pub fn policy() -> RecoveryPolicy {
    serde_json::from_str(r#"{ "within": "1s" }"#).expect("a policy")
}

/// What becomes of a payment sent at that moment.
pub type Fate = fn(u64) -> Vec<u16>;

/// A hundred payments a second for `seconds`; the statuses of a payment's attempts are its fate, 100 ms apart.
pub fn played(seconds: u64, fate: Fate) -> Evidence {
    let mut evidence = evidence("recovery");
    for i in 0..100 * seconds {
        let sent = MS + i * 10 * MS;
        let tries = fate(sent).into_iter().enumerate();
        let tries: Vec<_> =
            tries.map(|(k, status)| Try { at: sent + MS + 100 * MS * k as u64, took: 5 * MS, status }).collect();
        payment(&mut evidence, "load", sent, &tries);
    }
    fault(&mut evidence, TRIGGER, 10, 100);
    evidence
}

/// Whether the disturbance is on.
pub fn during(at: u64) -> bool {
    (TRIGGER.0..TRIGGER.1).contains(&at)
}

/// The fate of a payment whose service fails with its dependency, and only then.
pub fn sound(at: u64) -> Vec<u16> {
    if during(at) { vec![503, 503] } else { vec![201] }
}

/// Abandoned calls of one old payment, more and more of them.
pub fn rising() -> Evidence {
    let mut evidence = played(5, sound);
    let old = evidence.attempts[150].clone();
    let (mut at, mut gap) = (3_000 * MS, 20 * MS);
    while at < 5_000 * MS {
        let mut attempt = old.clone();
        attempt.seq = 10_000 + at / MS;
        attempt.arrived = judge::evidence::At(at);
        evidence.attempts.push(attempt);
        (at, gap) = (at + gap, (gap - MS / 10).max(2 * MS));
    }
    evidence
}
