//! OTLP/gRPC: the unary `Export` of the trace, metrics and logs services.
//!
//! Messages pass the codec as bytes, so that one decoder serves every transport and a payload that is none is answered
//! INVALID_ARGUMENT, which tells an exporter not to send it again.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use bytes::{Buf, BufMut, Bytes};
use hyper::body::Incoming;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status};

use super::body::{self, BodyError};
use super::http::{Signal, protobuf};
use super::ingest::{self, Encoding, Receipt, Shared};
use super::tally::code;

/// The gRPC frame header in front of a message.
const FRAME_HEADER: usize = 5;

/// The signal of a gRPC method; `None` for a method that OTLP does not have.
pub(super) fn signal(path: &str) -> Option<Signal> {
    match path {
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export" => Some(Signal::Traces),
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export" => Some(Signal::Metrics),
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export" => Some(Signal::Logs),
        _ => None,
    }
}

pub(super) async fn answer(shared: &Arc<Shared>, signal: Signal, request: Request<Incoming>) -> Response<Body> {
    let limit = shared.limits.request_bytes;
    let (head, body) = request.into_parts();
    let taken = match body::take(body, shared, limit.saturating_add(FRAME_HEADER)).await {
        Ok(taken) => taken,
        Err(error) => return refuse(shared, &error).into_http(),
    };
    let _turn = shared.decodes.acquire().await;
    let request = Request::from_parts(head, Body::from(taken.bytes.clone()));
    let export = Export { shared: Arc::clone(shared), signal };
    let response = Grpc::new(Raw)
        .accept_compressed(CompressionEncoding::Gzip)
        .apply_max_message_size_config(Some(limit), None)
        .unary(export, request)
        .await;
    if response.headers().contains_key(Status::GRPC_STATUS) {
        flag(shared, response.headers());
    }
    response.map(Body::new)
}

/// The answer to a gRPC method that OTLP does not have.
pub(super) fn unknown(shared: &Shared, path: &str) -> Response<Body> {
    let text = format!("{path} is not an OTLP method");
    shared.tally.flag(code::UNKNOWN, &text, |s| s.unknown_requests += 1);
    Status::unimplemented(text).into_http()
}

/// Counts a message that the codec refused before it reached the service.
fn flag(shared: &Shared, headers: &axum::http::HeaderMap) {
    let Some(status) = Status::from_header_map(headers) else { return };
    match status.code() {
        // Decoded by our own service, which counted it.
        Code::Ok | Code::InvalidArgument => {}
        Code::OutOfRange | Code::ResourceExhausted => {
            shared.tally.flag(code::REFUSED, status.message(), |s| s.refused_requests += 1);
        }
        _ => shared.tally.flag(code::GARBAGE, status.message(), |s| s.garbage_requests += 1),
    }
}

fn refuse(shared: &Shared, error: &BodyError) -> Status {
    let text = error.to_string();
    let status = match error {
        BodyError::TooLarge { .. } => Status::resource_exhausted(&text),
        BodyError::Busy => Status::unavailable(&text),
        BodyError::Slow(_) => Status::deadline_exceeded(&text),
        BodyError::Broken(_) | BodyError::NotGzip(_) => Status::invalid_argument(&text),
    };
    if status.code() == Code::InvalidArgument {
        shared.tally.flag(code::GARBAGE, &text, |s| s.garbage_requests += 1);
    } else {
        shared.tally.flag(code::REFUSED, &text, |s| s.refused_requests += 1);
    }
    status
}

struct Export {
    shared: Arc<Shared>,
    signal: Signal,
}

impl UnaryService<Bytes> for Export {
    type Response = Bytes;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<Bytes>, Status>> + Send>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let (shared, signal) = (Arc::clone(&self.shared), self.signal);
        Box::pin(async move {
            let receipt = match signal {
                Signal::Traces => traces(shared, request.into_inner()).await?,
                Signal::Metrics => {
                    shared.tally.count(|s| s.metrics_discarded += 1);
                    Receipt::default()
                }
                Signal::Logs => {
                    shared.tally.count(|s| s.logs_discarded += 1);
                    Receipt::default()
                }
            };
            Ok(tonic::Response::new(Bytes::from(protobuf(&receipt))))
        })
    }
}

async fn traces(shared: Arc<Shared>, bytes: Bytes) -> Result<Receipt, Status> {
    tokio::task::spawn_blocking(move || ingest::traces(&shared, Encoding::Protobuf, &bytes))
        .await
        .map_err(|e| Status::internal(e.to_string()))?
        .map_err(|e| Status::invalid_argument(e.to_string()))
}

/// Messages as bytes.
#[derive(Debug, Clone, Copy)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}
