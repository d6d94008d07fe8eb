//! Scenes of circuit breakers, by the simulated breaker.

#[path = "../checks_breaker/machine.rs"]
mod machine;
#[expect(dead_code, reason = "the other suite has checks of its own over whole batteries")]
#[path = "../checks_breaker/scenarios.rs"]
mod scenarios;
#[path = "../checks_breaker/stage.rs"]
mod stage;

use judge::checks::breaker;
use judge::evidence::{BreakerState, Evidence};
use judge::promise::BreakerPolicy;

use super::scene::{Scene, Steps};
use machine::Defect;
use scenarios::{checks, recovery, relapse, trip};

/// What the simulated breaker promises.
pub fn policy() -> BreakerPolicy {
    serde_json::from_str(r#"{ "threshold": 5, "open": "500ms" }"#).expect("a policy")
}

fn windowed() -> BreakerPolicy {
    serde_json::from_str(r#"{ "mode": "window", "window": "2s", "threshold": 4, "open": "500ms" }"#).expect("a policy")
}

const TRIP: &[Defect] = &[
    Defect::OpensLate,
    Defect::OpensEarly,
    Defect::SuccessForgetsNothing,
    Defect::PerRequest,
    Defect::Leaks,
    Defect::SlowReject,
    Defect::WrongStatus,
    Defect::WrongProblem,
    Defect::RetryAfterTooLong,
    Defect::RetryAfterGarbage,
];
const RECOVERY: &[Defect] = &[
    Defect::OpenTooShort,
    Defect::OpenTooLong,
    Defect::NeverHalfOpens,
    Defect::ManyProbes,
    Defect::QueuesBehindProbe,
    Defect::SuccessStaysHalfOpen,
    Defect::CounterNotReset,
];
const RELAPSE: &[Defect] = &[Defect::FailureCloses, Defect::FailureStaysHalfOpen, Defect::StuckProbe];

pub fn scenes() -> Vec<Scene> {
    let mut tripped = scene("breaker-trip", trip, policy(), TRIP);
    let mut lying = trip(&policy(), Defect::None, 10);
    lying.breakers.iter_mut().for_each(|r| r.state = BreakerState::Closed);
    tripped.broken.push(("an endpoint that lies".to_owned(), lying));
    vec![
        tripped,
        scene("breaker-recovery", recovery, policy(), RECOVERY),
        scene("breaker-recovery, windowed", recovery, windowed(), RECOVERY),
        scene("breaker-relapse", relapse, policy(), RELAPSE),
    ]
}

fn scene(
    name: &'static str,
    play: fn(&BreakerPolicy, Defect, u64) -> Evidence,
    policy: BreakerPolicy,
    defects: &[Defect],
) -> Scene {
    let sound = play(&policy, Defect::None, 1);
    let checks = checks(&policy, &sound.header.scenario);
    let broken = defects.iter().map(|d| (format!("{d:?}"), play(&policy, *d, 1))).collect();
    // A service that was replaced by a sound one: whatever it does, the old one broke its promise.
    let more = recovery(&policy, Defect::None, 2);
    Scene { name, checks, sound, broken, more, steps: Steps::Anew }
}

/// Every breaker check under that policy.
pub fn all_checks(policy: &BreakerPolicy) -> Vec<judge::checks::Check> {
    let mut all: Vec<_> = ["breaker-trip", "breaker-recovery", "breaker-relapse"]
        .iter()
        .flat_map(|scenario| checks(policy, scenario))
        .collect();
    all.push(breaker::state_is_truthful(policy, "bank"));
    all
}
