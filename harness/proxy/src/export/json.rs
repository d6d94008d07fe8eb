//! OTLP's JSON encoding: the proto3 mapping, with identities in hexadecimal, enumerations as numbers, and 64-bit integers
//! as text.

use evidence::{SpanId, TraceId};
use serde_json::{Value, json};

/// One span on its way.
#[derive(Debug)]
pub(super) struct Span {
    pub(super) ids: (TraceId, SpanId),
    pub(super) parent: Option<SpanId>,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Wall clock, nanoseconds since the Unix epoch.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) failed: bool,
    pub(super) attributes: Attributes,
    /// The window of the rule that struck.
    pub(super) link: Option<(TraceId, SpanId)>,
}

/// Kinds of spans, by OTLP's numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Internal = 1,
    Server = 2,
}

/// Attributes in the order they were added; absent ones are left out.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    pub(super) fn text(&mut self, key: &str, value: Option<&str>) {
        self.add(key, value.map(|value| json!({ "stringValue": value })));
    }

    pub(super) fn number(&mut self, key: &str, value: Option<u64>) {
        self.add(key, value.map(|value| json!({ "intValue": value.to_string() })));
    }

    fn add(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.push(json!({ "key": key, "value": value }));
        }
    }
}

impl Span {
    pub(super) fn into_json(self) -> String {
        let id = |(trace, span): (TraceId, SpanId)| json!({ "traceId": trace.to_string(), "spanId": span.to_string() });
        let mut span = id(self.ids);
        if let Some(parent) = self.parent {
            span["parentSpanId"] = parent.to_string().into();
        }
        span["name"] = self.name.into();
        span["kind"] = (self.kind as u8).into();
        span["startTimeUnixNano"] = self.start.to_string().into();
        span["endTimeUnixNano"] = self.end.to_string().into();
        span["attributes"] = self.attributes.0.into();
        if let Some(link) = self.link {
            span["links"] = json!([id(link)]);
        }
        if self.failed {
            span["status"] = json!({ "code": 2 });
        }
        span.to_string()
    }
}

/// Who sends the spans.
pub(super) fn resource(service: &str) -> String {
    let mut attributes = Attributes::default();
    attributes.text("service.name", Some(service));
    attributes.text("service.version", Some(env!("CARGO_PKG_VERSION")));
    attributes.number("process.pid", Some(u64::from(std::process::id())));
    json!({ "attributes": attributes.0 }).to_string()
}

/// A whole request.
pub(super) fn request(resource: &str, spans: &[String]) -> String {
    let scope = json!({ "name": "chaos-proxy", "version": env!("CARGO_PKG_VERSION") });
    let spans = spans.join(",");
    format!(r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":[{spans}]}}]}}]}}"#)
}
