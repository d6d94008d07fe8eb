//! The bounded store: every span once, in the order of arrival, found again by its trace.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use judge::evidence::{Span, SpanId, TraceId};
use tokio::sync::watch;
use tokio::time::Instant;

use super::limits::CollectorLimits;
use super::raw::Kept;

/// What became of the spans of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Added {
    pub kept: u64,
    /// Seen before with the same content: an exporter sent its batch again.
    pub duplicates: u64,
    /// Seen before with other content; the first one is kept.
    pub conflicts: u64,
    pub over_limit: u64,
}

pub(super) struct Store {
    inner: Mutex<Inner>,
    limits: CollectorLimits,
    changed: watch::Sender<()>,
}

#[derive(Default)]
pub(super) struct Inner {
    spans: Vec<Kept>,
    known: HashMap<(TraceId, SpanId), usize>,
    traces: HashMap<TraceId, Trace>,
    bytes: usize,
}

struct Trace {
    members: Vec<usize>,
    last_new: Instant,
}

impl Store {
    pub(super) fn new(limits: CollectorLimits) -> Self {
        Self { inner: Mutex::default(), limits, changed: watch::Sender::new(()) }
    }

    pub(super) fn add(&self, spans: Vec<Kept>) -> Added {
        let mut added = Added::default();
        let mut inner = self.lock();
        let now = Instant::now();
        for kept in spans {
            if let Some(known) = inner.known(&kept.span) {
                let count = if *known == kept.span { &mut added.duplicates } else { &mut added.conflicts };
                *count += 1;
            } else if inner.spans.len() >= self.limits.spans
                || inner.bytes.saturating_add(kept.weight) > self.limits.store_bytes
            {
                added.over_limit += 1;
            } else {
                added.kept += 1;
                inner.push(kept, now);
            }
        }
        drop(inner);
        if added.kept > 0 {
            self.changed.send_replace(());
        }
        added
    }

    pub(super) fn spans(&self) -> Vec<Span> {
        self.lock().spans.iter().map(|k| k.span.clone()).collect()
    }

    /// Told after each request that brought new spans.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    // A panic while the lock was held leaves at worst one span unindexed; the evidence before it is still good.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn known(&self, span: &Span) -> Option<&Span> {
        let at = self.known.get(&(span.trace, span.span))?;
        self.spans.get(*at).map(|k| &k.span)
    }

    fn push(&mut self, kept: Kept, now: Instant) {
        let at = self.spans.len();
        let trace = kept.span.trace;
        self.bytes += kept.weight;
        self.known.insert((trace, kept.span.span), at);
        let members = self.traces.entry(trace).or_insert_with(|| Trace { members: Vec::new(), last_new: now });
        members.members.push(at);
        members.last_new = now;
        self.spans.push(kept);
    }

    /// The spans of a trace so far.
    pub(super) fn trace(&self, trace: TraceId) -> impl ExactSizeIterator<Item = &Kept> {
        let members = self.traces.get(&trace).map_or(&[][..], |t| &t.members);
        members.iter().map(|at| &self.spans[*at])
    }

    /// Whether that span has arrived.
    pub(super) fn has(&self, trace: TraceId, span: SpanId) -> bool {
        self.known.contains_key(&(trace, span))
    }

    /// When the trace last got a new span.
    pub(super) fn last_new(&self, trace: TraceId) -> Option<Instant> {
        self.traces.get(&trace).map(|t| t.last_new)
    }
}
