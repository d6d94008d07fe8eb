//! The least that a decorrelated wait can have grown to: where a chain of waits that began at the base stands some steps on.
//!
//! The law min(cap, U(base, factor * previous)) is monotone in the previous wait. So whatever a client waited before, its
//! wait m steps later is stochastically larger than that of a chain which began at the base, and its distribution function
//! there is a uniform variable, or a larger one. That needs no look at the gaps between, which noise would have lengthened.
//!
//! The chain is followed over a grid of waits in geometric steps. Each wait counts as the lower end of its cell, which
//! keeps the bound a bound: a chain that is held down at every step stays below the true one.

use crate::law::{Law, LawName};

/// Cells between base and cap.
const CELLS: usize = 400;

/// The distribution of a wait that is stochastically no larger than the one so many steps after any other.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// Lower ends of the cells, in seconds, the cap last.
    edges: Vec<f64>,
    /// P(wait <= edge).
    cumulative: Vec<f64>,
}

impl Floor {
    /// The floor after `steps` waits; none when the law is not decorrelated or has no cap.
    #[must_use]
    pub fn after(law: &Law, steps: usize) -> Option<Floor> {
        let cap = law.cap().filter(|_| law.name() == LawName::Decorrelated)?.as_secs_f64();
        let (base, growth) = (law.base().as_secs_f64(), cap / law.base().as_secs_f64());
        let mut edges: Vec<f64> = (0..CELLS).map(|i| base * growth.powf(i as f64 / CELLS as f64)).collect();
        edges.push(cap);
        let mut mass = vec![0.0; edges.len()];
        mass[0] = 1.0;
        for _ in 0..steps {
            mass = step(law, &edges, &mass);
        }
        let cumulative = mass.iter().scan(0.0, |sum, m| {
            *sum += m;
            Some(*sum)
        });
        Some(Floor { cumulative: cumulative.collect(), edges })
    }

    /// P(wait <= `x`), at least what it is for the true chain.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        let below = self.edges.partition_point(|edge| *edge <= x);
        below.checked_sub(1).map_or(0.0, |i| self.cumulative[i].min(1.0))
    }
}

/// One more wait after each of the cells.
fn step(law: &Law, edges: &[f64], mass: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; edges.len()];
    for (&previous, &weight) in edges.iter().zip(mass).filter(|(_, weight)| **weight > 0.0) {
        let delay = law.delay(0, Some(previous));
        let mut below = 0.0;
        for (i, cell) in next.iter_mut().enumerate() {
            // What lies from this edge up to the next one; at the cap its whole rest, with the atom.
            let up_to = edges.get(i + 1).map_or(1.0, |upper| delay.cdf_before(*upper));
            *cell += weight * (up_to - below);
            below = up_to;
        }
    }
    next
}
