//! The declared laws of the reference, base 1 s and cap 60 s.

use std::time::Duration;

use judge::law::{Law, LawSpec};
use judge::sim::Policy;

const CAP: Duration = Duration::from_secs(60);

/// Full jitter with that base in seconds.
pub fn full(base: f64) -> Law {
    LawSpec::full(Duration::from_secs_f64(base)).cap(CAP).build().expect("a valid law")
}

/// The eight declared laws, each with the policy that it is.
pub fn declared() -> [(Law, Policy); 8] {
    let base = Duration::from_secs(1);
    [
        (LawSpec::full(base), Policy::Full),
        (LawSpec::equal(base), Policy::Equal),
        (LawSpec::decorrelated(base), Policy::Decorrelated),
        (LawSpec::plus_minus(base, 0.10), Policy::PlusMinus10),
        (LawSpec::plus_minus(base, 0.25), Policy::PlusMinus25),
        (LawSpec::plus_minus(base, 0.50), Policy::PlusMinus50),
        (LawSpec::exponential(base), Policy::FixedExponential),
        (LawSpec::immediate(), Policy::Immediate),
    ]
    .map(|(spec, policy)| {
        let spec = if policy == Policy::Immediate { spec } else { spec.cap(CAP) };
        (spec.build().expect("a valid law"), policy)
    })
}
