//! "Looks like: fixed exponential": the known law that is nearest to the gaps.
//!
//! Each candidate takes base, cap and factor from the declared law, so that a finding names the defect and not a fit.
//! Nearest is the smallest interval distance D, averaged over the attempts: pooling all attempts first would let errors of
//! opposite sign cancel. When no test of the distribution speaks against the declared law, it is the answer, whatever else
//! is near: what is wrong then is not the law of single gaps. Only when no candidate fits are parameters taken from the gaps.

use std::time::Duration;

use super::{Fit, Sample, TestName, TestResult, battery, interval_dkw};
use crate::law::{Law, LawName, LawSpec};

/// A law to compare with.
enum Candidate {
    /// A declared law.
    Law(Law),
    /// Full jitter cut to whole seconds.
    WholeSeconds(Law),
}

impl Candidate {
    /// The share of the unit interval that holds U when the delay before retry `k` is in `[lo, hi]`.
    fn ends(&self, k: usize, lo: f64, hi: f64, previous: Option<(f64, f64)>) -> (f64, f64) {
        match self {
            Candidate::Law(law) => {
                let (long, short) = (previous.map(|p| p.1), previous.map(|p| p.0));
                (law.delay(k, long).cdf_before(lo), law.delay(k, short).cdf(hi))
            }
            Candidate::WholeSeconds(law) => {
                let ceiling = law.nominal(k);
                let b = if hi < 0.0 { 0.0 } else { (hi.floor() + 1.0) / ceiling };
                ((lo.ceil() / ceiling).min(1.0), b.min(1.0))
            }
        }
    }

    /// Mean distance over the attempts, and whether each is within chance.
    fn compare(&self, sample: &Sample<'_>) -> (f64, bool) {
        let (eps, early) = (sample.settings.eps_secs(), sample.settings.early_secs());
        let retries = sample.columns.len();
        let mut ends: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); retries];
        for row in sample.table.rows() {
            let mut previous = None;
            for (k, gap) in row.iter().enumerate() {
                let (lo, hi) = ((gap - eps).max(0.0), gap + early);
                let (a, b) = self.ends(k, lo, hi, previous);
                ends[k].0.push(a);
                ends[k].1.push(b);
                previous = Some((lo, hi));
            }
        }
        let mut sum = 0.0;
        let mut fits = true;
        for (lower, upper) in &ends {
            let (d, _) = interval_dkw::distance(lower, upper);
            sum += d;
            fits &= d <= interval_dkw::critical(lower.len(), sample.settings.alpha);
        }
        (sum / retries as f64, fits)
    }
}

/// The tests that look at the distribution of single gaps.
const OF_THE_DISTRIBUTION: [TestName; 4] =
    [TestName::Support, TestName::IntervalDkw, TestName::Reach, TestName::SdBand];

/// The nearest known law, given what the tests said.
#[must_use]
pub fn nearest(sample: &Sample<'_>, tests: &[TestResult]) -> Fit {
    if !tests.iter().any(|test| test.rejected && OF_THE_DISTRIBUTION.contains(&test.name)) {
        let (distance, fits) = Candidate::Law(sample.law.clone()).compare(sample);
        return Fit { name: as_declared(sample.law), distance, fits };
    }
    let best = |candidates: Vec<(String, Candidate)>| {
        let compared = candidates.into_iter().map(|(name, candidate)| {
            let (distance, fits) = candidate.compare(sample);
            Fit { name, distance, fits }
        });
        // The first of equals wins: the declared law, then the simpler one.
        compared.reduce(|a, b| if b.distance < a.distance - 1e-9 { b } else { a })
    };
    let declared =
        Fit { name: as_declared(sample.law), distance: interval_dkw::sample_distance(sample).0, fits: false };
    let known = best(known(sample)).unwrap_or(declared);
    if known.fits {
        return known;
    }
    match best(fitted(sample)) {
        Some(fitted) if fitted.fits || fitted.distance < known.distance / 2.0 => fitted,
        _ => known,
    }
}

/// The base the candidates share: the declared one, else the longest first delay, else what the gaps show.
fn base(sample: &Sample<'_>) -> Duration {
    let law = sample.law;
    let seconds = match law.name() {
        LawName::Immediate => smallest(&sample.columns[0]),
        LawName::Table => law.support(0).1,
        _ => law.base().as_secs_f64(),
    };
    Duration::from_secs_f64(seconds.clamp(1e-3, 1e6))
}

fn smallest(gaps: &[f64]) -> f64 {
    gaps.iter().copied().fold(f64::INFINITY, f64::min)
}

fn known(sample: &Sample<'_>) -> Vec<(String, Candidate)> {
    let (declared, base) = (sample.law, base(sample));
    let growing = |spec: LawSpec| LawSpec {
        cap: declared.cap(),
        factor: declared.spec().factor.filter(|_| !declared.is_conditional()),
        first_exponent: declared.spec().first_exponent,
        ..spec
    };
    let shifted =
        |by: i32| LawSpec { first_exponent: Some(declared.first_exponent() + by), ..growing(LawSpec::full(base)) };
    let linear = (0..sample.columns.len() as u32).map(|k| (Duration::ZERO, base * (k + 1)));
    let specs = [
        ("immediate", LawSpec::immediate()),
        ("fixed", LawSpec::fixed(base)),
        ("fixed exponential", growing(LawSpec::exponential(base))),
        ("full jitter", growing(LawSpec::full(base))),
        ("equal jitter", growing(LawSpec::equal(base))),
        ("decorrelated jitter", LawSpec { cap: declared.cap(), ..LawSpec::decorrelated(base) }),
        ("exponential +-10 %", growing(LawSpec::plus_minus(base, 0.1))),
        ("exponential +-25 %", growing(LawSpec::plus_minus(base, 0.25))),
        ("exponential +-50 %", growing(LawSpec::plus_minus(base, 0.5))),
        ("exponential + 0..10 %", growing(LawSpec::additive_ratio(base, 0.1))),
        ("exponential + 0..10 % of the base", growing(LawSpec::additive_fixed(base, base / 10))),
        ("full jitter without growth", LawSpec::full(base).factor(1.0)),
        ("full jitter with linear growth", LawSpec::table(linear)),
        ("full jitter, ceiling x2", shifted(1)),
        ("full jitter, ceiling /2", shifted(-1)),
        ("full jitter, milliseconds taken for seconds", growing(LawSpec::full(base / 1000))),
        (
            "linear growth without jitter",
            LawSpec::table((1..=sample.columns.len() as u32).map(|k| (base * k, base * k))),
        ),
    ];
    let mut out = vec![(as_declared(declared), Candidate::Law(declared.clone()))];
    // A candidate that does not build (a cap below a derived base, say) is no candidate.
    out.extend(specs.into_iter().filter_map(|(name, spec)| {
        let law = spec.build().ok().filter(|law| law != declared)?;
        Some((name.to_owned(), Candidate::Law(law)))
    }));
    if let Ok(full) = growing(LawSpec::full(base)).build()
        && base >= Duration::from_millis(500)
    {
        out.push(("full jitter cut to whole seconds".to_owned(), Candidate::WholeSeconds(full)));
    }
    out
}

/// The name of the declared law without its parameters.
fn as_declared(law: &Law) -> String {
    format!("{} (as declared)", law.describe().split(':').next().unwrap_or_default())
}

/// Candidates with parameters from the gaps.
fn fitted(sample: &Sample<'_>) -> Vec<(String, Candidate)> {
    // Noise only adds: the shortest gap of an attempt is the best guess at a delay that all clients share.
    let shared: Vec<f64> = sample.columns.iter().map(|gaps| smallest(gaps).clamp(0.0, 1e6)).collect();
    let mut first = sample.columns[0].clone();
    first.sort_by(f64::total_cmp);
    // The upper quartile is 3/4 of a full ceiling, and unlike the maximum it shrugs off stalls.
    let ceiling = Duration::from_secs_f64((battery::quantile(&first, 0.75) / 0.75).clamp(1e-3, 1e6));
    let ms = |d: &f64| format!("{:.0}", 1e3 * d);
    let list = shared.iter().map(ms).collect::<Vec<_>>().join(", ");
    let rows = shared.iter().map(|&d| (Duration::from_secs_f64(d), Duration::from_secs_f64(d)));
    let full = LawSpec { cap: sample.law.cap().filter(|&cap| cap >= ceiling), ..LawSpec::full(ceiling) };
    [
        (format!("no jitter: every client waits {list} ms"), LawSpec::table(rows)),
        (format!("full jitter with a base of about {:.0} ms", 1e3 * ceiling.as_secs_f64()), full),
    ]
    .into_iter()
    .filter_map(|(name, spec)| spec.build().ok().map(|law| (name, Candidate::Law(law))))
    .collect()
}
