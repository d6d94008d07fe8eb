//! What network and scheduler add to a delay.

use std::f64::consts::TAU;
use std::time::Duration;

use rand::{Rng, RngExt};

/// A noise model; every draw is at least 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Nothing.
    None,
    /// 5 to 20 ms of timer overshoot and two local network legs.
    Typical,
    /// Typical, and two legs of about 20 ms.
    Wan,
    /// Typical, and an exponential stall of 100 ms on average for one gap in fifty.
    Stalls,
    /// Typical, and one pause of that length in which nobody arrives.
    Freeze(Duration),
}

impl Noise {
    /// One draw, in seconds.
    pub fn draw<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        if self == Noise::None {
            return 0.0;
        }
        let typical = 0.005 + 0.015 * rng.random::<f64>() + leg(rng, 0.0005, 0.5) + leg(rng, 0.0005, 0.5);
        match self {
            Noise::Wan => typical + leg(rng, 0.020, 0.25) + leg(rng, 0.020, 0.25),
            Noise::Stalls if rng.random::<f64>() < 0.02 => typical - 0.100 * (1.0 - rng.random::<f64>()).ln(),
            _ => typical,
        }
    }

    /// Begin and end of the pause of one run, somewhere in the first four bases.
    pub(super) fn pause<R: Rng + ?Sized>(self, base: f64, rng: &mut R) -> Option<(f64, f64)> {
        match self {
            Noise::Freeze(length) => {
                let from = 4.0 * base * rng.random::<f64>();
                Some((from, from + length.as_secs_f64()))
            }
            _ => None,
        }
    }
}

/// A lognormal network leg with that median (seconds) and shape.
fn leg<R: Rng + ?Sized>(rng: &mut R, median: f64, shape: f64) -> f64 {
    // Box and Muller; 1 - u keeps the logarithm away from zero.
    let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
    median * (shape * (-2.0 * u.ln()).sqrt() * (TAU * v).cos()).exp()
}
