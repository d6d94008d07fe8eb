//! When the spans of a run are complete: a condition, not a sleep.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use judge::evidence::{SpanId, SpanKind, TraceContext, TraceId};
use tokio::time::{Instant, sleep_until};

use super::store::{Inner, Store};

/// What must have arrived before the spans count as complete.
///
/// A trace is complete when it holds one entry span for each expected context, and the parent of every other span. An
/// *entry* is a span whose parent is not reported here: a SERVER or CONSUMER span, one without a parent, one whose
/// parent is flagged remote, or a child of an expected context. Spans are exported when they end, so an entry that is
/// there has ended, and with it the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleRule {
    /// The contexts that the load driver sent, one for each request.
    pub expect: Vec<TraceContext>,
    /// How long no new span may have come for the expected traces.
    pub quiet: Duration,
    /// When to give up.
    pub deadline: Duration,
}

impl SettleRule {
    /// Expects these contexts, a quiet time of 100 ms, and gives up after 10 s.
    #[must_use]
    pub fn new(expect: impl IntoIterator<Item = TraceContext>) -> Self {
        Self {
            expect: expect.into_iter().collect(),
            quiet: Duration::from_millis(100),
            deadline: Duration::from_secs(10),
        }
    }

    /// Sets how long no new span may have come for the expected traces.
    #[must_use]
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.quiet = quiet;
        self
    }

    /// Sets when to give up.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// How the waiting ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Every expected trace is complete and the quiet time has passed.
    pub complete: bool,
    /// How long it took.
    pub waited: Duration,
    /// Traces that are not complete, in order of their ids.
    pub missing: Vec<TraceId>,
}

/// What an incomplete trace lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lack {
    Entries { found: usize, expected: usize },
    Parent { child: String, parent: SpanId },
}

/// How the waiting ended, with the reasons for the note.
pub(super) struct Report {
    pub settled: Settled,
    pub lacks: Vec<(TraceId, Lack)>,
}

pub(super) async fn settle(store: &Store, rule: &SettleRule) -> Report {
    let started = Instant::now();
    let deadline = started + rule.deadline;
    let mut progress = Progress::new(&rule.expect);
    let mut changes = store.subscribe();
    loop {
        changes.mark_unchanged();
        let last_new = progress.look(&store.lock());
        let now = Instant::now();
        let quiet_at = last_new.map_or(started, |last| last + rule.quiet);
        if progress.lacks.is_empty() && quiet_at <= now {
            return progress.report(true, now - started);
        }
        if deadline <= now {
            return progress.report(false, now - started);
        }
        let wake = if progress.lacks.is_empty() { quiet_at.min(deadline) } else { deadline };
        tokio::select! {
            // The sender lives in the store, which outlives this wait: this can only be a change.
            _ = changes.changed() => {}
            () = sleep_until(wake) => {}
        }
    }
}

struct Progress {
    expect: BTreeMap<TraceId, Sent>,
    /// Number of spans with which a trace was last looked at: unchanged traces are not walked again.
    looked_at: HashMap<TraceId, usize>,
    lacks: BTreeMap<TraceId, Lack>,
}

/// What the load driver sent in one trace.
#[derive(Default)]
struct Sent {
    parents: BTreeSet<SpanId>,
    requests: usize,
}

impl Progress {
    fn new(contexts: &[TraceContext]) -> Self {
        let mut expect: BTreeMap<TraceId, Sent> = BTreeMap::new();
        for context in contexts {
            let sent = expect.entry(context.trace).or_default();
            sent.parents.insert(context.parent);
            sent.requests += 1;
        }
        Self { expect, looked_at: HashMap::new(), lacks: BTreeMap::new() }
    }

    /// Brings `lacks` up to date and says when the last new span of an expected trace came.
    fn look(&mut self, store: &Inner) -> Option<Instant> {
        let mut last_new = None;
        for (trace, sent) in &self.expect {
            last_new = last_new.max(store.last_new(*trace));
            let spans = store.trace(*trace).len();
            if self.looked_at.insert(*trace, spans) == Some(spans) {
                continue;
            }
            match lack(store, *trace, sent) {
                Some(lack) => self.lacks.insert(*trace, lack),
                None => self.lacks.remove(trace),
            };
        }
        last_new
    }

    fn report(self, complete: bool, waited: Duration) -> Report {
        let missing = self.lacks.keys().copied().collect();
        Report { settled: Settled { complete, waited, missing }, lacks: self.lacks.into_iter().collect() }
    }
}

fn lack(store: &Inner, trace: TraceId, sent: &Sent) -> Option<Lack> {
    let mut found = 0;
    let mut orphan = None;
    for kept in store.trace(trace) {
        let span = &kept.span;
        match span.parent {
            Some(parent) if sent.parents.contains(&parent) || kept.remote_parent => found += 1,
            None => found += 1,
            Some(_) if matches!(span.kind, SpanKind::Server | SpanKind::Consumer) => found += 1,
            Some(parent) if store.has(trace, parent) => {}
            Some(parent) => orphan = orphan.or_else(|| Some((span.name.clone(), parent))),
        }
    }
    if found < sent.requests {
        return Some(Lack::Entries { found, expected: sent.requests });
    }
    orphan.map(|(child, parent)| Lack::Parent { child, parent })
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Entries { found, expected } => {
                write!(f, "{found} of {expected} entry spans (SERVER, or child of the sent traceparent)")
            }
            Self::Parent { child, parent } => write!(f, "the parent {parent} of `{child}` did not come"),
        }
    }
}
