//! The requests that are on a link right now.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evidence::At;
use tokio::sync::Notify;

use crate::sync::{locked, until};

/// A request whose head came and whose record is not yet written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveAttempt {
    /// The connection that carries it.
    pub conn: u64,
    /// Its key.
    pub key: Option<String>,
    /// Its ordinal within the key.
    pub ordinal: u32,
    /// Method.
    pub method: String,
    /// Target.
    pub path: String,
    /// First byte.
    pub arrived: At,
    /// The rule that decided over it, whether or not it has struck yet.
    pub rule: Option<String>,
}

/// Live attempts of one link, and how many there have been.
#[derive(Debug, Default)]
pub(crate) struct Live {
    attempts: Mutex<BTreeMap<u64, LiveAttempt>>,
    arrivals: AtomicU64,
    changed: Notify,
}

impl Live {
    /// Counts an arrival; returns its number, from 0.
    pub(crate) fn enter(&self, attempt: LiveAttempt) -> u64 {
        let id = {
            let mut attempts = locked(&self.attempts);
            let id = self.arrivals.fetch_add(1, Ordering::AcqRel);
            attempts.insert(id, attempt);
            id
        };
        self.changed.notify_waiters();
        id
    }

    pub(crate) fn leave(&self, id: u64) {
        locked(&self.attempts).remove(&id);
        self.changed.notify_waiters();
    }

    pub(crate) fn arrivals(&self) -> u64 {
        self.arrivals.load(Ordering::Acquire)
    }

    pub(crate) fn in_flight(&self) -> usize {
        locked(&self.attempts).len()
    }

    pub(crate) fn list(&self) -> Vec<LiveAttempt> {
        locked(&self.attempts).values().cloned().collect()
    }

    pub(crate) async fn until(&self, within: Duration, holds: impl Fn() -> bool) -> bool {
        until(&self.changed, within, holds).await
    }
}
