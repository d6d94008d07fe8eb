//! Test 2, interval-DKW: the distance between the declared distribution and the gaps, honest about noise.
//!
//! Each gap gives an interval `[a, b]` that surely holds its uniform variable U. With N gaps the statistic is
//! D = sup over u of max(EDF_b(u) - u, u - EDF_a(u)); it rejects above sqrt(ln(2 / alpha) / (2 N)).
//!
//! Source: Dvoretzky, Kiefer and Wolfowitz 1956 with Massart's constant (1990), which holds for every N. Since EDF_b never
//! exceeds and EDF_a never falls below the EDF of the U themselves, the bound holds for every noise in `[0, eps]`,
//! dependent or not. False alarms: at most alpha.

use super::{Alpha, Sample, Tail, TestName, TestResult};

/// The distance above which the law is ruled out at level `alpha`.
#[must_use]
pub fn critical(gaps: usize, alpha: Alpha) -> f64 {
    ((2.0 / alpha.get()).ln() / (2.0 * gaps as f64)).sqrt()
}

/// The bound on P(distance >= `d`) for a correct client.
#[must_use]
pub fn tail(gaps: usize, d: f64) -> Tail {
    Tail::at_most(2.0 * (-2.0 * gaps as f64 * d * d).exp())
}

/// The distance D of intervals given as lower and upper ends of equal number, and the u where it is attained. Ends
/// outside `[0, 1]` count as 0 or 1. NaN when there is no interval.
#[must_use]
pub fn distance(lower: &[f64], upper: &[f64]) -> (f64, f64) {
    let sorted = |ends: &[f64]| {
        let mut ends: Vec<f64> = ends.iter().map(|u| u.clamp(0.0, 1.0)).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lower, upper, n) = (sorted(lower), sorted(upper), lower.len() as f64);
    let mut best = (f64::NAN, f64::NAN);
    for (i, (&a, &b)) in lower.iter().zip(&upper).enumerate() {
        for (d, u) in [((i + 1) as f64 / n - b, b), (a - i as f64 / n, a)] {
            // `<` alone would keep the NaN it starts from.
            if best.0.is_nan() || best.0 < d {
                best = (d, u);
            }
        }
    }
    best
}

/// The distance of all gaps, and the u where it is attained.
#[must_use]
pub fn sample_distance(sample: &Sample<'_>) -> (f64, f64) {
    let ends = |f: fn(&super::Interval) -> f64| sample.intervals.iter().map(f).collect::<Vec<_>>();
    distance(&ends(|i| i.a), &ends(|i| i.b))
}

/// Compares all gaps with the declared distribution.
#[must_use]
pub fn test(sample: &Sample<'_>) -> TestResult {
    let gaps = sample.intervals.len();
    let (statistic, at) = sample_distance(sample);
    let critical = critical(gaps, sample.settings.alpha);
    TestResult {
        name: TestName::IntervalDkw,
        statistic,
        critical,
        rejected: statistic > critical,
        tail: tail(gaps, statistic),
        detail: format!(
            "distance {statistic:.3} to the declared distribution over {gaps} gaps, widest at its {:.0} % point; above \
             {critical:.3} the law is ruled out",
            100.0 * at
        ),
    }
}
