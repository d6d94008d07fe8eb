//! The tests that people use instead, as the reference's tables have them beside the battery. They are here to be counted,
//! not to be used.

use judge::law::Law;
use judge::sim::Observation;
use judge::stats::peak::{max_aligned, max_sliding};
use judge::stats::quantile::binomial_upper;
use judge::stats::{Alpha, GapTable, Sample, sd_band};

/// Critical values of Kolmogorov's distance for 300 values, exact, at 5 % and 1e-7.
pub const KS: [f64; 2] = [0.07783200514647708, 0.16636150984809273];
/// Quantiles of chi-square with nine degrees of freedom, likewise.
pub const CHI2: [f64; 2] = [16.91897760462045, 50.17180040205774];
/// Critical values of Anderson and Darling's statistic for 300 values, likewise; the second from its exponential tail.
pub const AD: [f64; 2] = [2.492, 14.934030160816897];
/// Fullest window of 100 ms that a herd of 100 with full jitter at a base of 1 s may show, aligned and sliding.
pub const OCCUPANCY: [usize; 2] = [41, 45];

/// Gaps as shares of their declared ceiling.
pub fn shares(gaps: &GapTable, law: &Law) -> Vec<f64> {
    let rows = gaps.rows().iter();
    rows.flat_map(|row| row.iter().enumerate().map(|(k, gap)| gap / law.support(k).1)).collect()
}

/// Kolmogorov's distance from the uniform law.
pub fn ks(shares: &[f64]) -> f64 {
    judge::stats::interval_dkw::distance(shares, shares).0
}

/// Anderson and Darling's statistic for the uniform law; shares outside count as its ends.
pub fn ad(shares: &[f64]) -> f64 {
    let mut u: Vec<f64> = shares.iter().map(|u| u.clamp(1e-6, 1.0 - 1e-6)).collect();
    u.sort_by(f64::total_cmp);
    let n = u.len() as f64;
    let terms = u.iter().zip(u.iter().rev()).enumerate();
    -n - terms.map(|(i, (lo, hi))| (2.0 * i as f64 + 1.0) * (lo.ln() + (-hi).ln_1p())).sum::<f64>() / n
}

/// Chi-square over ten bins; what lies above the last bin counts to it.
pub fn chi2(shares: &[f64]) -> f64 {
    let mut counts = [0.0; 10];
    for u in shares {
        counts[((10.0 * u) as usize).min(9)] += 1.0;
    }
    let expected = shares.len() as f64 / 10.0;
    counts.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum()
}

/// What the popular tests say of a herd of 100 by 3, in the order of the page: the pooled standard deviation is at most
/// 800 ms, two arrive in one 100 ms, the fullest 100 ms aligned and sliding, the peak is over eight times the mean.
pub fn popular(observed: &Observation) -> [bool; 5] {
    let arrivals = observed.arrivals.concat();
    let aligned = max_aligned(&arrivals, 0.1).0;
    let span = arrivals.iter().copied().fold(0.1, f64::max);
    [
        sd_band::standard_deviation(arrivals.iter().copied()) <= 0.8,
        aligned >= 2,
        aligned >= OCCUPANCY[0],
        max_sliding(&arrivals, 0.1).0 >= OCCUPANCY[1],
        aligned as f64 / (arrivals.len() as f64 * 0.1 / span) > 8.0,
    ]
}

/// Whether more gaps lie surely in one half of the declared law than chance puts there.
pub fn half_count(sample: &Sample<'_>, alpha: Alpha) -> bool {
    let n = sample.intervals.len();
    let most = binomial_upper(n, 0.5, alpha.split(2));
    let surely_low = sample.intervals.iter().filter(|i| i.b <= 0.5).count();
    let surely_high = sample.intervals.iter().filter(|i| i.a > 0.5).count();
    surely_low > most || surely_high > most
}
