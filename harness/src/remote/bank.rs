//! A mock bank that runs somewhere else: its script and its journal.

use std::net::SocketAddr;

use mock_bank::{Entry, JournalPage, Script};
use serde_json::Value;

use super::RemoteError;
use super::api::Api;

/// A connection to such a bank.
#[derive(Debug)]
pub struct RemoteBank {
    api: Api,
    /// The last row that belongs to somebody else.
    since: u64,
    /// Rows that were already lost then.
    dropped: u64,
}

impl RemoteBank {
    /// Greets the bank at `address` and takes away its script. Its journal counts from now on.
    ///
    /// # Errors
    /// When nobody answers, or somebody else than a mock bank.
    pub async fn connect(address: SocketAddr) -> Result<Self, RemoteError> {
        let api = Api::at(address, "mock bank")?;
        let end = page(&api, u64::MAX).await?;
        let bank = Self { api, since: end.next, dropped: end.dropped };
        bank.script(&Script::new()).await?;
        Ok(bank)
    }

    /// Installs a script in place of the one before.
    ///
    /// # Errors
    /// When the bank refuses it or does not answer.
    pub async fn script(&self, script: &Script) -> Result<(), RemoteError> {
        self.api.put::<Value>("/script", script).await.map(drop)
    }

    /// The rows since the greeting, and how many more were lost because the journal was full.
    ///
    /// # Errors
    /// When the bank does not answer.
    pub async fn journal(&self) -> Result<(Vec<Entry>, u64), RemoteError> {
        let (mut rows, mut since) = (Vec::new(), self.since);
        loop {
            let page = page(&self.api, since).await?;
            since = page.next;
            rows.extend(page.entries);
            if !page.more {
                return Ok((rows, page.dropped.saturating_sub(self.dropped)));
            }
        }
    }
}

async fn page(api: &Api, since: u64) -> Result<JournalPage, RemoteError> {
    api.get(&format!("/journal?since={since}")).await
}
