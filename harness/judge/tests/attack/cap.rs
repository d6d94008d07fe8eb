//! The scene of R5: many attempts under a low cap, by the simulated service of the retry limits.

use judge::checks::retry;
use judge::evidence::Evidence;
use judge::promise::{CapCheck, Noise, RetryPolicy};

use super::limits::cap_service::{Ends, Service, Waits};
use super::limits::world::{Met, World, reply};
use super::payments::retry_policy;
use super::scene::{Scene, Steps};
use crate::support::{LINK, MS};

/// Fewer payments than the battery's: the properties judge each evidence many times.
const PAYMENTS: u64 = 6;

pub fn scenes() -> Vec<Scene> {
    let (policy, check) = (RetryPolicy { deadline: None, ..retry_policy() }, CapCheck::default());
    let service = || Service { payments: PAYMENTS, ..Service::new(&policy, check) };
    let waits = [
        Waits::SwallowingTheJitter,
        Waits::InAHotLoop,
        Waits::StartingOver,
        Waits::WithoutACap,
        Waits::WithHalfTheCap,
        Waits::TwiceBeforeRetry(40),
        Waits::Never,
    ];
    let mut broken: Vec<_> = waits.iter().map(|w| (format!("{w:?}"), service().waiting(*w).play())).collect();
    let ends = [Ends::InAPanicAfter(33), Ends::InSilenceAfter(33)];
    broken.extend(ends.iter().map(|e| (format!("{e:?}"), service().ending(*e).play())));
    let paused = |mut evidence: Evidence| {
        evidence.canary.iter_mut().for_each(|c| c.max_ns = 200 * MS);
        evidence
    };
    broken.push(("a pause".to_owned(), paused(service().play())));
    broken.push(("cut short".to_owned(), Service { patience: 2.0, ..service() }.play()));
    let checks = vec![retry::cap_holds(&policy, &check, LINK, Noise::default())];
    vec![Scene { name: "cap", checks, sound: service().play(), broken, more: elsewhere(), steps: Steps::Same }]
}

/// More waiting as promised would dilute what R5 measures, and should: the clean evidence is of another step.
fn elsewhere() -> Evidence {
    let mut w = World::new("retry-cap");
    for n in 0..3 {
        let p = w.pay((1 + n) * MS);
        let ended = w.attempt(p, p.sent + MS, 0, &Met::Success);
        w.answer(p, "steady", ended + MS, reply(201));
    }
    w.evidence
}
