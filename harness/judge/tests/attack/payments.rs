//! Scenes of retries and keys, by the simulated payment service.

#[expect(dead_code, reason = "the other suite plays noises that no scene needs")]
#[path = "../checks_retry_keys/restarts.rs"]
pub mod restarts;
#[path = "../checks_retry_keys/scenarios.rs"]
mod scenarios;
#[expect(dead_code, reason = "the other suite plays defects that no scene needs")]
#[path = "../checks_retry_keys/service.rs"]
mod service;
#[path = "../checks_retry_keys/world.rs"]
mod world;

use judge::checks::{Check, idempotency, retry, trust};
use judge::evidence::Evidence;
use judge::promise::Noise;
use judge::sim::Policy;

use super::scene::{Scene, Steps};
use crate::support::LINK;
pub use scenarios::{all_fail, one_effect, retry_policy};
use scenarios::{duplicates, key_policy, restart, retry_table, steady};
pub use service::Defect;

pub fn scenes() -> Vec<Scene> {
    let (keys, policy, noise) = (key_policy(), retry_policy(), Noise::default());
    let stable = || [retry::key_is_stable(LINK), retry::payload_is_stable(LINK)];
    let once = || idempotency::exactly_one_effect(LINK);
    let mut law = waves("waves");
    // More waiting as promised would dilute what R2 measures, and should: the clean evidence is of another step.
    law.more = steadily();
    law.checks = vec![retry::bounded_attempts(&policy, LINK), retry::backoff_law(&policy, LINK, noise)];
    law.checks.extend(stable());
    let mut herd = waves("herd");
    herd.more = steadily();
    herd.checks = vec![retry::bounded_attempts(&policy, LINK), retry::no_herd(&policy, LINK, noise)];
    vec![
        law,
        herd,
        scene("steady", Steps::Same, steady, vec![trust::steady_state(LINK), once()], STEADY),
        {
            let mut checks = vec![retry::retries_only_the_retryable(&policy, LINK), once()];
            checks.extend(stable());
            scene("retry-table", Steps::Same, retry_table, checks, TABLE)
        },
        {
            let mut checks = vec![idempotency::replay_is_faithful(&keys, LINK), once()];
            checks.extend(stable());
            scene("one-effect", Steps::Anew, one_effect, checks, ONE_EFFECT)
        },
        scene("duplicates", Steps::Anew, duplicates, duplicate_checks(), DUPLICATES),
        scene("restart", Steps::Same, restart, vec![idempotency::survives_crash(&keys, LINK), once()], RESTART),
    ]
}

/// Payments that all succeed at the first attempt: good behaviour that no scene of failures is diluted by.
pub fn steadily() -> Evidence {
    steady(Defect::Sound)
}

const STEADY: &[Defect] = &[
    Defect::FailsAtFirst,
    Defect::RetriesWithoutFault,
    Defect::SecondRow,
    Defect::NeverSettles,
    Defect::WrongAmount,
    Defect::ConfirmsWithoutCharge,
];
const TABLE: &[Defect] = &[
    Defect::RetriesClientErrors,
    Defect::RepeatsRefused,
    Defect::NeverRetries503,
    Defect::HidesTheRetry,
    Defect::NewKeyPerAttempt,
    Defect::BodyChanges,
    Defect::LengthWrong,
    Defect::ChargesAgainAfterLost,
];
const ONE_EFFECT: &[Defect] = &[
    Defect::NewKeyPerAttempt,
    Defect::BodyConsumed,
    Defect::ChargesAgainAfterLost,
    Defect::TwinsBothRun,
    Defect::ReplayReruns,
    Defect::ReplayAltered,
    Defect::ReplayUnmarked,
    Defect::EverythingMarked,
];
const DUPLICATES: &[Defect] = &[
    Defect::TwinsBothRun,
    Defect::TwinsGet500,
    Defect::TwinsGetPlain409,
    Defect::TwinRerunsAfterwards,
    Defect::ReplayOtherStatus,
    Defect::PayloadNotChecked,
    Defect::PayloadOverwrites,
    Defect::MissingKeyAccepted,
    Defect::MissingKeyCallsBank,
    Defect::FailsAtFirst,
];
const RESTART: &[Defect] = &[
    Defect::SecondRow,
    Defect::NeverSettles,
    Defect::KeysInMemory,
    Defect::InFlightForEver,
    Defect::RecoversWithNewKey,
    Defect::ReplayAltered,
];

fn duplicate_checks() -> Vec<Check> {
    let keys = key_policy();
    vec![
        idempotency::one_of_many_runs(&keys, LINK),
        idempotency::replay_is_faithful(&keys, LINK),
        idempotency::mismatch_is_rejected(&keys, LINK),
        idempotency::missing_key_is_rejected(&keys, LINK),
        idempotency::exactly_one_effect(LINK),
    ]
}

fn scene(
    name: &'static str,
    steps: Steps,
    play: fn(Defect) -> Evidence,
    checks: Vec<Check>,
    defects: &[Defect],
) -> Scene {
    let broken = defects.iter().map(|d| (format!("{d:?}"), play(*d))).collect();
    Scene { name, checks, sound: play(Defect::Sound), broken, more: play(Defect::Sound), steps }
}

/// A fleet whose every attempt fails, waiting rightly and in wrong ways.
fn waves(step: &'static str) -> Scene {
    let play = |policy, defect| all_fail(step, policy, 100, defect);
    let wrong = [Policy::FixedExponential, Policy::Immediate, Policy::SharedSeed];
    let mut broken: Vec<_> = wrong.iter().map(|p| (format!("{p:?}"), play(*p, Defect::Sound))).collect();
    let defects = [
        Defect::OneAttemptMore,
        Defect::OneAttemptLess,
        Defect::NestedRetries,
        Defect::NewKeyPerAttempt,
        Defect::BodyChanges,
    ];
    broken.extend(defects.iter().map(|d| (format!("{d:?}"), play(Policy::Full, *d))));
    let sound = play(Policy::Full, Defect::Sound);
    Scene { name: step, checks: Vec::new(), more: sound.clone(), sound, broken, steps: Steps::Same }
}
