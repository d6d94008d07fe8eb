//! Simulated fleets of retrying clients, right and wrong ones.
//!
//! Every law test ships with the policies it must accept and the ones it must reject: [`Policy`] lists twenty-one, among
//! them defects that real libraries have shipped. [`Noise`] lists what a network and a scheduler add. The generator is
//! passed in, so a fleet is a pure function of its seed.
//!
//! ```
//! use std::time::Duration;
//! use judge::law::LawSpec;
//! use judge::sim::{Fleet, Policy};
//! use judge::stats::{Settings, battery};
//!
//! let law = LawSpec::full(Duration::from_secs(1)).cap(Duration::from_secs(60)).build()?;
//! let sound = Fleet::new(Policy::Full, 100).observe(7);
//! let broken = Fleet::new(Policy::OneDrawPerClient, 100).observe(7);
//! assert!(battery(&sound.gaps, &law, &Settings::default()).is_kept());
//! assert!(battery(&broken.gaps, &law, &Settings::default()).is_rejected());
//! # Ok::<(), judge::law::LawError>(())
//! ```

mod noise;
mod policy;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use noise::Noise;
pub use policy::Policy;

use crate::law::Law;
use crate::stats::GapTable;

/// Clients that fail together and retry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fleet {
    /// How they wait.
    pub policy: Policy,
    /// What the measurement adds.
    pub noise: Noise,
    /// Number of clients.
    pub clients: usize,
    /// Retries of each.
    pub retries: usize,
    /// First ceiling, in seconds.
    pub base: f64,
    /// Largest ceiling, in seconds.
    pub cap: f64,
}

/// What the proxy sees of a fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The gaps.
    pub gaps: GapTable,
    /// `arrivals[i][k]`: arrival of retry k of client i, in seconds after the first client failed.
    pub arrivals: Vec<Vec<f64>>,
}

/// Clients of a herd start within this many seconds.
const START: f64 = 0.010;

impl Fleet {
    /// The fleet of `checks.md`: three retries, base 1 s, factor 2, cap 60 s, typical noise.
    #[must_use]
    pub fn new(policy: Policy, clients: usize) -> Fleet {
        Fleet { policy, noise: Noise::Typical, clients, retries: 3, base: 1.0, cap: 60.0 }
    }

    /// The same with other noise.
    #[must_use]
    pub fn noise(self, noise: Noise) -> Fleet {
        Fleet { noise, ..self }
    }

    /// The same with another base, in seconds.
    #[must_use]
    pub fn base(self, base: f64) -> Fleet {
        Fleet { base, ..self }
    }

    /// The same with another number of retries.
    #[must_use]
    pub fn retries(self, retries: usize) -> Fleet {
        Fleet { retries, ..self }
    }

    /// Runs the fleet once.
    #[must_use]
    pub fn observe(&self, seed: u64) -> Observation {
        self.observe_with(&mut ChaCha8Rng::seed_from_u64(seed))
    }

    /// Runs the fleet once with a generator of the caller.
    pub fn observe_with<R: Rng + ?Sized>(&self, rng: &mut R) -> Observation {
        let delays = self.policy.delays(self, rng);
        self.arrive(delays, rng)
    }

    /// Runs a fleet of correct clients of any declared law; `policy`, `base` and `cap` are not used.
    pub fn observe_law<R: Rng + ?Sized>(&self, law: &Law, rng: &mut R) -> Observation {
        let delays = (0..self.clients)
            .map(|_| {
                let mut previous = None;
                (0..self.retries)
                    .map(|k| {
                        let delay = law.delay(k, previous).quantile(rng.random());
                        previous = Some(delay);
                        delay
                    })
                    .collect()
            })
            .collect();
        self.arrive(delays, rng)
    }

    /// Adds start times and noise to delays.
    fn arrive<R: Rng + ?Sized>(&self, delays: Vec<Vec<f64>>, rng: &mut R) -> Observation {
        let mut gaps = Vec::with_capacity(delays.len());
        let mut arrivals = Vec::with_capacity(delays.len());
        let pause = self.noise.pause(self.base, rng);
        for row in delays {
            let mut at = START * rng.random::<f64>();
            let mut row_gaps = Vec::with_capacity(row.len());
            let mut row_arrivals = Vec::with_capacity(row.len());
            for delay in row {
                let due = at + delay + self.noise.draw(rng);
                // Who is due while the world stands still arrives when it moves again, all at once.
                let arrival = match pause {
                    Some((from, to)) if due > from && due < to => to + 1e-4 * rng.random::<f64>(),
                    _ => due,
                };
                row_gaps.push(arrival - at);
                row_arrivals.push(arrival);
                at = arrival;
            }
            gaps.push(row_gaps);
            arrivals.push(row_arrivals);
        }
        Observation { gaps: GapTable::new(gaps), arrivals }
    }
}
