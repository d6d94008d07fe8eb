//! The seven tests together.
//!
//! Each test has its own level alpha, so a correct client is failed with probability at most 7 alpha: 7e-7 by default. At
//! 100 clients with three retries the battery rejects every wrong policy of [`crate::sim`] but two in 99.9 % of runs and
//! more: a tenth of the fleet without jitter needs 400 clients, and `ms for s` is `immediate` by construction.

use std::time::Duration;

use super::sd_band::{self, Band};
use super::{
    AttemptSummary, BatteryReport, Decision, Fit, GapTable, Histogram, Sample, Settings, Skipped, TestName, TestResult,
    Undecided, WorstGap, gap_scan, interval_dkw, looks_like, phase, power, rank_corr, reach, support,
};
use crate::duration;
use crate::law::Law;

/// How many times eps the widest attempt of a jittered law must span.
const VISIBLE: f64 = 2.5;

/// Gaps that a report shows.
pub const WORST: usize = 10;

/// The tests of a battery without the explanation: enough for counting verdicts over many runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tests {
    /// Tests that were made.
    pub made: Vec<TestResult>,
    /// Tests that do not apply.
    pub skipped: Vec<Skipped>,
}

impl Tests {
    fn run(sample: &Sample<'_>, bands: &[Band]) -> Tests {
        let mut tests = Tests { made: vec![support::test(sample), interval_dkw::test(sample)], skipped: Vec::new() };
        let others = [
            reach::test(sample),
            sd_band::test(sample, bands),
            rank_corr::test(sample),
            gap_scan::test(sample),
            phase::test(sample),
        ];
        for outcome in others {
            match outcome {
                Ok(result) => tests.made.push(result),
                Err(skipped) => tests.skipped.push(skipped),
            }
        }
        tests
    }

    /// The verdict for that many clients.
    fn decide(&self, sample: &Sample<'_>) -> Decision {
        let (clients, floor) = (sample.table.clients(), sample.settings.floor);
        if let Some(test) = self.made.iter().find(|test| !test.is_defined()) {
            Decision::Undecided(Undecided::UndefinedStatistic { test: test.name.to_string() })
        } else if self.made.iter().any(|test| test.rejected) {
            Decision::Rejected
        } else if clients < floor {
            let power = power::describe(sample.law, clients);
            Decision::Undecided(Undecided::TooFewClients { clients, floor, power })
        } else {
            hidden(sample).map_or(Decision::Kept, Decision::Undecided)
        }
    }
}

/// A jittered law is visible when its widest attempt spans 2.5 eps. From section `base` of the simulator: full jitter in
/// three attempts keeps its power at a base of 50 ms and eps = 60 ms (3.3 eps), and of 20 ms and 30 ms (2.7 eps), and has
/// none at 20 ms and 60 ms (1.3 eps).
fn hidden(sample: &Sample<'_>) -> Option<Undecided> {
    let widest = (0..sample.columns.len()).map(|k| sample.law.width(k)).fold(0.0, f64::max);
    let hides = widest > 0.0 && widest < VISIBLE * sample.settings.eps_secs();
    hides.then(|| Undecided::NoiseHidesLaw {
        eps: duration::format(sample.settings.eps),
        widest: duration::format(Duration::from_micros((1e6 * widest) as u64)),
    })
}

/// The tests alone, without verdict and explanation, for counting each one over many runs.
///
/// # Errors
/// Why there is nothing to test: no gaps, or gaps that are not finite.
pub fn tests(table: &GapTable, law: &Law, settings: &Settings) -> Result<Tests, Undecided> {
    let sample = Sample::new(table, law, settings)?;
    Ok(Tests::run(&sample, &sd_band::bands(&sample)))
}

/// The verdict alone, for counting over many runs. Same decision as [`battery`].
#[must_use]
pub fn decide(table: &GapTable, law: &Law, settings: &Settings) -> Decision {
    match Sample::new(table, law, settings) {
        Ok(sample) => Tests::run(&sample, &sd_band::bands(&sample)).decide(&sample),
        Err(reason) => Decision::Undecided(reason),
    }
}

/// Judges gaps by a declared law and explains the verdict.
///
/// ```
/// use std::time::Duration;
/// use judge::law::LawSpec;
/// use judge::stats::{GapTable, Settings, battery};
///
/// // A hundred clients that all wait 200, 400 and 800 ms, and a few milliseconds of noise.
/// let herd = GapTable::new(vec![vec![0.205, 0.405, 0.805]; 100]);
/// let law = LawSpec::full(Duration::from_millis(200)).build()?;
/// let report = battery(&herd, &law, &Settings::default());
/// assert!(report.is_rejected());
/// assert_eq!(report.looks_like.expect("a verdict").name, "fixed exponential");
/// # Ok::<(), judge::law::LawError>(())
/// ```
#[must_use]
pub fn battery(table: &GapTable, law: &Law, settings: &Settings) -> BatteryReport {
    let empty = BatteryReport {
        decision: Decision::Kept,
        declared: law.describe(),
        clients: table.clients(),
        gaps: table.len(),
        alpha: settings.alpha,
        tests: Vec::new(),
        skipped: Vec::new(),
        attempts: Vec::new(),
        worst: Vec::new(),
        looks_like: None,
        hints: Vec::new(),
        histogram: Histogram::default(),
        remark: String::new(),
    };
    let sample = match Sample::new(table, law, settings) {
        Ok(sample) => sample,
        Err(reason) => return BatteryReport { decision: Decision::Undecided(reason), ..empty },
    };
    let bands = sd_band::bands(&sample);
    let tests = Tests::run(&sample, &bands);
    let fit = looks_like::nearest(&sample, &tests.made);
    BatteryReport {
        decision: tests.decide(&sample),
        attempts: attempts(&sample, &bands),
        worst: worst(&sample),
        hints: hints(&sample, &tests.made, &fit),
        looks_like: Some(fit),
        histogram: Histogram::of(&sample),
        remark: remark(&sample),
        tests: tests.made,
        skipped: tests.skipped,
        ..empty
    }
}

fn attempts(sample: &Sample<'_>, bands: &[Band]) -> Vec<AttemptSummary> {
    let columns = sample.columns.iter().enumerate().filter(|(_, gaps)| !gaps.is_empty());
    columns
        .map(|(retry, gaps)| {
            let mut sorted = gaps.clone();
            sorted.sort_by(f64::total_cmp);
            let sd = sd_band::standard_deviation(sorted.iter().copied());
            AttemptSummary {
                retry,
                n: sorted.len(),
                min: quantile(&sorted, 0.0),
                q1: quantile(&sorted, 0.25),
                median: quantile(&sorted, 0.5),
                q3: quantile(&sorted, 0.75),
                max: quantile(&sorted, 1.0),
                sd: if sd.is_nan() { 0.0 } else { sd },
                declared: sample.law.support(retry),
                sd_band: bands.iter().find(|band| band.retry == retry).map(|band| (band.least, band.most)),
            }
        })
        .collect()
}

/// The value below which a share `p` of the sorted values lies, between neighbours in proportion (Hyndman and Fan 7).
/// NaN without values.
pub(super) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p * last as f64;
    let below = sorted[(place as usize).min(last)];
    let above = sorted[(place as usize + 1).min(last)];
    below + (above - below) * place.fract()
}

/// The gaps furthest outside; when none is outside, those at the place where the distributions part most.
fn worst(sample: &Sample<'_>) -> Vec<WorstGap> {
    let (_, at) = interval_dkw::sample_distance(sample);
    let away = |i: &super::Interval| (i.a - at).abs().min((i.b - at).abs());
    let mut order: Vec<&super::Interval> = sample.intervals.iter().collect();
    order.sort_by(|x, y| y.excess().total_cmp(&x.excess()).then(away(x).total_cmp(&away(y))));
    let row = |i: &super::Interval| WorstGap {
        client: i.client,
        retry: i.retry,
        observed: i.gap,
        allowed: i.allowed,
        excess: i.excess(),
    };
    order.into_iter().take(WORST).map(row).collect()
}

fn hints(sample: &Sample<'_>, tests: &[TestResult], fit: &Fit) -> Vec<String> {
    let rejected = |name: TestName| tests.iter().any(|test| test.name == name && test.rejected);
    let noise = sample.settings.eps_secs() / 2.0;
    let jittered: Vec<usize> = (0..sample.columns.len()).filter(|&k| sample.law.width(k) > 4.0 * noise).collect();
    let alike = |k: &usize| sd_band::standard_deviation(sample.columns[*k].iter().copied()) <= noise;
    let all_alike = !jittered.is_empty() && jittered.iter().all(alike);
    let mut hints = Vec::new();
    if all_alike {
        hints.push(
            "all clients wait alike before each retry: there is no jitter, or every client draws from the same seed"
                .to_owned(),
        );
    } else if rejected(TestName::GapScan) {
        hints.push(
            "many clients wait a common time: part of the fleet is un-jittered, or delays are rounded".to_owned(),
        );
    }
    if rejected(TestName::RankCorr) && !all_alike {
        let why =
            if fit.fits { "one random draw is reused for every attempt" } else { "the draws are not independent" };
        hints.push(format!("a client that waits long once waits long again: {why}"));
    }
    if rejected(TestName::Phase) && !all_alike {
        hints.push("gaps keep step with a clock: delays are rounded to whole ticks".to_owned());
    }
    hints
}

/// What the popular check would have said, and why it is not the one that decides.
fn remark(sample: &Sample<'_>) -> String {
    let arrivals: Vec<f64> = sample
        .table
        .rows()
        .iter()
        .flat_map(|row| {
            row.iter().scan(0.0, |at, gap| {
                *at += gap;
                Some(*at)
            })
        })
        .collect();
    let pooled = sd_band::standard_deviation(arrivals.iter().copied());
    if pooled.is_nan() {
        return "a single retry has no standard deviation".to_owned();
    }
    format!(
        "the pooled standard deviation of all retries is {:.0} ms; it does not discriminate, because the spacing between \
         attempts dominates it and a herd without jitter has a large one too. The one within each attempt decides",
        1e3 * pooled
    )
}
