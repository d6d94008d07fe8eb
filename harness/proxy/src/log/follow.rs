//! Subscriptions: every record as it is written, for readers that keep up.

use std::sync::Arc;

use evidence::Record;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Records that a subscription may lag behind before it loses some.
pub const SUBSCRIPTION_LIMIT: usize = 16_384;

/// One record on its way to the subscribers.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where it is in the log; `None` when the log had no room for it.
    pub(crate) cursor: Option<u64>,
    pub(crate) record: Arc<Record>,
}

/// One thing that a subscription receives.
#[derive(Debug, Clone)]
pub enum Event {
    /// A record.
    Record(Arc<Record>),
    /// The subscriber was too slow: this many records were lost to it. They are still in the log.
    Lagged(u64),
}

/// Receives records as they are written.
#[derive(Debug)]
pub struct Subscription {
    live: Receiver<Entry>,
}

impl Subscription {
    pub(super) fn new(live: Receiver<Entry>) -> Self {
        Self { live }
    }

    /// The next record; `None` when the proxy is gone and everything was received.
    pub async fn recv(&mut self) -> Option<Event> {
        match self.next().await {
            Ok(entry) => Some(Event::Record(entry.record)),
            Err(RecvError::Lagged(n)) => Some(Event::Lagged(n)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next record if one is waiting.
    #[must_use]
    pub fn try_recv(&mut self) -> Option<Event> {
        match self.live.try_recv() {
            Ok(entry) => Some(Event::Record(entry.record)),
            Err(TryRecvError::Lagged(n)) => Some(Event::Lagged(n)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// Like [`Subscription::next`], if something is waiting. That the log was closed is for `next` to say.
    pub(crate) fn next_now(&mut self) -> Option<Result<Entry, RecvError>> {
        match self.live.try_recv() {
            Ok(entry) => Some(Ok(entry)),
            Err(TryRecvError::Lagged(n)) => Some(Err(RecvError::Lagged(n))),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// The next record and where it is.
    pub(crate) async fn next(&mut self) -> Result<Entry, RecvError> {
        self.live.recv().await
    }
}
