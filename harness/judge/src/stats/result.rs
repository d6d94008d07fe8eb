//! What one test says.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Tail;

/// The tests, by the names of `checks.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestName {
    /// Gaps outside the declared interval.
    Support,
    /// The distribution of all gaps.
    IntervalDkw,
    /// Gaps near the floor and near the ceiling.
    Reach,
    /// The standard deviation within each attempt.
    SdBand,
    /// Successive gaps of a client.
    RankCorr,
    /// Gaps crowded into a short window.
    GapScan,
    /// Gaps in step with a period.
    Phase,
    /// Most arrivals in one window.
    PeakWindow,
    /// Gaps of two runs that are too alike.
    Restart,
    /// Clients whose gaps all return in another run.
    Partners,
}

impl TestName {
    /// The name in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TestName::Support => "support",
            TestName::IntervalDkw => "interval-DKW",
            TestName::Reach => "reach",
            TestName::SdBand => "standard deviation within attempt",
            TestName::RankCorr => "rank correlation",
            TestName::GapScan => "gap scan",
            TestName::Phase => "phase",
            TestName::PeakWindow => "peak window",
            TestName::Restart => "restart independence",
            TestName::Partners => "partners",
        }
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One test with its numbers. Statistic and critical value are those of the attempt that is furthest out, when the test
/// looks at each attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Which test.
    pub name: TestName,
    /// What was measured.
    pub statistic: f64,
    /// Where rejection begins; the sentence in `detail` says on which side.
    pub critical: f64,
    /// Whether a correct service is ruled out at the level of the test.
    pub rejected: bool,
    /// Chance of a statistic this far out on a correct service.
    pub tail: Tail,
    /// One sentence with the numbers and their units.
    pub detail: String,
}

impl TestResult {
    /// Whether every number is one: a test with a NaN decides nothing.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        self.statistic.is_finite() && self.critical.is_finite() && self.tail.probability().is_some()
    }
}

impl fmt::Display for TestResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.rejected { "rejects" } else { "keeps" };
        write!(f, "{} {verdict}: {} (chance on a correct service: {})", self.name, self.detail, self.tail)
    }
}

/// A test that has nothing to say about this law or this many clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Which test.
    pub name: TestName,
    /// Why it does not apply.
    pub reason: String,
}
