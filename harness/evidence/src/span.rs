//! Spans as the service under test reported them: claims that corroborate, never acquit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::{SpanId, TraceId};
use super::time::At;

/// One OpenTelemetry span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Trace.
    pub trace: TraceId,
    /// Span.
    pub span: SpanId,
    /// Parent span, absent for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SpanId>,
    /// `service.name` of its resource.
    pub service: String,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: SpanKind,
    /// Start, by the reporter's wall clock.
    pub start: At,
    /// End, by the reporter's wall clock.
    pub end: At,
    /// Whether its status is an error.
    pub error: bool,
    /// Attributes, values in their JSON form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, serde_json::Value>,
    /// Events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<SpanEvent>,
}

impl Span {
    /// An attribute as an unsigned number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = self.attributes.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    }
}

/// OpenTelemetry span kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// Not given.
    Unspecified,
    /// Inside a process.
    Internal,
    /// Handles a request.
    Server,
    /// Makes a request.
    Client,
    /// Sends a message.
    Producer,
    /// Handles a message.
    Consumer,
}

/// A timed event of a span.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpanEvent {
    /// When, by the reporter's wall clock.
    pub at: At,
    /// Name.
    pub name: String,
    /// Attributes, values in their JSON form.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, serde_json::Value>,
}
