//! Scenes of load that feeds on failure.

#[path = "../checks_storm/herd_service.rs"]
mod herd_service;
#[path = "../checks_storm/load_service.rs"]
pub mod load_service;
#[path = "../checks_storm/overload_service.rs"]
pub mod overload_service;
#[expect(dead_code, reason = "no scene refuses a connection")]
#[path = "../checks_storm/stage.rs"]
mod stage;

use std::sync::Arc;
use std::time::Duration;

use judge::checks::{Check, storm};
use judge::evidence::Evidence;
use judge::promise::{Noise, OverloadPolicy, RetryPolicy};
use judge::sim::Policy;

use super::payments::steadily;
use super::scene::{Scene, Steps};
use crate::support::LINK;
use herd_service::herd;
use load_service::{TRIGGER, during, played, rising, sound};
use overload_service::CAPACITY;

pub fn scenes() -> Vec<Scene> {
    vec![replay(), recovery(), overload()]
}

/// The clean evidence is of another step: see [`super::registry`].
fn scene(name: &'static str, check: Check, sound: Evidence, broken: Vec<(&str, Evidence)>) -> Scene {
    let broken = broken.into_iter().map(|(name, evidence)| (name.to_owned(), evidence)).collect();
    Scene { name, checks: vec![check], sound, broken, more: steadily(), steps: Steps::Same }
}

/// What the service of the storm promises.
pub fn retry_policy() -> RetryPolicy {
    herd_service::policy()
}

/// S1 against a control that storms, by that promise and window.
pub fn against_a_storm(policy: &RetryPolicy, noise: Noise, window: Duration) -> Check {
    storm::storm_replay(policy, LINK, noise, window, Arc::new(herd(Policy::Immediate, CLIENTS, 2)))
}

const CLIENTS: usize = 150;

fn replay() -> Scene {
    let check = against_a_storm(&retry_policy(), Noise::default(), Duration::from_millis(100));
    let broken = vec![
        ("without waits", herd(Policy::Immediate, CLIENTS, 2)),
        ("without jitter", herd(Policy::FixedExponential, CLIENTS, 2)),
        ("a retry more", herd(Policy::Full, CLIENTS, 3)),
    ];
    // A herd of another size than the control's is compared with nothing, so that more of it acquits nobody.
    Scene {
        more: herd(Policy::Full, CLIENTS, 2),
        ..scene("retry-storm", check, herd(Policy::Full, CLIENTS, 2), broken)
    }
}

fn recovery() -> Scene {
    let broken = vec![
        ("stays down", played(4, |at| if at < TRIGGER.0 { vec![201] } else { vec![] })),
        ("retries into the outage", played(4, |at| if at < TRIGGER.0 { vec![201] } else { vec![503; 4] })),
        ("retries for ever", played(4, |at| if at < TRIGGER.0 { vec![201] } else { vec![503, 201] })),
        ("comes back late", played(4, |at| if during(at) || at > 3_200_000_000 { vec![503] } else { vec![201] })),
        ("abandoned work", rising()),
    ];
    scene("recovery", storm::recovers_after_trigger(&load_service::policy(), LINK), played(4, sound), broken)
}

fn overload() -> Scene {
    let broken = vec![
        ("a third succeeds", overload_service::played(200, 2, 3, 1)),
        ("a third succeeds, retried", overload_service::played(200, 2, 3, 3)),
        ("nothing succeeds", overload_service::played(200, 2, 1_000_000, 1)),
    ];
    let check = storm::goodput(&OverloadPolicy { goodput: 0.7 }, LINK, CAPACITY);
    scene("overload", check, overload_service::played(200, 2, 2, 0), broken)
}
