//! Bytes that went over sockets, counted while they go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of one socket, and of the side of a link that it belongs to.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
    /// Counts what all sockets of one side of a link count.
    total: Option<Arc<Traffic>>,
}

/// What both sides of a link have counted since it was added.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    pub(crate) client: Arc<Traffic>,
    pub(crate) upstream: Arc<Traffic>,
}

impl Traffic {
    /// Counters of one socket, whose bytes also count in `total`.
    pub(crate) fn within(total: &Arc<Traffic>) -> Arc<Self> {
        Arc::new(Self { total: Some(Arc::clone(total)), ..Self::default() })
    }

    /// Counts bytes that came.
    pub(crate) fn came(&self, n: u64) {
        self.received.fetch_add(n, Ordering::Relaxed);
        if let Some(total) = &self.total {
            total.came(n);
        }
    }

    /// Counts bytes that were handed to the kernel.
    pub(crate) fn went(&self, n: u64) {
        self.sent.fetch_add(n, Ordering::Relaxed);
        if let Some(total) = &self.total {
            total.went(n);
        }
    }

    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}
