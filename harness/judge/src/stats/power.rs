//! How many clients it takes to see what is wrong.
//!
//! The smallest number of clients (with three retries each) at which the battery rejects a wrong policy in at least 99.9 %
//! of runs at alpha = 1e-7 with ordinary noise; from section `samples` of the simulator. Valid for bases of 50 ms and more
//! at eps = 60 ms.

use crate::law::{Law, LawName};
use crate::sim::Policy;

/// The declared laws that have a row, by name and, for `plus_minus`, spread.
const DECLARED: [LawName; 4] = [LawName::Full, LawName::Equal, LawName::Decorrelated, LawName::PlusMinus];

/// True policy, then the clients needed under each declared law; 0 where policy and law agree.
const NEEDED: [(Policy, [usize; 4]); 21] = [
    (Policy::Full, [0, 15, 5, 8]),
    (Policy::Equal, [15, 0, 5, 15]),
    (Policy::Decorrelated, [5, 5, 0, 8]),
    (Policy::PlusMinus10, [5, 8, 8, 40]),
    (Policy::PlusMinus25, [8, 15, 10, 0]),
    (Policy::PlusMinus50, [15, 15, 15, 15]),
    (Policy::FixedExponential, [5, 5, 5, 8]),
    (Policy::FixedConstant, [8, 5, 5, 5]),
    (Policy::Immediate, [5, 5, 5, 5]),
    (Policy::SharedSeed, [8, 8, 5, 8]),
    (Policy::OneDrawPerClient, [40, 25, 5, 10]),
    (Policy::NoGrowth, [15, 5, 5, 5]),
    (Policy::LinearGrowth, [80, 10, 5, 5]),
    (Policy::CeilingDoubled, [15, 8, 20, 8]),
    (Policy::CeilingHalved, [15, 5, 5, 5]),
    (Policy::MillisecondsForSeconds, [5, 5, 5, 5]),
    (Policy::WholeSeconds, [5, 5, 5, 5]),
    (Policy::Tick250, [8, 10, 5, 8]),
    (Policy::ExponentialPlus10, [5, 5, 8, 10]),
    (Policy::HalfUnjittered, [20, 20, 5, 15]),
    (Policy::TenthUnjittered, [400, 15, 5, 8]),
];

/// Clients (with three retries) needed to tell `policy` from the declared law; `None` when the two agree or the law has
/// no row.
#[must_use]
pub fn smallest_n(declared: &Law, policy: Policy) -> Option<usize> {
    let spread_fits = declared.name() != LawName::PlusMinus || declared.spec().spread == Some(0.25);
    let column = DECLARED.iter().position(|&name| name == declared.name() && spread_fits)?;
    NEEDED.iter().find(|(known, _)| *known == policy).map(|(_, needed)| needed[column]).filter(|&n| n > 0)
}

/// The wrong policies that need more than `clients` clients, with the number each needs; `None` when the declared law has
/// no row.
#[must_use]
pub fn blind_spots(declared: &Law, clients: usize) -> Option<Vec<(Policy, usize)>> {
    let rows: Vec<(Policy, usize)> =
        NEEDED.iter().filter_map(|&(policy, _)| smallest_n(declared, policy).map(|n| (policy, n))).collect();
    (!rows.is_empty()).then(|| rows.into_iter().filter(|&(_, n)| n > clients).collect())
}

/// What `clients` clients can and cannot tell apart, as a sentence.
#[must_use]
pub fn describe(declared: &Law, clients: usize) -> String {
    match blind_spots(declared, clients) {
        None => format!("the power of {clients} clients is not tabulated for this law; use 100"),
        Some(blind) if blind.is_empty() => {
            format!("{clients} clients tell the law from each of the known wrong policies")
        }
        Some(blind) => {
            let needs: Vec<String> = blind.iter().map(|(policy, n)| format!("{policy} ({n})")).collect();
            format!("{clients} clients do not surely show {}", needs.join(", "))
        }
    }
}
