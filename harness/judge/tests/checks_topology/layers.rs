//! Two services, one behind the other, that both retry.

use judge::evidence::Evidence;
use judge::promise::{AmplificationPolicy, Hop};

use super::stage::{Ask, Hit, Stage};
use crate::support::MS;

/// What they promise together.
pub fn policy(at_most: Option<u32>) -> AmplificationPolicy {
    let hop = |link: &str, attempts| Hop { link: link.to_owned(), attempts };
    AmplificationPolicy { hops: vec![hop("payments", 2), hop("bank", 3)], at_most }
}

/// What the two layers do with a bank that fails.
#[derive(Clone, Copy)]
pub struct Layers {
    /// Calls of the front to the back.
    pub front: usize,
    /// Calls of the back to the bank, for each of them.
    pub back: usize,
    pub traced: bool,
}

pub const SOUND: Layers = Layers { front: 1, back: 3, traced: true };

pub fn run(layers: Layers, steps: &[&str]) -> Evidence {
    let mut s = Stage::new("amplification", "checkout");
    for step in steps {
        s.step(step, |s| (0..10).for_each(|_| request(s, layers)));
        s.fault("bank", 10, 10);
    }
    s.e
}

pub fn request(s: &mut Stage, layers: Layers) {
    let (trace, sent) = (s.trace(), s.now);
    let named = layers.traced.then_some(trace);
    for _ in 0..layers.front {
        let at = s.now;
        for _ in 0..layers.back {
            s.now += 2 * MS;
            let hit = Hit { link: "bank", trace: named, at: s.now, ended: s.now + MS, status: 503, struck: true };
            s.hit(hit);
        }
        s.now += 2 * MS;
        s.hit(Hit { link: "payments", trace: named, at, ended: s.now, status: 502, struck: false });
    }
    s.now += MS;
    let ended = s.now;
    s.ask(Ask { route: None, trace, sent, ended, status: 502, degraded: false });
}

/// The steps of both kinds of fault.
pub const BOTH: [&str; 2] = ["constant/bank", "flapping/bank"];
