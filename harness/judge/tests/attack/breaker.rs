//! Scenes of circuit breakers, by the simulated breaker.

#[path = "../checks_breaker/late.rs"]
mod late;
#[expect(dead_code, reason = "the other suite plays defects that no scene needs")]
#[path = "../checks_breaker/machine.rs"]
mod machine;
#[expect(dead_code, reason = "the other suite has checks of its own over whole batteries")]
#[path = "../checks_breaker/scenarios.rs"]
mod scenarios;
#[path = "../checks_breaker/stage.rs"]
mod stage;

use judge::checks::breaker;
use judge::evidence::{BreakerState, Evidence};
use judge::promise::{BreakerPolicy, Noise};

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
        overlapping("breaker-late", late::late, policy(), LATE),
        overlapping("breaker-crowd", late::crowd, policy(), &[Defect::LostUpdate]),
        overlapping("breaker-outcomes", late::outcomes, classified(), OUTCOMES),
    ]
}

const LATE: &[Defect] = &[
    Defect::StaleSuccessCloses,
    Defect::StaleFailureReopens,
    Defect::StaleFreesPermit,
    Defect::StaleRestartsOpen,
    Defect::HidesHalfOpen,
];
const OUTCOMES: &[Defect] = &[
    Defect::ClientErrorsTrip,
    Defect::SuccessIgnored,
    Defect::FailureNotCounted,
    Defect::SlowNotCounted,
    Defect::IgnoredResets,
    Defect::IgnoredCloses,
    Defect::IgnoredKeepsPermit,
    Defect::IgnoredReopens,
    Defect::TimeoutNotCounted,
];

fn classified() -> BreakerPolicy {
    serde_json::from_str(
        r#"{ "threshold": 5, "open": "500ms", "slow_call": "300ms",
             "outcomes": { "success": [402], "ignored": [409], "failure": [429, "hang"] } }"#,
    )
    .expect("a policy")
}

/// Scenarios in which calls overlap the breaker's changes of state.
fn overlapping(name: &'static str, play: Play, policy: BreakerPolicy, defects: &[Defect]) -> Scene {
    let noise = Noise::default();
    let mut scene = scene(name, play, policy.clone(), defects);
    scene.checks = match name {
        "breaker-late" => vec![
            breaker::stale_outcomes_change_nothing(&policy, "bank", noise),
            breaker::state_is_truthful(&policy, "bank"),
            breaker::sequence_is_legal(&policy, "bank"),
        ],
        "breaker-crowd" => vec![breaker::overshoot_is_bounded(&policy, "bank")],
        _ => vec![breaker::outcomes_count_as_declared(&policy, "bank", noise)],
    };
    scene
}

type Play = fn(&BreakerPolicy, Defect, u64) -> Evidence;

fn scene(name: &'static str, play: Play, policy: BreakerPolicy, defects: &[Defect]) -> Scene {
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
    let noise = Noise::default();
    all.extend([
        breaker::state_is_truthful(policy, "bank"),
        breaker::stale_outcomes_change_nothing(policy, "bank", noise),
        breaker::outcomes_count_as_declared(policy, "bank", noise),
        breaker::overshoot_is_bounded(policy, "bank"),
        breaker::sequence_is_legal(policy, "bank"),
    ]);
    all
}
