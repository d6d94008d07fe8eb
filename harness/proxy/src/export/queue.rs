//! Spans between the log and the collector: bounded, and every one that is lost is counted.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;

use crate::sync::{locked, until};

/// Spans that may wait for the collector; later ones are dropped and counted.
pub(super) const QUEUE_SPANS: usize = 8_192;
/// Spans of one request.
pub(super) const BATCH_SPANS: usize = 512;

/// What became of the spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OtlpStats {
    /// Accepted by the collector.
    pub sent: u64,
    /// Refused by the collector, or not delivered after some tries.
    pub failed: u64,
    /// Dropped because too many were waiting.
    pub dropped: u64,
    /// Log records that were never looked at, because the exporter was too slow: it cannot know how many were faults.
    pub unseen: u64,
    /// Waiting now.
    pub waiting: usize,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    spans: VecDeque<String>,
    /// Taken out, and neither sent nor failed yet.
    underway: usize,
    stats: OtlpStats,
    closed: bool,
}

impl Queue {
    pub(super) fn push(&self, span: String) {
        {
            let mut state = locked(&self.state);
            if state.spans.len() >= QUEUE_SPANS {
                state.stats.dropped += 1;
                return;
            }
            state.spans.push_back(span);
        }
        self.changed.notify_waiters();
    }

    pub(super) fn lost(&self, records: u64) {
        locked(&self.state).stats.unseen += records;
    }

    /// Says that nothing more comes.
    pub(super) fn close(&self) {
        locked(&self.state).closed = true;
        self.changed.notify_waiters();
    }

    /// Waits for the next batch: a full one, or what there is after `gather`, or at once when nothing more comes.
    /// `None` when nothing is left.
    pub(super) async fn batch(&self, gather: Duration) -> Option<Vec<String>> {
        let some = || {
            let state = locked(&self.state);
            state.closed || !state.spans.is_empty()
        };
        while !until(&self.changed, Duration::from_secs(3600), some).await {}
        let full = || {
            let state = locked(&self.state);
            state.closed || state.spans.len() >= BATCH_SPANS
        };
        // In time or not: what is there goes.
        let _full = until(&self.changed, gather, full).await;
        let mut state = locked(&self.state);
        let n = state.spans.len().min(BATCH_SPANS);
        state.underway = n;
        (n > 0).then(|| state.spans.drain(..n).collect())
    }

    /// Says what became of the batch.
    pub(super) fn delivered(&self, sent: u64, failed: u64) {
        {
            let mut state = locked(&self.state);
            state.underway = 0;
            state.stats.sent += sent;
            state.stats.failed += failed;
        }
        self.changed.notify_waiters();
    }

    /// Waits until nothing more comes and nothing is left.
    pub(super) async fn emptied(&self, within: Duration) -> bool {
        let empty = || {
            let state = locked(&self.state);
            state.closed && state.spans.is_empty() && state.underway == 0
        };
        until(&self.changed, within, empty).await
    }

    /// Counts what is left as failed.
    pub(super) fn give_up(&self) {
        let mut state = locked(&self.state);
        state.stats.failed += (state.spans.len() + state.underway) as u64;
        state.underway = 0;
        state.spans.clear();
    }

    pub(super) fn stats(&self) -> OtlpStats {
        let state = locked(&self.state);
        OtlpStats { waiting: state.spans.len() + state.underway, ..state.stats }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves the queue's bound and its books: every span that was pushed is waiting, underway, sent, failed or dropped.
    #[tokio::test]
    async fn every_span_is_accounted_for() {
        let queue = Queue::default();
        (0..QUEUE_SPANS + 3).for_each(|n| queue.push(n.to_string()));
        let full = OtlpStats { dropped: 3, waiting: QUEUE_SPANS, ..OtlpStats::default() };
        assert_eq!(queue.stats(), full);
        // A full batch does not wait for its time.
        let batch = queue.batch(Duration::from_secs(3600)).await.expect("a batch");
        assert_eq!((batch.len(), batch[0].as_str(), queue.stats()), (BATCH_SPANS, "0", full));
        queue.delivered(BATCH_SPANS as u64 - 1, 1);
        queue.close();
        assert!(!queue.emptied(Duration::ZERO).await);
        assert_eq!(queue.batch(Duration::from_secs(3600)).await.map(|b| b.len()), Some(BATCH_SPANS));
        queue.give_up();
        let failed = 1 + (QUEUE_SPANS - BATCH_SPANS) as u64;
        let over = OtlpStats { sent: BATCH_SPANS as u64 - 1, failed, dropped: 3, ..OtlpStats::default() };
        assert_eq!(queue.stats(), over);
        assert!(queue.batch(Duration::from_secs(3600)).await.is_none() && queue.emptied(Duration::ZERO).await);
    }
}
