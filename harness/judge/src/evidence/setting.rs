//! What the harness did and how well it could see: steps, fault windows, the canary, notes.

use serde::{Deserialize, Serialize};

use super::time::At;

/// A named stretch of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name, unique within the scenario, e.g. `trip/2`.
    pub name: String,
    /// Begin.
    pub from: At,
    /// End.
    pub to: At,
    /// Client requests that were planned in it.
    pub planned: u64,
}

/// A rule that was in force, with both edges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultWindow {
    /// The rule's id.
    pub rule: String,
    /// The link it was applied to.
    pub link: String,
    /// Phase and effect in the rule grammar's words.
    pub what: String,
    /// When the proxy had put it in force.
    pub applied: At,
    /// When the proxy had taken it out of force.
    pub healed: At,
    /// How often it was planned to strike at least; a smaller number spoils the verdict.
    pub planned: u64,
    /// How often it struck.
    pub fired: u64,
}

/// The canary's reading: how much later than due the harness itself was served during a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    /// Echoes that were measured.
    pub samples: u64,
    /// Largest overshoot, nanoseconds.
    pub max_ns: u64,
    /// 99th percentile of the overshoot, nanoseconds.
    pub p99_ns: u64,
    /// When the largest one was due.
    pub worst_at: At,
}

/// Something a reader of the evidence must know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// When.
    pub at: At,
    /// Whether it spoils the verdict.
    pub weight: NoteWeight,
    /// A stable word for programs, e.g. `log-overflow`.
    pub code: String,
    /// For people.
    pub text: String,
}

/// What a note does to the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteWeight {
    /// Nothing.
    Info,
    /// Evidence is missing: what would pass becomes inconclusive.
    Spoils,
}
