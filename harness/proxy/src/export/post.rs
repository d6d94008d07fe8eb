//! Posting batches to a collector.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::uri::Uri;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::config::{OtlpConfig, OtlpError};
use super::json;
use super::queue::Queue;
use crate::clock::Clock;
use crate::log::Log;

/// How long spans are gathered for one request.
const GATHER: Duration = Duration::from_secs(1);
/// How long one request may take.
const POST_TIME: Duration = Duration::from_secs(10);
/// Pauses before a request is tried again.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];
/// Bytes of an answer that are read.
const ANSWER_BYTES: usize = 64 << 10;

/// Where requests go.
#[derive(Debug)]
pub(super) struct Collector {
    /// `host:port`.
    address: String,
    path: String,
    headers: HeaderMap,
}

/// Why a request was not taken.
struct Refused {
    why: String,
    /// Whether it may be taken later.
    later: bool,
}

impl Collector {
    pub(super) fn of(config: &OtlpConfig) -> Result<Self, OtlpError> {
        let wrong = |reason| OtlpError::Endpoint { url: config.traces_url.clone(), reason };
        let uri: Uri = config.traces_url.parse().map_err(|_| wrong("it is no URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(wrong("TLS is not spoken to collectors; use one on this machine")),
            _ => return Err(wrong("it does not begin with http://")),
        }
        let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
        let address = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("chaos-proxy/", env!("CARGO_PKG_VERSION"))));
        headers.insert(HOST, HeaderValue::from_str(authority.as_str()).map_err(|_| wrong("its host is odd"))?);
        for (name, value) in &config.headers {
            let unusable = || OtlpError::Header(name.clone());
            let key = HeaderName::try_from(name).map_err(|_| unusable())?;
            headers.insert(key, HeaderValue::from_str(value).map_err(|_| unusable())?);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { address, path, headers })
    }

    /// Posts once; how many spans the collector rejected.
    async fn post(&self, body: Bytes) -> Result<u64, Refused> {
        let exchange = tokio::time::timeout(POST_TIME, self.exchange(body));
        let failed = |why: String| Refused { why, later: true };
        match exchange.await {
            Ok(Ok((status, answer))) if status.is_success() => Ok(rejected(&answer)),
            Ok(Ok((status, _))) => {
                let later = matches!(status.as_u16(), 429 | 502 | 503 | 504);
                Err(Refused { why: format!("it answered {status}"), later })
            }
            Ok(Err(e)) => Err(failed(e)),
            Err(_) => Err(failed(format!("no answer within {POST_TIME:?}"))),
        }
    }

    async fn exchange(&self, body: Bytes) -> Result<(StatusCode, Bytes), String> {
        let stream = TcpStream::connect(&self.address).await.map_err(|e| e.to_string())?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|e| e.to_string())?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.parse().map_err(|_| "its path is odd".to_owned())?;
        *request.headers_mut() = self.headers.clone();
        let answer = async {
            let response = sender.send_request(request).await.map_err(|e| e.to_string())?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_BYTES).collect().await.map_err(|e| e.to_string())?;
            Ok((head.status, body.to_bytes()))
        };
        tokio::pin!(answer, connection);
        // The connection moves the bytes; whichever ends first, the answer says what there is.
        tokio::select! {
            answered = &mut answer => answered,
            _over = &mut connection => answer.await,
        }
    }
}

/// Sends batch after batch until the queue is over.
pub(super) async fn send_all(collector: Collector, resource: String, queue: Arc<Queue>, log: Log, clock: Clock) {
    while let Some(spans) = queue.batch(GATHER).await {
        let all = spans.len() as u64;
        let body = Bytes::from(json::request(&resource, &spans));
        let mut pauses = PAUSES.iter();
        let rejected = loop {
            let Refused { why, later } = match collector.post(body.clone()).await {
                Ok(rejected) => break rejected.min(all),
                Err(refused) => refused,
            };
            let text = format!("the collector at {} did not take {all} spans: {why}", collector.address);
            log.remark(clock.now(), "otlp-failed", text);
            match pauses.next() {
                Some(pause) if later => tokio::time::sleep(*pause).await,
                _ => break all,
            }
        };
        queue.delivered(all - rejected, rejected);
    }
}

/// How many spans of a request that was taken were not, as the answer says.
fn rejected(answer: &[u8]) -> u64 {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap_or_default();
    let n = &answer["partialSuccess"]["rejectedSpans"];
    n.as_u64().or_else(|| n.as_str()?.parse().ok()).unwrap_or(0)
}
