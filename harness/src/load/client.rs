//! The client: asks once, and records what it saw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use judge::evidence::{Answer, ClientReply, Outcome, Record, TraceContext};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use sha2::{Digest, Sha256};

use super::order::{Order, OrderSource};
use super::target::{Replica, Target};
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
    /// Path, with `{amount}` and `{reference}` where the route has them.
    pub path: String,
    /// Body with `{amount}` and `{reference}`; literal braces are doubled. `None`: no body is sent.
    pub body: Option<String>,
    /// Content type.
    pub content_type: String,
    /// Header of the idempotency key; `None`: it is not sent.
    pub key_header: Option<HeaderName>,
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
    /// A load names a route that the contract does not have.
    #[error("the contract has no [routes.{name}]; it has {}", if .known.is_empty() { "none" } else { .known.as_str() })]
    NoRoute {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A load is sent to the second replica, which was not started.
    #[error("the second replica is not running; call `start_replica` before a load is sent to it")]
    NoReplica,
    /// The HTTP client cannot be set up.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(#[from] reqwest::Error),
}

/// A client of the service under test.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    /// Base URLs of the first instance and, once it runs, of the second.
    base: String,
    second: OnceLock<String>,
    payment: RequestSpec,
    routes: BTreeMap<String, RequestSpec>,
    clock: Clock,
    tape: Tape,
    orders: Mutex<OrderSource>,
    sent: AtomicU64,
    answered: AtomicU64,
}

impl Client {
    /// A client of the instance at `base`, which asks for payments and by further routes. It never repeats a request by itself: no redirects, no proxies of the environment, no kept
    /// connections (a stale one makes HTTP libraries send twice), no retries.
    ///
    /// # Errors
    /// When the HTTP library cannot be set up.
    pub fn new(
        base: &str,
        payment: RequestSpec,
        clock: Clock,
        tape: Tape,
        orders: OrderSource,
    ) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .tcp_nodelay(true)
            .build()?;
        let orders = Mutex::new(orders);
        Ok(Self {
            http,
            base: base.to_owned(),
            second: OnceLock::new(),
            payment,
            routes: BTreeMap::new(),
            clock,
            tape,
            orders,
            sent: AtomicU64::new(0),
            answered: AtomicU64::new(0),
        })
    }

    /// Adds requests by further routes.
    #[must_use]
    pub fn with_routes(mut self, routes: BTreeMap<String, RequestSpec>) -> Self {
        self.routes = routes;
        self
    }

    /// Names the base URL of the second replica, which stays the same however often it is started.
    pub fn second_is_at(&self, base: &str) {
        self.second.get_or_init(|| base.to_owned());
    }

    /// A fresh order from the run's seed.
    pub fn order(&self) -> Order {
        self.source().order()
    }

    /// How many requests have been answered (or given up) so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    /// Asks the first instance for a payment once, and records the outcome.
    ///
    /// # Errors
    /// When the request cannot be built. A failed exchange is an outcome, not an error.
    pub async fn ask(&self, step: &str, order: &Order) -> Result<Outcome, ClientError> {
        self.ask_at(step, order, &Target::default()).await
    }

    /// Asks once, by a route and of an instance, and records the outcome.
    ///
    /// # Errors
    /// When there is no such route or instance, or the request cannot be built. A failed exchange is an outcome, not an
    /// error.
    pub async fn ask_at(&self, step: &str, order: &Order, target: &Target) -> Result<Outcome, ClientError> {
        self.ask_until(step, order, target, None, std::future::pending()).await
    }

    /// Asks once, waits at most for `patience` in place of the contract's time, and closes the connection when `leave`
    /// completes first.
    ///
    /// # Errors
    /// As [`Client::ask_at`].
    pub async fn ask_until(
        &self,
        step: &str,
        order: &Order,
        target: &Target,
        patience: Option<Duration>,
        leave: impl Future<Output = ()>,
    ) -> Result<Outcome, ClientError> {
        let spec = self.spec(target)?;
        let context = self.source().context();
        let (request, payload) = self.request(spec, order, &context, target)?;
        let seq = self.sent.fetch_add(1, Ordering::Relaxed);
        let sent = self.clock.now();
        let patience = patience.unwrap_or(spec.timeout);
        // The exchange is dropped before the outcome is noted, and the connection with it.
        let answer = tokio::select! {
            () = leave => Answer::Left,
            asked = tokio::time::timeout(patience, self.exchange(spec, request)) => match asked {
                Err(_) => Answer::TimedOut,
                Ok(Err(error)) => Answer::Failed { error },
                Ok(Ok(reply)) => Answer::Reply(reply),
            },
        };
        let outcome = Outcome {
            seq,
            step: step.to_owned(),
            key: order.key.clone().filter(|_| spec.key_header.is_some()),
            context,
            payload,
            amount: (target.route.is_none() || spec.body.is_some()).then_some(order.amount),
            sent,
            ended: self.clock.now(),
            answer,
            route: target.route.clone(),
            replica: target.replica.recorded(),
        };
        self.tape.append(Record::Outcome(outcome.clone()));
        self.answered.fetch_add(1, Ordering::Release);
        Ok(outcome)
    }

    fn spec(&self, target: &Target) -> Result<&RequestSpec, ClientError> {
        let Some(name) = &target.route else { return Ok(&self.payment) };
        self.routes.get(name).ok_or_else(|| ClientError::NoRoute {
            name: name.clone(),
            known: self.routes.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// The request, and the digest of its body.
    fn request(
        &self,
        spec: &RequestSpec,
        order: &Order,
        context: &TraceContext,
        target: &Target,
    ) -> Result<(reqwest::RequestBuilder, String), ClientError> {
        let base = match target.replica {
            Replica::First => &self.base,
            Replica::Second => self.second.get().ok_or(ClientError::NoReplica)?,
        };
        // The payment's path is taken as it stands.
        let path = match target.route {
            Some(_) => render("path", &spec.path, order)?,
            None => spec.path.clone(),
        };
        let body = spec.body.as_ref().map(|body| render("request.body", body, order)).transpose()?;
        let payload = hex(&Sha256::digest(body.as_deref().unwrap_or_default().as_bytes()));
        let request = self.http.request(spec.method.clone(), format!("{base}{path}"));
        let request = request.headers(headers(spec, order, context)?);
        Ok((body.into_iter().fold(request, reqwest::RequestBuilder::body), payload))
    }

    fn source(&self) -> std::sync::MutexGuard<'_, OrderSource> {
        self.orders.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    async fn exchange(&self, spec: &RequestSpec, request: reqwest::RequestBuilder) -> Result<ClientReply, String> {
        let mut response = request.send().await.map_err(|e| chain(&e))?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| chain(&e))? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(format!("the reply is longer than {MAX_REPLY_BYTES} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(reply(spec, &response, &body))
    }
}

fn headers(spec: &RequestSpec, order: &Order, context: &TraceContext) -> Result<HeaderMap, ClientError> {
    let value = |text: &str| {
        HeaderValue::from_str(text).map_err(|_| ClientError::BadRequest(format!("`{text}` is not a header value")))
    };
    let mut headers = HeaderMap::new();
    if spec.body.is_some() {
        headers.insert(CONTENT_TYPE, value(&spec.content_type)?);
    }
    headers.insert("traceparent", value(&context.to_traceparent())?);
    if let (Some(name), Some(key)) = (&spec.key_header, &order.key) {
        headers.insert(name.clone(), value(key)?);
    }
    Ok(headers)
}

fn reply(spec: &RequestSpec, response: &reqwest::Response, body: &[u8]) -> ClientReply {
    let header =
        |name: &HeaderName| response.headers().get(name).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
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
        marker: spec.marker_header.as_ref().and_then(header),
        retry_after: header(&RETRY_AFTER),
        problem_status: member("status").and_then(|s| u16::try_from(s.as_u64()?).ok()),
        problem_type: member("type").and_then(|t| t.as_str().map(str::to_owned)),
        degraded: spec.degraded_header.as_ref().and_then(header),
        content_type,
    }
}

fn render(field: &str, template: &str, order: &Order) -> Result<String, ClientError> {
    let vars = [("amount", order.amount.to_string()), ("reference", order.reference.clone())];
    let vars = vars.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    crate::place::template::render(template, &vars).map_err(|e| ClientError::BadRequest(format!("{field}: {e}")))
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
