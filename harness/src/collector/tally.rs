//! What the collector counted, and what of it a reader of the evidence must know.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use judge::evidence::{At, Note, NoteWeight, TimeBase};

use crate::clock::Clock;

/// Codes of the notes that a collector makes. None of them spoils a verdict by itself: spans never acquit, and a check
/// that needs them sees which are missing.
pub mod code {
    /// Bytes that are no HTTP, or a body that is no OTLP.
    pub const GARBAGE: &str = "collector-garbage";
    /// Spans without a usable identity.
    pub const MALFORMED: &str = "collector-malformed-spans";
    /// Spans past the store's limits.
    pub const OVERFLOW: &str = "collector-overflow";
    /// A request or connection past the other limits.
    pub const REFUSED: &str = "collector-refused";
    /// An HTTP request to a path, method or media type that is not OTLP's.
    pub const UNKNOWN: &str = "collector-unknown-request";
    /// Two spans with one identity and different content.
    pub const CONFLICT: &str = "collector-conflicting-spans";
    /// Traces that were expected and did not come whole before the deadline.
    pub const MISSING: &str = "spans-missing";
}

/// Most waits that ended at their deadline are remembered one by one; the rest only counted.
const MAX_MISSING_NOTES: usize = 100;

/// What a [`super::Collector`] received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectorStats {
    /// Connections accepted.
    pub connections: u64,
    /// Trace requests that were decoded.
    pub requests: u64,
    /// Spans kept.
    pub spans: u64,
    /// Spans that came again with the same content.
    pub duplicates: u64,
    /// Spans that came again with other content; the first is kept.
    pub conflicts: u64,
    /// Spans rejected because they have no usable identity.
    pub malformed: u64,
    /// Spans rejected because the store was full.
    pub over_limit: u64,
    /// Metrics requests, accepted and discarded.
    pub metrics_discarded: u64,
    /// Logs requests, accepted and discarded.
    pub logs_discarded: u64,
    /// Connections whose bytes were no HTTP.
    pub garbage_connections: u64,
    /// Requests whose body could not be decoded.
    pub garbage_requests: u64,
    /// Requests that were too large, too slow or too many at one time.
    pub refused_requests: u64,
    /// Connections closed because there were too many.
    pub refused_connections: u64,
    /// Requests to a path, method or media type that is not OTLP's.
    pub unknown_requests: u64,
}

/// Counts, and the first example of each thing worth a note.
pub(super) struct Tally {
    time: TimeBase,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    stats: CollectorStats,
    first: BTreeMap<&'static str, (At, String)>,
    missing: Vec<Note>,
}

impl Tally {
    pub(super) fn new(time: TimeBase) -> Self {
        Self { time, inner: Mutex::default() }
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut CollectorStats)) {
        self.with(|inner| change(&mut inner.stats));
    }

    /// Counts something that a reader must know; the first example of each code is kept.
    pub(super) fn flag(&self, code: &'static str, example: &str, change: impl FnOnce(&mut CollectorStats)) {
        let at = Clock::from_base(self.time).now();
        self.with(|inner| {
            change(&mut inner.stats);
            inner.first.entry(code).or_insert_with(|| (at, example.to_owned()));
        });
    }

    pub(super) fn missing(&self, text: String) {
        let note = Note {
            at: Clock::from_base(self.time).now(),
            weight: NoteWeight::Info,
            code: code::MISSING.to_owned(),
            text,
        };
        self.with(|inner| {
            if inner.missing.len() < MAX_MISSING_NOTES {
                inner.missing.push(note);
            }
        });
    }

    pub(super) fn stats(&self) -> CollectorStats {
        self.with(|inner| inner.stats)
    }

    pub(super) fn notes(&self) -> Vec<Note> {
        self.with(|inner| {
            let flagged = inner.first.iter().map(|(code, (at, example))| Note {
                at: *at,
                weight: NoteWeight::Info,
                code: (*code).to_owned(),
                text: format!("{}; the first: {example}", summary(code, &inner.stats)),
            });
            flagged.chain(inner.missing.iter().cloned()).collect()
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        f(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn summary(code: &str, stats: &CollectorStats) -> String {
    match code {
        code::GARBAGE => format!(
            "{} connections and {} requests at the collector were not OTLP",
            stats.garbage_connections, stats.garbage_requests
        ),
        code::MALFORMED => format!("{} spans were rejected for their identities", stats.malformed),
        code::OVERFLOW => format!("{} spans were rejected because the collector's store was full", stats.over_limit),
        code::REFUSED => format!(
            "{} requests and {} connections were past the collector's limits",
            stats.refused_requests, stats.refused_connections
        ),
        code::CONFLICT => format!("{} spans came again with other content", stats.conflicts),
        _ => format!("{} requests to the collector were not to an OTLP path in an OTLP way", stats.unknown_requests),
    }
}
