//! The contract: how to start and reach a service, its links, and what it promises.
//!
//! One struct serves the TOML file and the Rust builder. Only what is promised is checked; what is not promised is
//! listed. Unknown keys are errors with a suggestion and the offending line.

mod attach;
mod builder;
mod error;
mod load;
mod promised;
mod topology;
mod validate;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use judge::duration;
use judge::promise::Noise;
use serde::{Deserialize, Serialize};

pub use attach::Attach;
pub use error::ContractError;
pub use promised::Promises;
pub use topology::{Link, Route, Upstream};

/// The version of the contract format that this build reads.
pub const VERSION: u32 = 1;

/// A declared contract.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Format version; 1.
    pub version: u32,
    /// The service under test.
    pub service: Service,
    /// How a client asks the service for one payment.
    pub request: Request,
    /// Further services that the rig starts before the service, by name: what lies behind it or beside it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub services: BTreeMap<String, Service>,
    /// Further requests than the payment, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub routes: BTreeMap<String, Route>,
    /// Dependencies behind chaos proxies, by name.
    pub links: BTreeMap<String, Link>,
    /// Where the service keeps its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<Ledger>,
    /// Where the service shows the state of its breaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breaker_endpoint: Option<BreakerEndpoint>,
    /// What the service reports of itself.
    #[serde(default)]
    pub telemetry: Telemetry,
    /// Extra environment that isolates one promise while it is measured.
    #[serde(default)]
    pub isolate: Isolate,
    /// A stack that runs already, for the placement `attach`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach: Option<Attach>,
    /// The declared noise bound.
    #[serde(default)]
    pub noise: Noise,
    /// What is promised.
    #[serde(default)]
    pub promises: Promises,
    /// Directory against which relative paths are read; where the file lies.
    #[serde(skip)]
    pub dir: PathBuf,
    /// The text it was read from, kept with every run.
    #[serde(skip)]
    pub text: String,
}

/// The service under test as a process.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Name, also its `service.name` in spans.
    pub name: String,
    /// Command that builds it, run once before the first start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Vec<String>>,
    /// Program and arguments, templated.
    pub command: Vec<String>,
    /// Working directory, relative to the contract; default: where the contract lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Environment, templated.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables handed through from the harness's own environment when they are set there.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// Its base URL, templated.
    #[serde(default = "default_url")]
    pub url: String,
    /// When it is ready.
    #[serde(default)]
    pub ready: Ready,
    /// How long it may take to stop on SIGTERM.
    #[serde(default = "default_grace", with = "duration")]
    pub stop_grace: Duration,
}

/// When the service is ready.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ready {
    /// A path that answers 2xx.
    pub path: String,
    /// The longest it may take.
    #[serde(with = "duration")]
    pub deadline: Duration,
}

impl Default for Ready {
    fn default() -> Self {
        Self { path: "/health".to_owned(), deadline: Duration::from_secs(15) }
    }
}

/// How a client asks for one payment.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Method.
    #[serde(default = "default_method")]
    pub method: String,
    /// Path.
    pub path: String,
    /// Body with `{amount}` and `{reference}`; literal braces are doubled.
    pub body: String,
    /// Its content type.
    #[serde(default = "default_content_type")]
    pub content_type: String,
    /// Header that carries the client's idempotency key.
    #[serde(default = "default_key_header")]
    pub key_header: String,
    /// How long the client waits before it calls the outcome unknown.
    #[serde(default = "default_client_timeout", with = "duration")]
    pub timeout: Duration,
    /// Header that marks a degraded answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded_header: Option<String>,
    /// Header that names the caller, where keys belong to callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller_header: Option<String>,
    /// Its values; the first one is sent with every request that no scenario sends as another caller.
    #[serde(default = "default_callers")]
    pub callers: Vec<String>,
}

/// Where the service keeps its rows.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Ledger {
    /// A SQLite file.
    Sqlite {
        /// The file, templated.
        path: String,
        /// A query with columns `key`, and optionally `id`, `downstream_key`, `amount`, `status`.
        query: String,
        /// Values of `status` that mean that the payment took effect.
        settled: Vec<String>,
    },
    /// A PostgreSQL database.
    Postgres {
        /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, templated.
        url: String,
        /// A query with columns `key`, and optionally `id`, `downstream_key`, `amount`, `status`.
        query: String,
        /// Values of `status` that mean that the payment took effect.
        settled: Vec<String>,
    },
    /// A JSON document of the service.
    Http {
        /// Its URL, templated.
        url: String,
        /// JSON pointer to the array of rows.
        #[serde(default)]
        rows: String,
        /// JSON pointers within a row, by column.
        columns: Columns,
        /// Values of `status` that mean that the payment took effect.
        settled: Vec<String>,
    },
}

/// JSON pointers into one ledger row, e.g. `key = "/idempotencyKey"`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// The client's idempotency key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The row's identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The key that is used towards the dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downstream_key: Option<String>,
    /// The amount in minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// Where the service shows the state of its breaker.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BreakerEndpoint {
    /// Spring Boot's actuator as resilience4j fills it.
    Actuator {
        /// Path on the service.
        #[serde(default = "default_actuator")]
        path: String,
        /// The breaker's name.
        name: String,
        /// Path of its event log on the service, e.g. `/actuator/circuitbreakerevents`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        events: Option<String>,
    },
    /// Prometheus text with Micrometer's names.
    Prometheus {
        /// Path on the service.
        #[serde(default = "default_prometheus")]
        path: String,
        /// The breaker's name.
        name: String,
    },
    /// Any JSON document.
    Json {
        /// Path on the service.
        path: String,
        /// JSON pointer to the state's word.
        pointer: String,
        /// What the words mean: `closed`, `open` or `half_open` by word.
        words: BTreeMap<String, String>,
    },
}

/// What the service reports of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Whether it exports spans to the endpoint it is given.
    #[serde(default)]
    pub spans: bool,
    /// Whether these tell of resends by OpenTelemetry's conventions for HTTP.
    #[serde(default)]
    pub resend_count: bool,
}

/// Extra environment for scenarios that measure one promise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Isolate {
    /// While retries and idempotency are measured, e.g. the breaker switched off.
    pub retry: BTreeMap<String, String>,
    /// While the breaker is measured, e.g. one attempt per payment.
    pub breaker: BTreeMap<String, String>,
    /// While the retry budget is measured, e.g. the breaker switched off and the budget on.
    pub budget: BTreeMap<String, String>,
    /// While the cap of the waits is measured: many attempts, a small base, a low cap, a long deadline.
    pub cap: BTreeMap<String, String>,
    /// While the expiry of keys is measured, e.g. a short life.
    pub ttl: BTreeMap<String, String>,
    /// While degraded answers are measured, e.g. the fallback switched on.
    pub degradation: BTreeMap<String, String>,
    /// While a dependency hangs, e.g. few places for its calls, and no breaker that would end the hang.
    pub bulkhead: BTreeMap<String, String>,
}

impl Contract {
    /// Whether the changes of the breaker's state can be read.
    #[must_use]
    pub fn tells_breaker_events(&self) -> bool {
        matches!(&self.breaker_endpoint, Some(BreakerEndpoint::Actuator { events: Some(_), .. }))
    }
}

fn default_url() -> String {
    "http://127.0.0.1:{service.port}".to_owned()
}
fn default_grace() -> Duration {
    Duration::from_secs(3)
}
fn default_method() -> String {
    "POST".to_owned()
}
fn default_content_type() -> String {
    "application/json".to_owned()
}
fn default_key_header() -> String {
    "Idempotency-Key".to_owned()
}
pub(crate) fn default_callers() -> Vec<String> {
    ["a", "b"].map(str::to_owned).into()
}
fn default_client_timeout() -> Duration {
    Duration::from_secs(20)
}
fn default_actuator() -> String {
    "/actuator/circuitbreakers".to_owned()
}
fn default_prometheus() -> String {
    "/actuator/prometheus".to_owned()
}
