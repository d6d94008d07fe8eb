//! Trace requests in protobuf.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span, status::StatusCode};
use prost::Message;

use super::raw::{RawEvent, RawId, RawResource, RawSpan};
use super::value::attributes;

/// The service name that the OpenTelemetry SDK specification gives a resource without one.
pub(super) const UNKNOWN_SERVICE: &str = "unknown_service";

pub(super) fn decode(bytes: &[u8]) -> Result<Vec<RawResource>, prost::DecodeError> {
    Ok(ExportTraceServiceRequest::decode(bytes)?.resource_spans.into_iter().map(resource).collect())
}

fn resource(from: ResourceSpans) -> RawResource {
    let named = from.resource.map(|r| r.attributes).unwrap_or_default();
    RawResource {
        service: service_name(named).unwrap_or_else(|| UNKNOWN_SERVICE.to_owned()),
        spans: from.scope_spans.into_iter().flat_map(|s| s.spans).map(span).collect(),
    }
}

fn service_name(attributes: Vec<KeyValue>) -> Option<String> {
    let found = attributes.into_iter().find(|kv| kv.key == "service.name")?;
    match found.value?.value? {
        any_value::Value::StringValue(name) if !name.is_empty() => Some(name),
        _ => None,
    }
}

fn span(from: Span) -> RawSpan {
    RawSpan {
        trace: RawId::Bytes(from.trace_id),
        span: RawId::Bytes(from.span_id),
        parent: RawId::Bytes(from.parent_span_id),
        flags: from.flags,
        name: from.name,
        kind: i64::from(from.kind),
        start: from.start_time_unix_nano,
        end: from.end_time_unix_nano,
        error: from.status.is_some_and(|s| s.code == StatusCode::Error as i32),
        attributes: attributes(from.attributes),
        events: from
            .events
            .into_iter()
            .map(|e| RawEvent { at: e.time_unix_nano, name: e.name, attributes: attributes(e.attributes) })
            .collect(),
    }
}
