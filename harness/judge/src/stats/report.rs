//! What the battery found, with everything a person needs to believe it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Alpha, Histogram, Skipped, Tail, TestResult, Undecided};

/// The three outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Nothing speaks against the declared law, enough clients took part, and noise could not have hidden a wrong one.
    Kept,
    /// At least one test rules the declared law out.
    Rejected,
    /// There is no verdict.
    Undecided(Undecided),
}

/// The gaps before one retry, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// Retry, from 0.
    pub retry: usize,
    /// Number of gaps.
    pub n: usize,
    /// Shortest gap.
    pub min: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Longest gap.
    pub max: f64,
    /// Standard deviation, divisor n - 1; 0 for a single gap.
    pub sd: f64,
    /// Declared shortest and longest delay, without noise.
    pub declared: (f64, f64),
    /// Smallest and largest standard deviation of a correct client, noise included, when the delay is uniform.
    pub sd_band: Option<(f64, f64)>,
}

/// One gap that speaks against the law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorstGap {
    /// Row of the table, from 0.
    pub client: usize,
    /// Retry, from 0.
    pub retry: usize,
    /// The gap, in seconds.
    pub observed: f64,
    /// Shortest and longest gap that law and noise allow, in seconds.
    pub allowed: (f64, f64),
    /// How far outside it is, in seconds; 0 for a gap that is suspect only in company.
    pub excess: f64,
}

/// A known law and its distance to the gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The law in words, for example "fixed exponential".
    pub name: String,
    /// Mean over the attempts of the interval distance D.
    pub distance: f64,
    /// Whether every attempt is within what chance allows: otherwise it is merely the nearest.
    pub fits: bool,
}

/// The result of a battery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatteryReport {
    /// The verdict.
    pub decision: Decision,
    /// The declared law in words.
    pub declared: String,
    /// Clients with at least one gap.
    pub clients: usize,
    /// All gaps.
    pub gaps: usize,
    /// Level of each test.
    pub alpha: Alpha,
    /// The tests that were made.
    pub tests: Vec<TestResult>,
    /// The tests that do not apply.
    pub skipped: Vec<Skipped>,
    /// One line for each retry.
    pub attempts: Vec<AttemptSummary>,
    /// At most ten gaps, worst first.
    pub worst: Vec<WorstGap>,
    /// The nearest known law; none without a verdict.
    pub looks_like: Option<Fit>,
    /// What the tests that fired have in common, in words.
    pub hints: Vec<String>,
    /// Gaps as a share of their declared ceiling.
    pub histogram: Histogram,
    /// Why the popular pooled standard deviation is not the test.
    pub remark: String,
}

impl BatteryReport {
    /// Whether a test ruled the law out.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        self.decision == Decision::Rejected
    }

    /// Whether the law was kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.decision == Decision::Kept
    }

    /// The tests that rejected.
    pub fn rejections(&self) -> impl Iterator<Item = &TestResult> {
        self.tests.iter().filter(|test| test.rejected)
    }

    /// Chance of the verdict on a correct service: the smallest tail, times the number of tests that could have had it.
    /// Undefined when a statistic is, or when there is no test.
    #[must_use]
    pub fn chance(&self) -> Tail {
        let smallest = self.tests.iter().map(|test| test.tail).reduce(Tail::min);
        smallest.map_or(Tail::UNDEFINED, |tail| tail.of_several(self.tests.len()))
    }
}

/// Milliseconds with as many decimals as matter.
fn ms(seconds: f64) -> String {
    if seconds != 0.0 && seconds.abs() < 0.01 {
        format!("{:.1}", 1e3 * seconds)
    } else {
        format!("{:.0}", 1e3 * seconds)
    }
}

impl fmt::Display for AttemptSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "retry {}: n {}, min {}, quartiles {} {} {}, max {}, sd {} ms; declared {} to {} ms",
            self.retry + 1,
            self.n,
            ms(self.min),
            ms(self.q1),
            ms(self.median),
            ms(self.q3),
            ms(self.max),
            ms(self.sd),
            ms(self.declared.0),
            ms(self.declared.1)
        )?;
        self.sd_band.map_or(Ok(()), |(lo, hi)| write!(f, ", sd {} to {} ms", ms(lo), ms(hi)))
    }
}

impl fmt::Display for WorstGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "client {}, retry {}: {} ms, allowed {} to {} ms",
            self.client,
            self.retry + 1,
            ms(self.observed),
            ms(self.allowed.0.max(0.0)),
            ms(self.allowed.1)
        )
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.fits { "looks like" } else { "no known law fits, nearest is" };
        write!(f, "{verb}: {} (D = {:.3})", self.name, self.distance)
    }
}
