//! The client: asks once, and records what it saw.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use judge::evidence::{Answer, ClientReply, Outcome, Record, TraceContext};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use sha2::{Digest, Sha256};

use super::order::{Order, OrderSource};
use crate::clock::Clock;
use crate::rig::Tape;

/// The most bytes of a reply that are read; a longer one is a failed exchange.
pub const MAX_REPLY_BYTES: usize = 1 << 20;
/// The most bytes of a reply that are kept as text.
const EXCERPT_BYTES: usize = 200;

/// How requests of a service look, from its contract.
#[derive(Debug, Clone)]
pub struct RequestSpec {
    /// Method.
    pub method: Method,
    /// The whole URL.
    pub url: String,
    /// Body with `{amount}` and `{reference}`; literal braces are doubled.
    pub body: String,
    /// Content type.
    pub content_type: String,
    /// Header of the idempotency key.
    pub key_header: HeaderName,
    /// Header that marks a replay.
    pub marker_header: Option<HeaderName>,
    /// Header that marks a degraded answer.
    pub degraded_header: Option<HeaderName>,
    /// Time after which the outcome is called unknown.
    pub timeout: Duration,
}

/// Why a client cannot be made or a request not be built.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The request template or a header is not usable.
    #[error("the contract's [request] cannot be sent: {0}")]
    BadRequest(String),
    /// The HTTP client cannot be set up.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(#[from] reqwest::Error),
}

/// A client of the service under test.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    spec: RequestSpec,
    clock: Clock,
    tape: Tape,
    orders: Mutex<OrderSource>,
    sent: AtomicU64,
    answered: AtomicU64,
}

impl Client {
    /// A client that never repeats a request by itself: no redirects, no proxies of the environment, no kept
    /// connections (a stale one makes HTTP libraries send twice), no retries.
    ///
    /// # Errors
    /// When the HTTP library cannot be set up.
    pub fn new(spec: RequestSpec, clock: Clock, tape: Tape, orders: OrderSource) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .tcp_nodelay(true)
            .build()?;
        let orders = Mutex::new(orders);
        Ok(Self { http, spec, clock, tape, orders, sent: AtomicU64::new(0), answered: AtomicU64::new(0) })
    }

    /// A fresh order from the run's seed.
    pub fn order(&self) -> Order {
        self.source().order()
    }

    /// How many requests have been answered (or given up) so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    /// Asks once and records the outcome.
    ///
    /// # Errors
    /// When the request cannot be built. A failed exchange is an outcome, not an error.
    pub async fn ask(&self, step: &str, order: &Order) -> Result<Outcome, ClientError> {
        let body = render(&self.spec.body, order)?;
        let payload = hex(&Sha256::digest(body.as_bytes()));
        let context = self.source().context();
        let headers = self.headers(order, &context)?;
        let request = self.http.request(self.spec.method.clone(), &self.spec.url).headers(headers).body(body);
        let seq = self.sent.fetch_add(1, Ordering::Relaxed);
        let sent = self.clock.now();
        let answer = match tokio::time::timeout(self.spec.timeout, self.exchange(request)).await {
            Err(_) => Answer::TimedOut,
            Ok(Err(error)) => Answer::Failed { error },
            Ok(Ok(reply)) => Answer::Reply(reply),
        };
        let ended = self.clock.now();
        let (step, key, amount) = (step.to_owned(), order.key.clone(), Some(order.amount));
        let outcome = Outcome { seq, step, key, context, payload, amount, sent, ended, answer };
        self.tape.append(Record::Outcome(outcome.clone()));
        self.answered.fetch_add(1, Ordering::Release);
        Ok(outcome)
    }

    fn source(&self) -> std::sync::MutexGuard<'_, OrderSource> {
        self.orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn headers(&self, order: &Order, context: &TraceContext) -> Result<HeaderMap, ClientError> {
        let value = |text: &str| {
            HeaderValue::from_str(text).map_err(|_| ClientError::BadRequest(format!("`{text}` is not a header value")))
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, value(&self.spec.content_type)?);
        headers.insert("traceparent", value(&context.to_traceparent())?);
        if let Some(key) = &order.key {
            headers.insert(self.spec.key_header.clone(), value(key)?);
        }
        Ok(headers)
    }

    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<ClientReply, String> {
        let mut response = request.send().await.map_err(|e| chain(&e))?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| chain(&e))? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(format!("the reply is longer than {MAX_REPLY_BYTES} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(self.reply(&response, &body))
    }

    fn reply(&self, response: &reqwest::Response, body: &[u8]) -> ClientReply {
        let header = |name: &HeaderName| {
            response.headers().get(name).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned())
        };
        let content_type = header(&CONTENT_TYPE);
        let problem = content_type
            .as_deref()
            .filter(|t| t.trim_start().to_ascii_lowercase().starts_with("application/problem+json"))
            .and_then(|_| serde_json::from_slice::<serde_json::Value>(body).ok());
        let member = |name: &str| problem.as_ref().and_then(|p| p.get(name));
        ClientReply {
            status: response.status().as_u16(),
            body_sha256: hex(&Sha256::digest(body)),
            excerpt: String::from_utf8_lossy(&body[..body.len().min(EXCERPT_BYTES)]).into_owned(),
            marker: self.spec.marker_header.as_ref().and_then(header),
            retry_after: header(&RETRY_AFTER),
            problem_status: member("status").and_then(|s| u16::try_from(s.as_u64()?).ok()),
            problem_type: member("type").and_then(|t| t.as_str().map(str::to_owned)),
            degraded: self.spec.degraded_header.as_ref().and_then(header),
            content_type,
        }
    }
}

fn render(template: &str, order: &Order) -> Result<String, ClientError> {
    let vars = [("amount", order.amount.to_string()), ("reference", order.reference.clone())];
    let vars = vars.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    crate::place::template::render(template, &vars).map_err(|e| ClientError::BadRequest(format!("request.body: {e}")))
}

/// An error with its causes: HTTP libraries keep the telling part ("connection refused") at the end.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
