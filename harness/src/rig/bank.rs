//! The bank's journal as evidence.

use judge::evidence::{BankEntry, BankEntryKind, TimeBase, TraceContext};
use mock_bank::{Capacity, Entry, Kind, Script};

use super::{Rig, RigError};

impl Rig {
    /// Lets the bank do no more than that in a second; calls beyond it queue. What it was scripted to is forgotten.
    ///
    /// # Errors
    /// When the capacity is none.
    pub fn limit_bank(&self, capacity: Capacity) -> Result<(), RigError> {
        Ok(self.bank.script(Script::new().capacity(capacity))?)
    }
}

/// A journal row on the run's axis; lookups move no money and are left out.
pub(super) fn entry(row: &Entry, time: &TimeBase) -> Option<BankEntry> {
    let kind = match row.kind {
        Kind::Arrival => BankEntryKind::Arrival,
        Kind::Charge => BankEntryKind::Charge,
        Kind::Reply => BankEntryKind::Reply,
        Kind::Lookup => return None,
    };
    Some(BankEntry {
        seq: row.seq,
        at: time.from_monotonic(row.monotonic_ns),
        kind,
        key: row.key.clone(),
        amount: row.amount.and_then(|a| i64::try_from(a).ok()),
        charge: row.charge_id.clone(),
        status: row.status,
        replayed: row.replayed,
        context: row.traceparent.as_deref().and_then(TraceContext::from_traceparent),
    })
}
