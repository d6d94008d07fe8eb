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

/// One edge of a fault, written down by the proxy when it happened. A window is what lies between the edges of one rule;
/// a reader of the proxy's log needs no other source to know what was in force when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultEdge {
    /// From when on decisions saw the change.
    pub at: At,
    /// What changed.
    pub change: EdgeChange,
    /// Whether it is a rule over calls or a toxic on bytes.
    pub kind: FaultKind,
    /// The rule's id, or the toxic's name.
    pub rule: String,
    /// The link it is applied to; `*` for all.
    pub link: String,
    /// A rule's phase and effect in the grammar's words; a toxic's direction, type and attributes.
    pub what: String,
    /// Epoch of the fault set that the change made: the proxy's for rules, the link's for toxics.
    pub epoch: u64,
    /// The scope that the rule belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// When it had come into force; on the later edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<At>,
    /// How often a rule had struck when it was disarmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired: Option<u64>,
}

/// What an edge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeChange {
    /// It came into force.
    Armed,
    /// It stays in force with other values.
    Changed,
    /// It went out of force.
    Disarmed,
}

/// What kind of fault an edge belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A rule over requests or connections.
    Rule,
    /// A toxic on the bytes of a link.
    Toxic,
}

/// A canary's reading: how much later than due the harness itself was served during a scenario; or, with a `process`, how long
/// that one waited for a processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Canary {
    /// The service whose waits these are; absent: the harness's own echoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Echoes, or samples, that were measured.
    pub samples: u64,
    /// Largest overshoot, or wait, nanoseconds.
    pub max_ns: u64,
    /// 99th percentile of them, nanoseconds.
    pub p99_ns: u64,
    /// When the largest one was due, or began.
    pub worst_at: At,
}

/// The disk's reading: how long small durable writes took beside the service's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Writes that were measured.
    pub writes: u64,
    /// The longest of them, or the one under way at the end, nanoseconds.
    pub max_ns: u64,
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
