//! Test 1, support: gaps that no noise can put inside the declared interval.
//!
//! A gap is out when it is shorter than the floor minus `early` or longer than the ceiling plus `eps`. The test rejects
//! when more gaps are out than the declared share of outliers explains: more than the upper alpha quantile of
//! Bin(N, share). For un-jittered laws this is the main test.
//!
//! False alarms: at most alpha when each gap is an outlier (a stall, a lost packet) independently with at most the
//! declared share. Without outliers: none at all.

use super::quantile::{binomial_at_least, binomial_upper};
use super::{Alpha, Sample, Tail, TestName, TestResult};

/// Most gaps out of `gaps` that may be outside at level `alpha` when a share `share` may be outliers.
#[must_use]
pub fn allowed_outliers(gaps: usize, share: f64, alpha: Alpha) -> usize {
    binomial_upper(gaps, share, alpha.get())
}

/// Counts the gaps outside.
#[must_use]
pub fn test(sample: &Sample<'_>) -> TestResult {
    let (gaps, share) = (sample.intervals.len(), sample.settings.outlier_share);
    let outside = sample.intervals.iter().filter(|i| i.is_outside()).count();
    let allowed = allowed_outliers(gaps, share, sample.settings.alpha);
    TestResult {
        name: TestName::Support,
        statistic: outside as f64,
        critical: allowed as f64,
        rejected: outside > allowed,
        tail: Tail::at_most(binomial_at_least(gaps, share, outside)),
        detail: format!(
            "{outside} of {gaps} gaps lie outside the declared interval, more than {allowed} rule the law out \
             (up to {:.1} % outliers are granted)",
            100.0 * share
        ),
    }
}
