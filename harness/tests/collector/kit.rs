//! Requests as exporters build them, and a collector to send them to.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use harness::collector::{Collector, CollectorConfig, CollectorLimits};
use judge::evidence::{TimeBase, TraceContext};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse, trace_service_client::TraceServiceClient,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, span::SpanKind};
use prost::Message;
use tonic::transport::Channel;

/// The run of these tests began at this moment of the wall clock.
pub const ORIGIN: u64 = 1_700_000_000_000_000_000;
pub const TIME: TimeBase = TimeBase { monotonic_ns: 0, wall_ns: ORIGIN };
pub const PROTOBUF: &str = "application/x-protobuf";
pub const JSON: &str = "application/json";

pub async fn start() -> Collector {
    start_with(CollectorLimits::default()).await
}

pub async fn start_with(limits: CollectorLimits) -> Collector {
    Collector::start(CollectorConfig::new(TIME).limits(limits)).await.expect("a port of the system's choice is free")
}

pub fn trace_id(n: u64) -> Vec<u8> {
    [&[0xaa; 8][..], &n.to_be_bytes()].concat()
}

pub fn span_id(n: u64) -> Vec<u8> {
    n.to_be_bytes().to_vec()
}

/// The context that a load driver sends in trace `n`, with span `parent` of its own.
pub fn context(n: u64, parent: u64) -> TraceContext {
    let hex = |bytes: Vec<u8>| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    TraceContext {
        trace: hex(trace_id(n)).parse().expect("not zero"),
        parent: hex(span_id(parent)).parse().expect("not zero"),
    }
}

pub fn span(trace: u64, id: u64, parent: Option<u64>, kind: SpanKind) -> Span {
    Span {
        trace_id: trace_id(trace),
        span_id: span_id(id),
        parent_span_id: parent.map(span_id).unwrap_or_default(),
        name: format!("span {id}"),
        kind: kind as i32,
        start_time_unix_nano: ORIGIN + 1_000,
        end_time_unix_nano: ORIGIN + 2_000,
        ..Span::default()
    }
}

pub fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

pub fn request(spans: Vec<Span>) -> ExportTraceServiceRequest {
    let service = attribute("service.name", Value::StringValue("payments".to_owned()));
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource { attributes: vec![service], ..Resource::default() }),
            scope_spans: vec![ScopeSpans { spans, ..ScopeSpans::default() }],
            ..ResourceSpans::default()
        }],
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("no TLS to set up")
}

/// POSTs `body` to `path` of the collector.
pub async fn post(to: &Collector, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> reqwest::Response {
    let url = format!("{}{path}", to.http_endpoint());
    let request = headers.iter().fold(client().post(url), |r, (name, value)| r.header(*name, *value));
    request.body(body).send().await.expect("the collector answers")
}

/// Exports by HTTP in protobuf and returns the decoded answer.
pub async fn export(to: &Collector, spans: Vec<Span>) -> ExportTraceServiceResponse {
    let response = post(to, "/v1/traces", &[("content-type", PROTOBUF)], request(spans).encode_to_vec()).await;
    assert_eq!(response.status(), 200);
    let body = response.bytes().await.expect("a whole body");
    ExportTraceServiceResponse::decode(body).expect("an OTLP response")
}

pub async fn grpc(to: &Collector) -> TraceServiceClient<Channel> {
    TraceServiceClient::connect(to.grpc_endpoint()).await.expect("the port is open")
}

/// The text of the note with that code.
pub fn note(of: &Collector, code: &str) -> Option<String> {
    of.notes().into_iter().find(|n| n.code == code).map(|n| n.text)
}
