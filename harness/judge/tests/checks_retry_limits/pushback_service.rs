//! A client of gRPC that is told to wait, or to stop.

use judge::evidence::Evidence;

use super::world::{Met, World, reply};
use crate::support::MS;

const VALUES: [&str; 5] = ["0", "300", "-1", "soon", "007"];

/// One payment for each value; `wait` says in how many milliseconds the service comes back, if it does.
pub fn play(wait: impl Fn(&str) -> Option<u64>) -> Evidence {
    let mut w = World::new("pushback");
    let mut now = MS;
    for value in VALUES {
        let step = format!("pushback/{value}");
        let p = w.pay(now);
        let mut ended = w.attempt(p, now + MS, 0, &Met::Status(503));
        if let Some(ms) = wait(value) {
            ended = w.attempt(p, ended + ms * MS + MS / 2, 1, &Met::Success);
            w.answer(p, &step, ended + MS, reply(201));
        } else {
            w.answer(p, &step, ended + MS, reply(502));
        }
        now = ended + 5 * MS;
    }
    w.evidence
}

/// What the rule asks for.
pub fn obeys(value: &str) -> Option<u64> {
    if matches!(value, "0" | "300") { value.parse().ok() } else { None }
}
