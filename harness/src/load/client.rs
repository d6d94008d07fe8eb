//! The client: asks once, and records what it saw.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use judge::evidence::{Answer, ClientReply, Outcome, Record, TraceContext};
use judge::promise::Place;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use sha2::{Digest, Sha256};

use super::order::{Order, OrderSource};
use super::place::Places;
use super::spelling::respell;
use super::target::{Replica, Target};
use crate::clock::Clock;
use crate::place::template::{self, TemplateError};
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
    /// Header that names the caller.
    pub caller_header: Option<HeaderName>,
    /// Its values.
    pub callers: Vec<String>,
    /// What marks a degraded answer: the first of these places that holds something.
    pub degraded: Vec<Place>,
    /// Where an answer tells its age.
    pub age: Option<Place>,
    /// Where an answer says how the payment stands.
    pub word: Option<Place>,
    /// Where an answer gives the payment's identity.
    pub id: Option<Place>,
    /// The path of a payment's confirmation, with `{id}`.
    pub read: Option<String>,
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

/// One request, before it is sent.
struct Asking<'a> {
    step: &'a str,
    order: &'a Order,
    target: &'a Target,
    spec: &'a RequestSpec,
    context: TraceContext,
    payload: String,
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
    /// The identity that the service gave each key's payment.
    ids: Mutex<HashMap<String, String>>,
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
            ids: Mutex::default(),
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
        let patience = patience.unwrap_or(spec.timeout);
        let asked = Asking { step, order, target, spec, context, payload };
        Ok(self.run(asked, request, patience, leave).await)
    }

    /// Reads the confirmation of an order once and records the outcome; `None` when no answer has told its identity.
    ///
    /// # Errors
    /// When the request cannot be built. A failed exchange is an outcome, not an error.
    pub async fn read(&self, step: &str, order: &Order) -> Result<Option<Outcome>, ClientError> {
        let id = order.key.as_ref().and_then(|key| lock(&self.ids).get(key).cloned());
        let (Some(read), Some(id)) = (&self.payment.read, id) else { return Ok(None) };
        let bad = |e: TemplateError| ClientError::BadRequest(format!("promises.degradation.read: {e}"));
        let path = template::render(read, &[("id".to_owned(), id)].into()).map_err(bad)?;
        let (context, spec) = (self.source().context(), &self.payment);
        let headers = headers(&RequestSpec { body: None, key_header: None, ..spec.clone() }, order, &context)?;
        let request = self.http.request(Method::GET, format!("{}{path}", self.base)).headers(headers);
        let (target, payload) = (&Target::default(), hex(&Sha256::digest("")));
        let asked = Asking { step, order, target, spec, context, payload };
        Ok(Some(self.run(asked, request, spec.timeout, std::future::pending()).await))
    }

    async fn run(
        &self,
        asked: Asking<'_>,
        request: reqwest::RequestBuilder,
        patience: Duration,
        leave: impl Future<Output = ()>,
    ) -> Outcome {
        let Asking { step, order, target, spec, context, payload } = asked;
        let seq = self.sent.fetch_add(1, Ordering::Relaxed);
        let sent = self.clock.now();
        // The exchange is dropped before the outcome is noted, and the connection with it.
        let answer = tokio::select! {
            () = leave => Answer::Left,
            asked = tokio::time::timeout(patience, self.exchange(spec, request)) => match asked {
                Err(_) => Answer::TimedOut,
                Ok(Err(error)) => Answer::Failed { error },
                Ok(Ok((reply, id))) => {
                    if let (Some(key), Some(id)) = (&order.key, id) {
                        lock(&self.ids).insert(key.clone(), id);
                    }
                    Answer::Reply(reply)
                }
            },
        };
        let outcome = Outcome {
            seq,
            step: step.to_owned(),
            key: order.key.clone().filter(|_| spec.key_header.is_some()),
            caller: spec.caller_header.as_ref().and_then(|_| spec.callers.get(order.caller)).cloned(),
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
        outcome
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
        let body = body.map(|body| spell(body, order)).transpose()?;
        let payload = hex(&Sha256::digest(body.as_deref().unwrap_or_default().as_bytes()));
        let request = self.http.request(spec.method.clone(), format!("{base}{path}"));
        let request = request.headers(headers(spec, order, context)?);
        Ok((body.into_iter().fold(request, reqwest::RequestBuilder::body), payload))
    }

    fn source(&self) -> MutexGuard<'_, OrderSource> {
        lock(&self.orders)
    }

    /// The reply, and the identity that it gives the payment.
    async fn exchange(
        &self,
        spec: &RequestSpec,
        request: reqwest::RequestBuilder,
    ) -> Result<(ClientReply, Option<String>), String> {
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
    if let (Some(name), Some(caller)) = (&spec.caller_header, spec.callers.get(order.caller)) {
        headers.insert(name.clone(), value(caller)?);
    }
    Ok(headers)
}

fn reply(spec: &RequestSpec, response: &reqwest::Response, body: &[u8]) -> (ClientReply, Option<String>) {
    let header =
        |name: &HeaderName| response.headers().get(name).map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
    let content_type = header(&CONTENT_TYPE);
    let problem = content_type
        .as_deref()
        .filter(|t| t.trim_start().to_ascii_lowercase().starts_with("application/problem+json"))
        .and_then(|_| serde_json::from_slice::<serde_json::Value>(body).ok());
    let places = Places::new(response.headers(), body);
    let at = |place: &Option<Place>| place.as_ref().and_then(|p| places.text(p));
    let member = |name: &str| problem.as_ref().and_then(|p| p.get(name));
    let reply = ClientReply {
        status: response.status().as_u16(),
        body_sha256: hex(&Sha256::digest(body)),
        excerpt: String::from_utf8_lossy(&body[..body.len().min(EXCERPT_BYTES)]).into_owned(),
        marker: spec.marker_header.as_ref().and_then(header),
        retry_after: header(&RETRY_AFTER),
        problem_status: member("status").and_then(|s| u16::try_from(s.as_u64()?).ok()),
        problem_type: member("type").and_then(|t| t.as_str().map(str::to_owned)),
        degraded: spec.degraded.iter().find_map(|p| places.mark(p)),
        age: at(&spec.age),
        word: at(&spec.word),
        content_type,
    };
    (reply, at(&spec.id))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body as it is, or with the same values in another spelling.
fn spell(body: String, order: &Order) -> Result<String, ClientError> {
    if !order.respelt {
        return Ok(body);
    }
    let bad = || ClientError::BadRequest("request.body is not JSON, and so cannot be spelt in another way".to_owned());
    respell(&body).ok_or_else(bad)
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
