//! Twenty-one ways to wait.

use std::fmt;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::Fleet;

/// A retry policy, sound or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Full jitter.
    Full,
    /// Equal jitter.
    Equal,
    /// Decorrelated jitter.
    Decorrelated,
    /// Exponential plus or minus 10 %.
    PlusMinus10,
    /// Exponential plus or minus 25 %.
    PlusMinus25,
    /// Exponential plus or minus 50 %.
    PlusMinus50,
    /// Exponential without jitter.
    FixedExponential,
    /// Always the base.
    FixedConstant,
    /// No wait.
    Immediate,
    /// Full jitter, but every client seeds its generator alike.
    SharedSeed,
    /// Full jitter drawn once for each client and reused on each attempt.
    OneDrawPerClient,
    /// Full jitter whose ceiling never grows.
    NoGrowth,
    /// Full jitter whose ceiling grows by one base a retry.
    LinearGrowth,
    /// Full jitter with the exponent one too high.
    CeilingDoubled,
    /// Full jitter with the exponent one too low.
    CeilingHalved,
    /// Full jitter in the wrong unit.
    MillisecondsForSeconds,
    /// Full jitter cut to whole seconds.
    WholeSeconds,
    /// Full jitter on a timer that ticks every 250 ms.
    Tick250,
    /// Exponential plus up to a tenth of the base.
    ExponentialPlus10,
    /// Half of the clients wait without jitter.
    HalfUnjittered,
    /// A tenth of the clients waits without jitter.
    TenthUnjittered,
}

impl Policy {
    /// All of them, in the order of `checks.md`.
    pub const ALL: [Policy; 21] = [
        Policy::Full,
        Policy::Equal,
        Policy::Decorrelated,
        Policy::PlusMinus10,
        Policy::PlusMinus25,
        Policy::PlusMinus50,
        Policy::FixedExponential,
        Policy::FixedConstant,
        Policy::Immediate,
        Policy::SharedSeed,
        Policy::OneDrawPerClient,
        Policy::NoGrowth,
        Policy::LinearGrowth,
        Policy::CeilingDoubled,
        Policy::CeilingHalved,
        Policy::MillisecondsForSeconds,
        Policy::WholeSeconds,
        Policy::Tick250,
        Policy::ExponentialPlus10,
        Policy::HalfUnjittered,
        Policy::TenthUnjittered,
    ];

    /// The name in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Policy::Full => "full jitter",
            Policy::Equal => "equal jitter",
            Policy::Decorrelated => "decorrelated jitter",
            Policy::PlusMinus10 => "exponential +-10 %",
            Policy::PlusMinus25 => "exponential +-25 %",
            Policy::PlusMinus50 => "exponential +-50 %",
            Policy::FixedExponential => "fixed exponential",
            Policy::FixedConstant => "fixed constant",
            Policy::Immediate => "immediate",
            Policy::SharedSeed => "shared seed",
            Policy::OneDrawPerClient => "one draw per client",
            Policy::NoGrowth => "no growth",
            Policy::LinearGrowth => "linear growth",
            Policy::CeilingDoubled => "ceiling x2",
            Policy::CeilingHalved => "ceiling /2",
            Policy::MillisecondsForSeconds => "ms for s",
            Policy::WholeSeconds => "whole seconds",
            Policy::Tick250 => "tick 250 ms",
            Policy::ExponentialPlus10 => "exponential + 0..10 %",
            Policy::HalfUnjittered => "half un-jittered",
            Policy::TenthUnjittered => "tenth un-jittered",
        }
    }

    /// The delays of a fleet, in seconds: one row for each client.
    pub(super) fn delays<R: Rng + ?Sized>(self, fleet: &Fleet, rng: &mut R) -> Vec<Vec<f64>> {
        let shared: Vec<f64> = (0..fleet.retries).map(|_| rng.random()).collect();
        let unjittered = match self {
            Policy::HalfUnjittered => fleet.clients / 2,
            Policy::TenthUnjittered => fleet.clients / 10,
            _ => 0,
        };
        (0..fleet.clients)
            .map(|client| {
                let policy = if client < unjittered { Policy::FixedExponential } else { self };
                policy.client(fleet, &shared, rng)
            })
            .collect()
    }

    /// The delays of one client; `shared` holds the draws that all clients have in common.
    fn client<R: Rng + ?Sized>(self, fleet: &Fleet, shared: &[f64], rng: &mut R) -> Vec<f64> {
        let own: f64 = rng.random();
        let mut previous = fleet.base;
        (0..fleet.retries)
            .map(|k| {
                let u = match self {
                    Policy::SharedSeed => shared[k],
                    Policy::OneDrawPerClient => own,
                    _ => rng.random(),
                };
                previous = self.delay(k, u, previous, fleet);
                previous
            })
            .collect()
    }

    /// The delay before retry `k` for the uniform draw `u`.
    fn delay(self, k: usize, u: f64, previous: f64, fleet: &Fleet) -> f64 {
        let (base, cap) = (fleet.base, fleet.cap);
        let d = (base * 2f64.powi(i32::try_from(k).unwrap_or(i32::MAX))).min(cap);
        let around = |spread: f64| d * (1.0 - spread + 2.0 * spread * u);
        match self {
            Policy::Full
            | Policy::SharedSeed
            | Policy::OneDrawPerClient
            | Policy::HalfUnjittered
            | Policy::TenthUnjittered => u * d,
            Policy::Equal => (0.5 + 0.5 * u) * d,
            Policy::Decorrelated => (base + u * (3.0 * previous - base)).min(cap),
            Policy::PlusMinus10 => around(0.10),
            Policy::PlusMinus25 => around(0.25),
            Policy::PlusMinus50 => around(0.50),
            Policy::FixedExponential => d,
            Policy::FixedConstant => base,
            Policy::Immediate => 0.0,
            Policy::NoGrowth => u * base,
            Policy::LinearGrowth => u * base * (k as f64 + 1.0),
            Policy::CeilingDoubled => 2.0 * u * d,
            Policy::CeilingHalved => 0.5 * u * d,
            Policy::MillisecondsForSeconds => 1e-3 * u * d,
            Policy::WholeSeconds => (u * d).floor(),
            Policy::Tick250 => (u * d / 0.25).ceil() * 0.25,
            Policy::ExponentialPlus10 => d + 0.1 * base * u,
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
