//! OTLP/gRPC, with the client that OTLP's own definition generates.

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use tonic::codec::CompressionEncoding;
use tonic::{Code, Request};

use harness::collector::{CollectorLimits, code};

use crate::kit::*;

/// Export works plain and with gzip, on one connection, and answers without partial success.
#[tokio::test]
async fn export_works_plain_and_packed() {
    let collector = start().await;
    let mut plain = grpc(&collector).await;
    let mut packed = plain.clone().send_compressed(CompressionEncoding::Gzip);
    let answer = plain.export(request(vec![span(1, 1, None, SpanKind::Server)])).await.expect("kept").into_inner();
    assert_eq!(answer.partial_success, None);
    packed.export(request(vec![span(1, 2, Some(1), SpanKind::Client)])).await.expect("kept");
    let spans = collector.spans();
    assert_eq!(spans.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["span 1", "span 2"]);
    assert_eq!((collector.stats().requests, collector.stats().connections), (2, 1));
    assert_eq!(collector.notes(), []);
}

/// Rejected spans are told by partial success, not by an error status, which an exporter would read as "all lost".
#[tokio::test]
async fn malformed_spans_are_a_partial_success() {
    let collector = start().await;
    let mut bad = span(1, 2, None, SpanKind::Server);
    bad.trace_id.clear();
    let spans = vec![span(1, 1, None, SpanKind::Server), bad];
    let answer = grpc(&collector).await.export(request(spans)).await.expect("an answer").into_inner();
    assert_eq!(answer.partial_success.map(|p| p.rejected_spans), Some(1));
    assert_eq!(collector.stats().spans, 1);
}

/// A message that is no trace request is INVALID_ARGUMENT (do not send it again); one past the limit, plain or packed
/// into a fraction of it, is OUT_OF_RANGE or RESOURCE_EXHAUSTED; an unknown method is UNIMPLEMENTED. All are counted,
/// and the connection still serves.
#[tokio::test]
async fn refusals_have_the_right_status() {
    let limits = CollectorLimits { request_bytes: 100_000, ..CollectorLimits::default() };
    let collector = start_with(limits).await;
    let traces = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    assert_eq!(call(&collector, traces, b"\x0a\xff not one".to_vec(), false).await, Code::InvalidArgument);
    assert_eq!(collector.stats().garbage_requests, 1);
    // Not much past the limit, and below every default of the transport's own: it is our limit that is tested.
    let bomb = vec![0; 200_000];
    assert_eq!(call(&collector, traces, bomb.clone(), true).await, Code::ResourceExhausted);
    assert_eq!(call(&collector, traces, bomb, false).await, Code::ResourceExhausted);
    assert_eq!(collector.stats().refused_requests, 2);
    assert_eq!(
        call(&collector, "/opentelemetry.proto.collector.profiles.v1.P/Export", Vec::new(), false).await,
        Code::Unimplemented
    );
    assert_eq!(collector.stats().unknown_requests, 1);
    for code in [code::GARBAGE, code::REFUSED, code::UNKNOWN] {
        assert!(note(&collector, code).is_some(), "{code}");
    }
    grpc(&collector).await.export(request(vec![span(1, 1, None, SpanKind::Server)])).await.expect("kept");
}

/// The metrics and logs services exist and discard.
#[tokio::test]
async fn metrics_and_logs_are_discarded() {
    let collector = start().await;
    for service in ["metrics.v1.MetricsService", "logs.v1.LogsService"] {
        let path = format!("/opentelemetry.proto.collector.{service}/Export");
        assert_eq!(call(&collector, &path, b"anything".to_vec(), true).await, Code::Ok, "{path}");
    }
    let stats = collector.stats();
    assert_eq!((stats.metrics_discarded, stats.logs_discarded), (1, 1));
    assert_eq!(collector.notes(), []);
}

/// Sends raw bytes as the one message of a unary call.
async fn call(to: &harness::collector::Collector, path: &str, message: Vec<u8>, gzip: bool) -> Code {
    let channel = tonic::transport::Endpoint::new(to.grpc_endpoint()).expect("a URL").connect().await.expect("open");
    let mut client = tonic::client::Grpc::new(channel);
    if gzip {
        client = client.send_compressed(CompressionEncoding::Gzip);
    }
    client.ready().await.expect("open");
    let answer = client.unary(Request::new(message), path.parse().expect("a path"), Bytes).await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

struct Bytes;

impl tonic::codec::Codec for Bytes {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;
    fn encoder(&mut self) -> Self {
        Self
    }
    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for Bytes {
    type Item = Vec<u8>;
    type Error = tonic::Status;
    fn encode(&mut self, item: Vec<u8>, into: &mut tonic::codec::EncodeBuf<'_>) -> Result<(), tonic::Status> {
        bytes::BufMut::put_slice(into, &item);
        Ok(())
    }
}

impl tonic::codec::Decoder for Bytes {
    type Item = Vec<u8>;
    type Error = tonic::Status;
    fn decode(&mut self, from: &mut tonic::codec::DecodeBuf<'_>) -> Result<Option<Vec<u8>>, tonic::Status> {
        let mut out = vec![0; bytes::Buf::remaining(from)];
        bytes::Buf::copy_to_slice(from, &mut out);
        Ok(Some(out))
    }
}
