//! A service that makes many attempts with a small base and a low cap, right and wrong.

use judge::evidence::{Answer, Evidence};
use judge::law::Law;
use judge::promise::{CapCheck, RetryPolicy};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::world::{Met, World, reply};
use crate::support::MS;

/// How the service waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    Rightly,
    /// The cap is applied after the jitter.
    SwallowingTheJitter,
    /// The exponent is multiplied out in 64 bits: from the 64th doubling on it is zero.
    InAHotLoop,
    /// The shift is taken modulo 32: after the 31st doubling the waits begin at the base again.
    StartingOver,
    /// The power is never held against the cap.
    WithoutACap,
    /// With half of the cap.
    WithHalfTheCap,
    /// Above the cap before one retry only, where the sum of two waits is taken.
    TwiceBeforeRetry(usize),
    /// Not at all.
    Never,
}

/// What ends the attempts before their number does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    WithTheLastAttempt,
    /// The power panics after so many attempts, and the connection breaks.
    InAPanicAfter(usize),
    /// The same in a task of its own: the client waits for ever.
    InSilenceAfter(usize),
}

/// Payments that all fail.
#[derive(Debug, Clone)]
pub struct Service {
    pub promised: RetryPolicy,
    pub check: CapCheck,
    pub waits: Waits,
    pub ends: Ends,
    pub payments: u64,
    /// Each wait is lengthened by something from nothing to this, in seconds.
    pub noise: f64,
    /// How long the driver waits, and how long the service goes on, in seconds.
    pub patience: f64,
    pub deadline: f64,
    pub seed: u64,
}

impl Service {
    pub fn new(promised: &RetryPolicy, check: CapCheck) -> Self {
        Self {
            promised: promised.clone(),
            check,
            waits: Waits::Rightly,
            ends: Ends::WithTheLastAttempt,
            payments: 12,
            noise: 0.010,
            patience: 40.0,
            deadline: f64::INFINITY,
            seed: 1,
        }
    }

    pub fn waiting(self, waits: Waits) -> Self {
        Self { waits, ..self }
    }

    pub fn ending(self, ends: Ends) -> Self {
        Self { ends, ..self }
    }

    pub fn play(&self) -> Evidence {
        let policy = self.check.policy(&self.promised).expect("a law with a cap");
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut w = World::new("retry-cap");
        for n in 0..self.payments {
            self.pay(&mut w, &policy, (1 + n) * MS, &mut rng);
        }
        w.evidence
    }

    fn pay(&self, w: &mut World, policy: &RetryPolicy, sent: u64, rng: &mut ChaCha8Rng) {
        let p = w.pay(sent);
        let ns = |seconds: f64| (1e9 * seconds.max(0.0)) as u64;
        let (mut at, mut previous) = (sent + MS, None);
        for rank in 0..policy.attempts as usize {
            let failed = w.attempt(p, at, rank, &Met::Status(503));
            match self.ends {
                Ends::InAPanicAfter(n) if n == rank + 1 => {
                    let error = "connection closed before message completed".to_owned();
                    return w.answer(p, "capped", failed + MS, Answer::Failed { error });
                }
                Ends::InSilenceAfter(n) if n == rank + 1 => {
                    return w.answer(p, "capped", sent + ns(self.patience), Answer::TimedOut);
                }
                _ => {}
            }
            let wait = self.wait(&policy.backoff, rank, previous, rng);
            previous = Some(wait);
            let left = self.deadline - (failed - sent) as f64 / 1e9;
            if rank + 1 == policy.attempts as usize || wait >= left {
                return w.answer(p, "capped", failed + 2 * MS, reply(503));
            }
            at = failed + ns(wait + self.noise * rng.random::<f64>());
            if at > sent + ns(self.patience) {
                return w.answer(p, "capped", sent + ns(self.patience), Answer::TimedOut);
            }
        }
    }

    /// The wait before retry `k`, in seconds.
    fn wait(&self, law: &Law, k: usize, previous: Option<f64>, rng: &mut ChaCha8Rng) -> f64 {
        let u: f64 = rng.random();
        let (delay, base) = (law.delay(k, previous), law.base().as_secs_f64());
        let right = delay.quantile(u);
        let grown = base * 2f64.powi(k.min(1000) as i32);
        let cap = delay.support().1;
        match self.waits {
            Waits::Rightly => right,
            Waits::SwallowingTheJitter => (grown * u).min(cap),
            Waits::InAHotLoop if k >= 64 => 0.0,
            Waits::InAHotLoop => right,
            Waits::StartingOver => law.delay(k % 32, previous).quantile(u),
            Waits::WithoutACap => grown * u,
            Waits::WithHalfTheCap => right / 2.0,
            Waits::TwiceBeforeRetry(retry) if k + 1 == retry => right + 2.0 * cap,
            Waits::TwiceBeforeRetry(_) => right,
            Waits::Never => 0.0,
        }
    }
}
