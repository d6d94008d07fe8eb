//! The breaker checks on a simulated breaker: a sound one passes everything, each wrong one is failed by the checks
//! that own its mistake and by no other.

mod detection;
mod edges;
mod late;
mod machine;
mod overlap;
mod pauses;
mod scenarios;
mod sound;
mod stage;

#[expect(dead_code, reason = "each suite uses the records that its stage writes")]
#[path = "../support/mod.rs"]
mod support;

use judge::promise::BreakerPolicy;

/// The policy most tests use.
fn policy() -> BreakerPolicy {
    serde_json::from_str(r#"{ "threshold": 5, "open": "500ms" }"#).expect("a policy")
}

/// A policy that counts in a window.
fn windowed() -> BreakerPolicy {
    serde_json::from_str(r#"{ "mode": "window", "window": "2s", "threshold": 4, "open": "500ms" }"#).expect("a policy")
}
