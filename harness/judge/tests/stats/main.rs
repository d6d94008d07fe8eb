//! Acceptance of the statistics: against tables made with scipy, and by counting verdicts over seeded fleets.

mod counts;
mod noise;
mod peak;
mod power;
mod properties;
mod reference;
mod report;
mod restart;

use std::time::Duration;

use judge::law::{Law, LawSpec};

/// The eight declared laws of the acceptance matrix, base 1 s, cap 60 s, with the policy each one is.
fn declared() -> Vec<(Law, judge::sim::Policy)> {
    use judge::sim::Policy;
    let (base, cap) = (Duration::from_secs(1), Duration::from_secs(60));
    [
        (LawSpec::full(base).cap(cap), Policy::Full),
        (LawSpec::equal(base).cap(cap), Policy::Equal),
        (LawSpec::decorrelated(base).cap(cap), Policy::Decorrelated),
        (LawSpec::plus_minus(base, 0.10).cap(cap), Policy::PlusMinus10),
        (LawSpec::plus_minus(base, 0.25).cap(cap), Policy::PlusMinus25),
        (LawSpec::plus_minus(base, 0.50).cap(cap), Policy::PlusMinus50),
        (LawSpec::exponential(base).cap(cap), Policy::FixedExponential),
        (LawSpec::immediate(), Policy::Immediate),
    ]
    .into_iter()
    .map(|(spec, policy)| (spec.build().expect("a valid law"), policy))
    .collect()
}

/// Full jitter with that base in seconds and a cap of 60 s.
fn full(base: f64) -> Law {
    let spec = LawSpec::full(Duration::from_secs_f64(base)).cap(Duration::from_secs(60));
    spec.build().expect("a valid law")
}
