//! Gaps seen through a declared law: what every test reads.

use super::undecided::Undecided;
use super::{GapTable, Settings};
use crate::law::Law;

/// One gap and the part of the unit interval that surely holds the uniform variable behind it.
///
/// With F the distribution function of the declared delay and a noise in `[0, eps]`, the delay lies in
/// `[gap - eps, gap + early]`, so the uniform variable U = F(delay) lies in `[a, b] = [F(gap - eps), F(gap + early)]`
/// whatever the noise is. At an atom `a` is the left limit of F.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Client, from 0.
    pub client: usize,
    /// Retry, from 0.
    pub retry: usize,
    /// The gap, in seconds.
    pub gap: f64,
    /// Smallest value of U.
    pub a: f64,
    /// Largest value of U.
    pub b: f64,
    /// Shortest and longest gap the law and the noise allow, in seconds.
    pub allowed: (f64, f64),
}

impl Interval {
    /// How far the gap is outside of what is allowed, in seconds; 0 inside.
    #[must_use]
    pub fn excess(&self) -> f64 {
        (self.allowed.0 - self.gap).max(self.gap - self.allowed.1).max(0.0)
    }

    /// Whether no noise the settings allow puts the gap inside the declared support.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        self.excess() > 0.0
    }
}

/// Gaps, law, settings and the intervals that follow from them.
#[derive(Debug, Clone)]
pub struct Sample<'a> {
    /// The gaps.
    pub table: &'a GapTable,
    /// The declared law.
    pub law: &'a Law,
    /// Noise bound and level.
    pub settings: &'a Settings,
    /// Gap `k` of every client that has one.
    pub columns: Vec<Vec<f64>>,
    /// One interval for each gap, client by client.
    pub intervals: Vec<Interval>,
}

impl<'a> Sample<'a> {
    /// Looks at the gaps through the law.
    ///
    /// # Errors
    /// [`Undecided`] when there is no gap, a gap is not a finite number, or the outlier share is no share.
    pub fn new(table: &'a GapTable, law: &'a Law, settings: &'a Settings) -> Result<Sample<'a>, Undecided> {
        if table.is_empty() {
            return Err(Undecided::Empty);
        }
        if let Some((client, retry)) = table.first_undefined() {
            return Err(Undecided::NotFinite { client, retry });
        }
        if !(0.0..0.5).contains(&settings.outlier_share) {
            return Err(Undecided::OutlierShare { share: settings.outlier_share.to_string() });
        }
        let columns = (0..table.retries()).map(|k| table.column(k)).collect();
        Ok(Sample { table, law, settings, columns, intervals: intervals(table, law, settings) })
    }

    /// The intervals before retry `k`.
    pub fn intervals_of(&self, k: usize) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(move |interval| interval.retry == k)
    }

    /// Attempts whose declared delay is plainly uniform, with at least `least` gaps: (retry, gaps, support).
    pub fn uniform_columns(&self, least: usize) -> Vec<(usize, &[f64], (f64, f64))> {
        let columns = self.columns.iter().enumerate();
        columns
            .filter(|(_, gaps)| gaps.len() >= least)
            .filter_map(|(k, gaps)| self.law.uniform(k).map(|support| (k, gaps.as_slice(), support)))
            .collect()
    }
}

fn intervals(table: &GapTable, law: &Law, settings: &Settings) -> Vec<Interval> {
    let (eps, early) = (settings.eps_secs(), settings.early_secs());
    let fixed: Vec<_> = (0..table.retries()).map(|k| law.delay(k, None)).collect();
    let mut out = Vec::with_capacity(table.len());
    for (client, row) in table.rows().iter().enumerate() {
        // Shortest and longest delay that may stand behind the gap before: the law's start value for the first retry.
        let mut previous: Option<(f64, f64)> = None;
        for (retry, &gap) in row.iter().enumerate() {
            let (lo, hi) = ((gap - eps).max(0.0), gap + early);
            // A longer previous delay stretches the support, so it gives the smaller F: the lower end needs the longest.
            let (for_a, for_b) = match previous.filter(|_| law.is_conditional()) {
                Some((shortest, longest)) => (law.delay(retry, Some(longest)), law.delay(retry, Some(shortest))),
                None => (fixed[retry], fixed[retry]),
            };
            let (floor, ceiling) = for_a.support();
            let allowed = (floor - early, ceiling + eps);
            out.push(Interval { client, retry, gap, a: for_a.cdf_before(lo), b: for_b.cdf(hi), allowed });
            previous = Some((lo, hi));
        }
    }
    out
}
