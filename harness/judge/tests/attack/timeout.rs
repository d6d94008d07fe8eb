//! Scenes of time limits towards the client.

use std::time::Duration;

use judge::checks::timeout;
use judge::evidence::Answer;
use judge::promise::{Noise, TimeoutPolicy};

use super::limits::timeout_service::play;
use super::limits::world::reply;
use super::scene::{Scene, Steps};
use crate::support::LINK;

pub fn scenes() -> Vec<Scene> {
    let policy = TimeoutPolicy { answer: Duration::from_millis(3500) };
    let sound = play(&[1000, 1000, 700], 3005, &reply(504));
    let broken = [
        ("one attempt hangs", play(&[9000], 9005, &reply(504))),
        ("many attempts hang", play(&[1000, 1000, 1000, 1000], 4400, &reply(504))),
        ("no answer", play(&[9000], 9000, &Answer::TimedOut)),
        ("a broken connection", play(&[900], 1000, &Answer::Failed { error: "reset".to_owned() })),
    ];
    vec![Scene {
        name: "hung",
        checks: vec![timeout::answers_in_time(&policy, LINK, Noise::default())],
        more: sound.clone(),
        sound,
        broken: broken.map(|(name, evidence)| (name.to_owned(), evidence)).into(),
        steps: Steps::Same,
    }]
}
