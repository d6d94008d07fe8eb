//! Test 3, reach: of many gaps, some must come near the floor and some near the ceiling.
//!
//! For each retry k with n gaps it rejects when all lower ends a exceed t or all upper ends b are below 1 - t, with
//! t = 1 - (alpha / 2K)^(1/n) and K the number of retries looked at: n independent uniform variables all exceed t with
//! probability (1 - t)^n. Exact for every noise in `[0, eps]`. False alarms: at most alpha over all retries.

use super::{Alpha, Sample, Skipped, Tail, TestName, TestResult};

/// The margin t for `n` gaps in each of `retries` attempts.
#[must_use]
pub fn threshold(n: usize, retries: usize, alpha: Alpha) -> f64 {
    1.0 - alpha.split(2 * retries).powf(1.0 / n as f64)
}

/// Looks at the extreme gaps of each attempt.
///
/// # Errors
/// [`Skipped`] when every declared delay is an atom.
pub fn test(sample: &Sample<'_>) -> Result<TestResult, Skipped> {
    let tested: Vec<usize> = (0..sample.columns.len()).filter(|&k| !sample.law.is_atom(k)).collect();
    let mut worst: Option<(f64, TestResult)> = None;
    for &k in &tested {
        let n = sample.columns[k].len();
        let critical = threshold(n, tested.len(), sample.settings.alpha);
        let above_floor = sample.intervals_of(k).map(|i| i.a).fold(f64::INFINITY, f64::min);
        let below_ceiling = 1.0 - sample.intervals_of(k).map(|i| i.b).fold(f64::NEG_INFINITY, f64::max);
        let (statistic, end) =
            if above_floor >= below_ceiling { (above_floor, "floor") } else { (below_ceiling, "ceiling") };
        let statistic = statistic.clamp(0.0, 1.0);
        if worst.as_ref().is_none_or(|(margin, _)| *margin < statistic - critical) {
            let result = TestResult {
                name: TestName::Reach,
                statistic,
                critical,
                rejected: statistic > critical,
                tail: Tail::at_most(2.0 * tested.len() as f64 * (1.0 - statistic).powf(n as f64)),
                detail: format!(
                    "none of {n} gaps before retry {} came nearer to the {end} than {:.1} % of the declared range; \
                     above {:.1} % the law is ruled out",
                    k + 1,
                    100.0 * statistic,
                    100.0 * critical
                ),
            };
            worst = Some((statistic - critical, result));
        }
    }
    worst.map(|(_, result)| result).ok_or_else(|| Skipped {
        name: TestName::Reach,
        reason: "every declared delay is one fixed value, which has no floor and ceiling to reach".to_owned(),
    })
}
