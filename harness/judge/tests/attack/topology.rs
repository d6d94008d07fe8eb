//! Scenes of several layers, several dependencies and several routes.

#[path = "../checks_topology/breakers.rs"]
mod breakers;
#[path = "../checks_topology/layers.rs"]
pub mod layers;
#[expect(dead_code, reason = "a scene plays fewer calls than the other suite")]
#[path = "../checks_topology/pools.rs"]
pub mod pools;
#[expect(dead_code, reason = "no scene refuses a connection")]
#[path = "../checks_topology/stage.rs"]
mod stage;

use judge::checks::Check;
use judge::checks::topology::{Beside, bounded_amplification, breaker_isolation, bulkhead_holds};
use judge::evidence::Evidence;
use judge::promise::{BulkheadPolicy, Noise};

use super::scene::{Scene, Steps};
use crate::support::{LINK, MS};
use breakers::Kind;
use layers::{BOTH, Layers, SOUND};

pub fn scenes() -> Vec<Scene> {
    vec![together(), each_its_own(), isolation(), bulkhead()]
}

/// Steps are named by the route that they use: the clean evidence is of routes that nobody promised anything about.
fn scene(name: &'static str, check: Check, sound: Evidence, broken: Vec<(String, Evidence)>) -> Scene {
    Scene { name, checks: vec![check], more: sound.clone(), sound, broken, steps: Steps::Anew }
}

fn together() -> Scene {
    let check = bounded_amplification(&layers::policy(Some(3)));
    let broken = vec![("both retry".to_owned(), layers::run(Layers { front: 2, ..SOUND }, &BOTH))];
    scene("amplification", check, layers::run(SOUND, &BOTH), broken)
}

fn each_its_own() -> Scene {
    let check = bounded_amplification(&layers::policy(None));
    let broken = vec![("a retry more".to_owned(), layers::run(Layers { back: 4, ..SOUND }, &BOTH))];
    scene("amplification, by layer", check, layers::run(Layers { front: 2, ..SOUND }, &BOTH), broken)
}

fn rates() -> [Beside; 1] {
    [Beside { route: "rates".to_owned(), link: "rates".to_owned() }]
}

fn isolation() -> Scene {
    let broken = [Kind::Shared, Kind::Leaks, Kind::Degrades];
    let broken = broken.map(|kind| (format!("{kind:?}"), breakers::run(kind, 5))).into();
    let check = breaker_isolation(&breakers::policy(), LINK, &rates());
    scene("breaker-isolation", check, breakers::run(Kind::Sound, 5), broken)
}

/// T2 by that promise.
pub fn beside_a_hang(policy: &BulkheadPolicy, noise: Noise) -> Check {
    bulkhead_holds(policy, LINK, &rates(), noise)
}

fn bulkhead() -> Scene {
    let run = |beside: fn(u64) -> (u64, u16)| pools::run_with(24, 100, |_| (5 * MS, 200), beside);
    let broken = vec![
        ("calls wait".to_owned(), run(|_| (900 * MS, 200))),
        ("calls are turned away".to_owned(), run(|i| (5 * MS, if i % 2 == 0 { 503 } else { 200 }))),
    ];
    let check = beside_a_hang(&pools::policy(), Noise::default());
    Scene { steps: Steps::Same, ..scene("bulkhead", check, run(|_| (5 * MS, 200)), broken) }
}
