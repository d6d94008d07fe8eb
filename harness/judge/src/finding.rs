//! What a check says: three values, numbers, evidence a person can act on.

use serde::{Deserialize, Serialize};

use crate::evidence::At;
use crate::stats::Tail;

/// The three values of a verdict, best first; the worst of many is their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The promise held, and the evidence was enough to see a breach.
    Pass,
    /// The evidence does not suffice for either; the finding says what to do.
    Inconclusive,
    /// The promise was broken.
    Fail,
}

impl Ruling {
    /// The word of reports: `PASS`, `INCONCLUSIVE`, `FAIL`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Ruling::Pass => "PASS",
            Ruling::Inconclusive => "INCONCLUSIVE",
            Ruling::Fail => "FAIL",
        }
    }
}

/// The outcome of one check over the evidence of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The check's id in the catalogue, e.g. `B4`.
    pub check: String,
    /// The check's name, e.g. `HalfOpenSingleProbe`.
    pub name: String,
    /// The scenario whose evidence was judged.
    pub scenario: String,
    /// Who promised it to whom, e.g. `payments -> bank`.
    pub subject: String,
    /// The ruling.
    pub ruling: Ruling,
    /// One line: what was seen against what was promised.
    pub headline: String,
    /// The declared rule in words.
    pub promise: String,
    /// What was measured, in words.
    pub measured: String,
    /// How likely a correct service would have been failed by chance; absent when nothing was failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Tail>,
    /// Numbers for programs and for people: n, statistic, critical value and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Up to [`MAX_LINES`] lines of evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// A longer exhibit, e.g. a histogram or a state timeline, in lines of text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhibit: Vec<String>,
    /// The known class of bugs that this looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug_class: Option<String>,
    /// What to do, for inconclusive findings and where a failure has a usual cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The command that shows it again; filled in by who ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
}

/// The most evidence lines a finding carries; more are counted in its last line.
pub const MAX_LINES: usize = 10;

/// A named number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Name, e.g. `attempts per payment, max`.
    pub name: String,
    /// Value in its JSON form.
    pub value: serde_json::Value,
    /// Unit, empty for counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
}

/// One line of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// When.
    pub at: At,
    /// The payment's key, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Attempt ordinal, for attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Trace id, for the trace query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// What happened.
    pub text: String,
}

/// Something the contract does not promise, and so nobody checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotPromised {
    /// Ids of the checks it would have brought.
    pub checks: Vec<String>,
    /// What the contract would have to say.
    pub what: String,
}

/// All findings of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// `harness-verdict`.
    pub schema: String,
    /// Version of that schema: 1.
    pub version: u32,
    /// The run.
    pub run: String,
    /// The service under test.
    pub service: String,
    /// The run's seed.
    pub seed: u64,
    /// Placement.
    pub placement: String,
    /// The worst ruling of all findings; [`Ruling::Inconclusive`] when there is none.
    pub ruling: Ruling,
    /// The findings.
    pub findings: Vec<Finding>,
    /// What was not promised.
    pub not_promised: Vec<NotPromised>,
}

impl Verdict {
    /// Name of the schema.
    pub const SCHEMA: &'static str = "harness-verdict";

    /// Puts findings together; the ruling is the worst of them. Nothing judged is no pass.
    #[must_use]
    pub fn of(run: &str, service: &str, seed: u64, placement: &str, findings: Vec<Finding>) -> Self {
        let ruling = findings.iter().map(|f| f.ruling).max().unwrap_or(Ruling::Inconclusive);
        Self {
            schema: Self::SCHEMA.to_owned(),
            version: 1,
            run: run.to_owned(),
            service: service.to_owned(),
            seed,
            placement: placement.to_owned(),
            ruling,
            findings,
            not_promised: Vec::new(),
        }
    }

    /// How many findings have that ruling.
    #[must_use]
    pub fn count(&self, ruling: Ruling) -> usize {
        self.findings.iter().filter(|f| f.ruling == ruling).count()
    }
}
