//! Test 7, phase: gaps in step with a clock.
//!
//! For a period T and the attempts whose declared uniform delay is a whole number of periods wide (and at least 16 eps, so
//! that a step could show at all), the phases of m gaps are uniform on the circle, whatever independent noise is added.
//! It rejects when |sum exp(2 pi i gap / T)|^2 / m exceeds 1.05 ln(5 / alpha) for one of the five periods.
//!
//! Source: Rayleigh's test with its exponential tail; the factor 1.05 covers small m (5e-6 observed at a nominal 1e-5).
//! It finds whole-second and timer-tick rounding and names the period. False alarms: at most alpha.

use std::f64::consts::TAU;

use super::{Alpha, Sample, Skipped, Tail, TestName, TestResult};

/// The periods, in seconds.
pub const PERIODS: [f64; 5] = [0.05, 0.1, 0.25, 0.5, 1.0];

/// Covers the distance of the tail from its limit for small m.
const SMALL_SAMPLE: f64 = 1.05;

/// The statistic above which uniform phases are ruled out.
#[must_use]
pub fn critical(alpha: Alpha) -> f64 {
    SMALL_SAMPLE * (PERIODS.len() as f64 / alpha.get()).ln()
}

/// Rayleigh's statistic of `gaps` (seconds) for a period in seconds; NaN when there is no gap.
#[must_use]
pub fn rayleigh(gaps: &[f64], period: f64) -> f64 {
    let (cos, sin) = gaps.iter().fold((0.0, 0.0), |(c, s), gap| {
        let angle = TAU * gap / period;
        (c + angle.cos(), s + angle.sin())
    });
    (cos * cos + sin * sin) / gaps.len() as f64
}

/// Tries each period.
///
/// # Errors
/// [`Skipped`] when no attempt has a declared uniform delay of a whole number of periods that is wide against the noise.
pub fn test(sample: &Sample<'_>) -> Result<TestResult, Skipped> {
    let wide = 16.0 * sample.settings.eps_secs();
    let columns = sample.uniform_columns(1);
    let mut best: Option<(f64, f64, usize)> = None;
    for period in PERIODS {
        let gaps: Vec<f64> = columns
            .iter()
            .filter(|(_, _, (lo, hi))| {
                let turns = (hi - lo) / period;
                hi - lo >= wide && turns > 0.99 && (turns - turns.round()).abs() < 1e-9
            })
            .flat_map(|(_, gaps, _)| gaps.iter().copied())
            .collect();
        let statistic = rayleigh(&gaps, period);
        // The bound needs a handful of phases; with fewer the statistic cannot reach the critical value anyway.
        if gaps.len() >= 5 && best.is_none_or(|(seen, ..)| seen < statistic) {
            best = Some((statistic, period, gaps.len()));
        }
    }
    let Some((statistic, period, m)) = best else {
        return Err(Skipped {
            name: TestName::Phase,
            reason: "no attempt has a declared uniform delay that is a whole number of periods and 16 eps wide"
                .to_owned(),
        });
    };
    let critical = critical(sample.settings.alpha);
    Ok(TestResult {
        name: TestName::Phase,
        statistic,
        critical,
        rejected: statistic > critical,
        tail: Tail::at_most(PERIODS.len() as f64 * (-statistic / SMALL_SAMPLE).exp()),
        detail: format!(
            "{m} gaps keep step with a period of {:.0} ms to {statistic:.1}; above {critical:.1} they follow a clock",
            1e3 * period
        ),
    })
}
