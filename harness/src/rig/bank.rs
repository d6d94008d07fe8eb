//! The bank's journal as evidence.

use judge::evidence::{BankEntry, BankEntryKind, TimeBase, TraceContext};
use mock_bank::{Bank, Capacity, Entry, Kind, Script};

use super::{Rig, RigError};
use crate::remote::RemoteBank;

impl Rig {
    /// Lets the bank behind the main link do no more than that in a second; calls beyond it queue. What it was scripted to
    /// is forgotten. Where a further service stands behind the main link, it is every bank.
    ///
    /// # Errors
    /// When the capacity is none.
    pub async fn limit_bank(&self, capacity: Capacity) -> Result<(), RigError> {
        self.script_bank(&Script::new().capacity(capacity)).await
    }

    /// Installs a script on the bank behind the main link, or on every bank where a further service stands there.
    pub(super) async fn script_bank(&self, script: &Script) -> Result<(), RigError> {
        let main = self.banks.get(self.link());
        for bank in main.map_or_else(|| self.banks.values().collect(), |bank| vec![bank]) {
            bank.script(script).await?;
        }
        Ok(())
    }
}

/// A mock bank as the rig sees it.
#[derive(Debug)]
pub(super) enum Till {
    /// A task of this process.
    Here(Bank),
    /// Another process.
    There(RemoteBank),
}

impl Till {
    async fn script(&self, script: &Script) -> Result<(), RigError> {
        match self {
            Self::Here(bank) => Ok(bank.script(script.clone())?),
            Self::There(bank) => Ok(bank.script(script).await?),
        }
    }

    /// Its journal, and how many rows that lost; it is ended where it is ours, and left without a script where not.
    pub(super) async fn close(self) -> Result<(Vec<Entry>, u64), RigError> {
        match self {
            Self::Here(bank) => {
                let journal = bank.shutdown().await;
                Ok((journal.entries, journal.dropped))
            }
            Self::There(bank) => {
                bank.script(&Script::new()).await?;
                Ok(bank.journal().await?)
            }
        }
    }
}

/// A journal row of the bank behind `link` on the run's axis; lookups and rates move no money and are left out.
pub(super) fn entry(row: &Entry, time: &TimeBase, link: Option<&str>) -> Option<BankEntry> {
    let kind = match row.kind {
        Kind::Arrival => BankEntryKind::Arrival,
        Kind::Charge => BankEntryKind::Charge,
        Kind::Reply => BankEntryKind::Reply,
        Kind::Lookup | Kind::Rate => return None,
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
        link: link.map(str::to_owned),
    })
}
