//! A span as it came over the wire, and what makes it one that can be kept.

use std::collections::BTreeMap;

use judge::evidence::{Span, SpanEvent, SpanId, SpanKind, TimeBase, TraceId};
use serde_json::Value;

/// The bits of a span's flags that say whether its parent's place is known, and that it is another process.
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;
/// Cost of a span, event or attribute beyond its text: allocations and index entries, roughly.
const SPAN_OVERHEAD: usize = 320;
const ITEM_OVERHEAD: usize = 96;

/// An identity as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RawId {
    /// Bytes, of any number.
    Bytes(Vec<u8>),
    /// Text that is not hexadecimal.
    Text(String),
}

/// A span before its identities were looked at. Both encodings decode to it.
#[derive(Debug)]
pub(super) struct RawSpan {
    pub trace: RawId,
    pub span: RawId,
    pub parent: RawId,
    pub flags: u32,
    pub name: String,
    pub kind: i64,
    pub start: u64,
    pub end: u64,
    pub error: bool,
    pub attributes: BTreeMap<String, Value>,
    pub events: Vec<RawEvent>,
}

/// An event before its time was placed on the run's axis.
#[derive(Debug, Default)]
pub(super) struct RawEvent {
    pub at: u64,
    pub name: String,
    pub attributes: BTreeMap<String, Value>,
}

/// The spans of one resource.
#[derive(Debug)]
pub(super) struct RawResource {
    pub service: String,
    pub spans: Vec<RawSpan>,
}

/// A span that can be kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub span: Span,
    /// Its parent is said to live in another process, so it will not be reported here.
    pub remote_parent: bool,
    /// Approximate memory, bytes.
    pub weight: usize,
}

/// Why a span cannot be kept: nothing could be joined to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("a trace id must be 16 bytes and not all zero, got {0}")]
    Trace(String),
    #[error("a span id must be 8 bytes and not all zero, got {0}")]
    Span(String),
    #[error("a parent span id must be empty or 8 bytes, got {0}")]
    Parent(String),
}

impl RawSpan {
    pub(super) fn keep(self, service: &str, time: &TimeBase) -> Result<Kept, Malformed> {
        let trace = id(&self.trace).map(TraceId).ok_or_else(|| Malformed::Trace(shape(&self.trace)))?;
        let span = id(&self.span).map(SpanId).ok_or_else(|| Malformed::Span(shape(&self.span)))?;
        // Some exporters write a root's parent as zeros instead of leaving it out.
        let absent = matches!(&self.parent, RawId::Bytes(b) if b.is_empty() || *b == [0; 8]);
        let parent = if absent {
            None
        } else {
            Some(id(&self.parent).map(SpanId).ok_or_else(|| Malformed::Parent(shape(&self.parent)))?)
        };
        let events: Vec<_> = self
            .events
            .into_iter()
            .map(|e| SpanEvent { at: time.from_wall(e.at), name: e.name, attributes: e.attributes })
            .collect();
        let span = Span {
            trace,
            span,
            parent,
            service: service.to_owned(),
            name: self.name,
            kind: kind(self.kind),
            start: time.from_wall(self.start),
            end: time.from_wall(self.end),
            error: self.error,
            attributes: self.attributes,
            events,
        };
        let remote_parent = self.flags & HAS_IS_REMOTE != 0 && self.flags & IS_REMOTE != 0;
        Ok(Kept { weight: weight(&span), span, remote_parent })
    }
}

fn id<const N: usize>(raw: &RawId) -> Option<[u8; N]> {
    let RawId::Bytes(bytes) = raw else { return None };
    <[u8; N]>::try_from(bytes.as_slice()).ok().filter(|id| id.iter().any(|b| *b != 0))
}

fn shape(raw: &RawId) -> String {
    match raw {
        RawId::Text(text) => format!("`{}`, which is not hexadecimal", text.chars().take(40).collect::<String>()),
        RawId::Bytes(bytes) if bytes.is_empty() => "none".to_owned(),
        RawId::Bytes(bytes) if bytes.iter().all(|b| *b == 0) => format!("{} zero bytes", bytes.len()),
        RawId::Bytes(bytes) => format!("{} bytes", bytes.len()),
    }
}

fn kind(number: i64) -> SpanKind {
    match number {
        1 => SpanKind::Internal,
        2 => SpanKind::Server,
        3 => SpanKind::Client,
        4 => SpanKind::Producer,
        5 => SpanKind::Consumer,
        _ => SpanKind::Unspecified,
    }
}

fn weight(span: &Span) -> usize {
    let events = span.events.iter().map(|e| ITEM_OVERHEAD + e.name.len() + attributes_weight(&e.attributes));
    SPAN_OVERHEAD + span.service.len() + span.name.len() + attributes_weight(&span.attributes) + events.sum::<usize>()
}

fn attributes_weight(attributes: &BTreeMap<String, Value>) -> usize {
    attributes.iter().map(|(name, value)| ITEM_OVERHEAD + name.len() + value_weight(value)).sum()
}

fn value_weight(value: &Value) -> usize {
    match value {
        Value::String(s) => s.len(),
        Value::Array(list) => list.iter().map(|v| ITEM_OVERHEAD + value_weight(v)).sum(),
        Value::Object(map) => map.iter().map(|(k, v)| ITEM_OVERHEAD + k.len() + value_weight(v)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
