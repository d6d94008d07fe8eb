//! A fleet whose service is started twice.

use judge::evidence::Evidence;
use judge::sim::{self, Fleet, Policy};
use judge::stats::GapTable;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::scenarios::Player;
use super::service::{ATTEMPTS, Defect};
use super::world::Fault;

fn fleet(policy: Policy, clients: usize) -> Fleet {
    Fleet { cap: 5.0, ..Fleet::new(policy, clients) }.base(0.2)
}

/// The scenario as the battery plays it: every attempt fails, a herd before the restart and one after it.
pub fn played(herds: &[GapTable; 2]) -> Evidence {
    let mut p = Player::new("retry-restart", Defect::Sound);
    let from = p.world.now;
    for (step, herd) in ["start/1", "start/2"].into_iter().zip(herds) {
        let orders: Vec<_> = herd.rows().iter().map(|_| p.order()).collect();
        let (start, service) = (p.world.now, &mut p.service);
        p.world.step(step, orders.len() as u64, |w| {
            let mut end = start;
            for (order, gaps) in orders.iter().zip(herd.rows()) {
                w.now = start;
                service.waits = gaps.iter().map(|gap| 1e3 * gap).collect();
                service.ask(w, step, order, &[], Some(Fault::Status(503)));
                end = end.max(w.now);
            }
            w.now = end;
        });
        p.service.restart();
    }
    let attempts = herds.iter().map(|h| h.rows().len() * ATTEMPTS).sum::<usize>();
    p.world.planned(Fault::Status(503), from, attempts as u64);
    p.world.finish()
}

/// New draws in both herds.
pub fn anew(policy: Policy, clients: usize, seed: u64) -> [GapTable; 2] {
    [0, 1].map(|i| fleet(policy, clients).observe(2 * seed + i).gaps)
}

/// The same delays with new noise, after the rows were moved by `arrange`.
pub fn again(
    clients: usize,
    seed: u64,
    noise: fn(&mut ChaCha8Rng) -> f64,
    arrange: fn(&mut Vec<Vec<f64>>),
) -> [GapTable; 2] {
    let clean = fleet(Policy::Full, clients).noise(sim::Noise::None).observe(seed).gaps.rows().to_vec();
    let mut moved = clean.clone();
    arrange(&mut moved);
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1);
    [clean, moved].map(|mut rows| {
        rows.iter_mut().flatten().for_each(|gap| *gap += noise(&mut rng));
        GapTable::new(rows)
    })
}

/// The noise of a fleet.
pub fn typical(rng: &mut ChaCha8Rng) -> f64 {
    sim::Noise::Typical.draw(rng)
}

/// A quiet machine: between 1 and 3 ms.
pub fn quiet(rng: &mut ChaCha8Rng) -> f64 {
    0.001 + 0.002 * rng.random::<f64>()
}
