//! What money moved: the service's ledger rows and the bank's own journal.

use serde::{Deserialize, Serialize};

use super::ids::TraceContext;
use super::time::At;

/// One reading of the ledger. It is kept even when it found no row, so that "no rows" and "not read" differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LedgerReading {
    /// When it was taken.
    pub at: At,
    /// The scenario step after which it was taken; `final` for the last one.
    pub step: String,
    /// Where it came from, e.g. `sqlite`.
    pub source: String,
    /// The rows.
    pub rows: Vec<LedgerRow>,
}

/// One ledger row, mapped to the contract's columns.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The client's idempotency key, when the contract maps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The row's own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The key that the service uses towards the dependency, when the contract maps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downstream_key: Option<String>,
    /// Amount in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// Status in the service's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Whether the status is one that the contract calls settled (the effect took place).
    pub settled: bool,
}

/// One entry of the mock bank's append-only journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BankEntry {
    /// Position in the journal of its bank, from 0.
    pub seq: u64,
    /// When.
    pub at: At,
    /// What.
    pub kind: BankEntryKind,
    /// Idempotency key of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Amount in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// The charge, for charges and replies that carry one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charge: Option<String>,
    /// Status of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Whether a reply was a stored one.
    #[serde(default)]
    pub replayed: bool,
    /// Trace context of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<TraceContext>,
    /// The link that the bank stands behind; absent in evidence of a rig with one bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// What a bank entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BankEntryKind {
    /// A request arrived.
    Arrival,
    /// Money moved.
    Charge,
    /// A reply was sent.
    Reply,
}
