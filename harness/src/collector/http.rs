//! OTLP/HTTP: `POST /v1/{traces,metrics,logs}` in protobuf or JSON.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTracePartialSuccess, ExportTraceServiceResponse};
use prost::Message;
use serde_json::json;

use super::body::{self, BodyError};
use super::ingest::{self, Encoding, Receipt, Shared};
use super::tally::code;

/// What a request reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Traces,
    Metrics,
    Logs,
}

impl Signal {
    pub(super) fn of_path(path: &str) -> Option<Self> {
        match path {
            "/v1/traces" => Some(Self::Traces),
            "/v1/metrics" => Some(Self::Metrics),
            "/v1/logs" => Some(Self::Logs),
            _ => None,
        }
    }
}

pub(super) async fn answer(shared: &Arc<Shared>, signal: Signal, request: Request<Incoming>) -> Response<Body> {
    let encoding = encoding(request.headers());
    match serve(shared, signal, request, encoding).await {
        Ok(receipt) => respond(encoding.unwrap_or(Encoding::Protobuf), &receipt),
        Err(refusal) => refusal.into_response(encoding),
    }
}

/// The answer to a request that is not OTLP's.
pub(super) fn unknown(shared: &Shared, request: &Request<Incoming>) -> Response<Body> {
    let text = format!(
        "{} {} is not an OTLP endpoint; OTLP/HTTP traces go to POST /v1/traces",
        request.method(),
        request.uri().path()
    );
    shared.tally.flag(code::UNKNOWN, &text, |s| s.unknown_requests += 1);
    Refusal::new(StatusCode::NOT_FOUND, text).into_response(encoding(request.headers()))
}

async fn serve(
    shared: &Arc<Shared>,
    signal: Signal,
    request: Request<Incoming>,
    encoding: Option<Encoding>,
) -> Result<Receipt, Refusal> {
    let counted = |refusal: Refusal| {
        shared.tally.flag(code::UNKNOWN, &refusal.text, |s| s.unknown_requests += 1);
        refusal
    };
    if request.method() != Method::POST {
        let text = format!("{} is not how OTLP is sent; use POST", request.method());
        return Err(counted(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, text).header(ALLOW, "POST")));
    }
    let Some(encoding) = encoding else {
        let text = "the content-type must be application/x-protobuf or application/json".to_owned();
        return Err(counted(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    };
    let gzip = match packing(request.headers()) {
        "" | "identity" => false,
        "gzip" => true,
        other => {
            let text = format!("the content-encoding `{other}` is not supported; use gzip or none");
            let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
            return Err(counted(refusal.header(ACCEPT_ENCODING, "gzip")));
        }
    };
    let limit = shared.limits.request_bytes;
    let taken = body::take(request.into_body(), shared, limit).await.map_err(|e| refuse(shared, &e))?;
    match signal {
        Signal::Traces => {}
        Signal::Metrics => {
            shared.tally.count(|s| s.metrics_discarded += 1);
            return Ok(Receipt::default());
        }
        Signal::Logs => {
            shared.tally.count(|s| s.logs_discarded += 1);
            return Ok(Receipt::default());
        }
    }
    let _turn = shared.decodes.acquire().await;
    let work = Arc::clone(shared);
    let decoded = tokio::task::spawn_blocking(move || {
        let unpacked = if gzip { Some(body::gunzip(&taken.bytes, limit)) } else { None };
        match unpacked {
            Some(Err(error)) => Err(refuse(&work, &error)),
            Some(Ok(bytes)) => decode(&work, encoding, &bytes),
            None => decode(&work, encoding, &taken.bytes),
        }
    });
    decoded.await.unwrap_or_else(|e| Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, e.to_string())))
}

fn decode(shared: &Shared, encoding: Encoding, bytes: &[u8]) -> Result<Receipt, Refusal> {
    ingest::traces(shared, encoding, bytes).map_err(|e| Refusal::new(StatusCode::BAD_REQUEST, e.to_string()))
}

fn refuse(shared: &Shared, error: &BodyError) -> Refusal {
    let text = error.to_string();
    let status = match error {
        BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        BodyError::Busy => StatusCode::SERVICE_UNAVAILABLE,
        BodyError::Slow(_) => StatusCode::REQUEST_TIMEOUT,
        BodyError::Broken(_) | BodyError::NotGzip(_) => StatusCode::BAD_REQUEST,
    };
    if status == StatusCode::BAD_REQUEST {
        shared.tally.flag(code::GARBAGE, &text, |s| s.garbage_requests += 1);
    } else {
        shared.tally.flag(code::REFUSED, &text, |s| s.refused_requests += 1);
    }
    let refusal = Refusal::new(status, text);
    if *error == BodyError::Busy { refusal.header(RETRY_AFTER, "1") } else { refusal }
}

fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/x-protobuf") {
        Some(Encoding::Protobuf)
    } else if media.eq_ignore_ascii_case("application/json") {
        Some(Encoding::Json)
    } else {
        None
    }
}

fn packing(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_ENCODING).map_or("", |value| value.to_str().unwrap_or("?").trim())
}

fn respond(encoding: Encoding, receipt: &Receipt) -> Response<Body> {
    let body = match encoding {
        Encoding::Protobuf => protobuf(receipt),
        Encoding::Json if *receipt == Receipt::default() => b"{}".to_vec(),
        Encoding::Json => json!({
            "partialSuccess": { "rejectedSpans": receipt.rejected.to_string(), "errorMessage": receipt.message }
        })
        .to_string()
        .into_bytes(),
    };
    with(StatusCode::OK, encoding, body)
}

/// The response message; partial success is absent when there is nothing to say.
pub(super) fn protobuf(receipt: &Receipt) -> Vec<u8> {
    let partial = (*receipt != Receipt::default()).then(|| ExportTracePartialSuccess {
        rejected_spans: receipt.rejected,
        error_message: receipt.message.clone(),
    });
    ExportTraceServiceResponse { partial_success: partial }.encode_to_vec()
}

fn with(status: StatusCode, encoding: Encoding, body: Vec<u8>) -> Response<Body> {
    let media = match encoding {
        Encoding::Protobuf => "application/x-protobuf",
        Encoding::Json => "application/json",
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// A request that is not served, with the `google.rpc.Status` that OTLP asks for.
struct Refusal {
    status: StatusCode,
    text: String,
    header: Option<(HeaderName, &'static str)>,
}

/// `google.rpc.Status` without details.
#[derive(Clone, PartialEq, prost::Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

impl Refusal {
    fn new(status: StatusCode, text: String) -> Self {
        Self { status, text, header: None }
    }

    fn header(self, name: HeaderName, value: &'static str) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    /// In the encoding of the request; JSON, which a person can read, when that has none of OTLP's.
    fn into_response(self, encoding: Option<Encoding>) -> Response<Body> {
        let code = match self.status {
            StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE => tonic::Code::InvalidArgument,
            StatusCode::PAYLOAD_TOO_LARGE => tonic::Code::ResourceExhausted,
            StatusCode::SERVICE_UNAVAILABLE => tonic::Code::Unavailable,
            StatusCode::REQUEST_TIMEOUT => tonic::Code::DeadlineExceeded,
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => tonic::Code::Unimplemented,
            _ => tonic::Code::Internal,
        } as i32;
        let encoding = encoding.unwrap_or(Encoding::Json);
        let body = match encoding {
            Encoding::Protobuf => RpcStatus { code, message: self.text }.encode_to_vec(),
            Encoding::Json => json!({ "code": code, "message": self.text }).to_string().into_bytes(),
        };
        let mut response = with(self.status, encoding, body);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
