//! An OTLP trace receiver in this process: what the service under test says about itself.
//!
//! One port takes OTLP/gRPC (HTTP/2 without TLS), OTLP/HTTP in protobuf and in JSON, with gzip or without; an exporter
//! that was given the endpoint of the other protocol still arrives. Metrics and logs, which services export by
//! default, are accepted, counted and discarded. Everything is bounded ([`CollectorLimits`]); what is past a bound is
//! answered as OTLP says (partial success, 413, RESOURCE_EXHAUSTED) and noted.
//!
//! Spans are claims of the suspect: their times come from its wall clock, and they corroborate but never acquit.

mod body;
mod connections;
mod grpc;
mod http;
mod ingest;
mod json;
mod limits;
mod proto;
mod raw;
mod serve;
mod settle;
mod store;
mod tally;
mod value;

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use judge::evidence::{Note, Span, TimeBase};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

pub use limits::CollectorLimits;
pub use settle::{SettleRule, Settled};
pub use tally::{CollectorStats, code};

use ingest::Shared;
use store::Store;
use tally::Tally;

/// How many incomplete traces a note names.
const NAMED_TRACES: usize = 5;

/// How a [`Collector`] is started.
#[derive(Debug, Clone, Copy)]
pub struct CollectorConfig {
    /// The run's time axis, on which span times are placed.
    pub time: TimeBase,
    /// Bounds.
    pub limits: CollectorLimits,
    /// Where to listen. A container reaches the harness over another address than loopback.
    pub listen: SocketAddr,
}

impl CollectorConfig {
    /// On loopback, at a port that the system chooses, with default limits.
    #[must_use]
    pub fn new(time: TimeBase) -> Self {
        Self { time, limits: CollectorLimits::default(), listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(mut self, limits: CollectorLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where to listen.
    #[must_use]
    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.listen = listen;
        self
    }
}

/// Why a collector could not start.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    /// The address cannot be listened on.
    #[error(
        "the OTLP collector cannot listen on {listen}: {source}; give it a free port, or port 0 to let the system choose"
    )]
    Bind {
        /// The address that was asked for.
        listen: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A limit is zero or cannot be counted.
    #[error("the OTLP collector's limit `{limit}` is {reason}; give a number from 1 to 2^60")]
    Limit {
        /// Name of the limit.
        limit: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A running receiver. Dropping it closes the port and its connections.
///
/// ```no_run
/// # use judge::evidence::{TimeBase, TraceContext};
/// # async fn run(time: TimeBase, sent: Vec<TraceContext>) -> Result<(), Box<dyn std::error::Error>> {
/// use harness::collector::{Collector, CollectorConfig, SettleRule};
///
/// let mut collector = Collector::start(CollectorConfig::new(time)).await?;
/// println!("OTEL_EXPORTER_OTLP_ENDPOINT={}", collector.grpc_endpoint());
/// // ... the service works ...
/// let settled = collector.settle(&SettleRule::new(sent)).await;
/// println!("{} spans, complete: {}", collector.spans().len(), settled.complete);
/// collector.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Collector {
    shared: SharedHandle,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    accepting: Option<JoinHandle<()>>,
}

struct SharedHandle(Arc<Shared>);

impl std::fmt::Debug for SharedHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.tally.stats().fmt(f)
    }
}

impl Collector {
    /// Opens the port and begins to receive.
    ///
    /// # Errors
    /// When the address cannot be listened on or a limit makes no sense.
    pub async fn start(config: CollectorConfig) -> Result<Self, CollectorError> {
        let CollectorConfig { time, limits, listen } = config;
        if let Some(limit) = limits.zero() {
            return Err(CollectorError::Limit { limit, reason: "zero" });
        }
        if limits.buffered_bytes.max(limits.decodes) > Semaphore::MAX_PERMITS {
            return Err(CollectorError::Limit { limit: "buffered_bytes or decodes", reason: "too large" });
        }
        let bind = |source| CollectorError::Bind { listen, source };
        let listener = TcpListener::bind(listen).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let shared = Arc::new(Shared {
            time,
            limits,
            store: Store::new(limits),
            tally: Tally::new(time),
            budget: Arc::new(Semaphore::new(limits.buffered_bytes)),
            decodes: Semaphore::new(limits.decodes),
        });
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(serve::accept(listener, Arc::clone(&shared), stopped));
        Ok(Self { shared: SharedHandle(shared), address, stop, accepting: Some(accepting) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The value of `OTEL_EXPORTER_OTLP_ENDPOINT` for the protocol `grpc`.
    #[must_use]
    pub fn grpc_endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The value of `OTEL_EXPORTER_OTLP_ENDPOINT` for the protocols `http/protobuf` and `http/json`; exporters add
    /// `/v1/traces` to it.
    #[must_use]
    pub fn http_endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans so far, each identity once, in the order of their arrival.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        self.shared.0.store.spans()
    }

    /// What was received so far.
    #[must_use]
    pub fn stats(&self) -> CollectorStats {
        self.shared.0.tally.stats()
    }

    /// What a reader of the evidence must know, one note for each [`code`] (and one for each wait that gave up).
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.shared.0.tally.notes()
    }

    /// Waits until the expected spans are there, or the deadline. What is missing then becomes a note.
    pub async fn settle(&self, rule: &SettleRule) -> Settled {
        let report = settle::settle(&self.shared.0.store, rule).await;
        if !report.settled.complete {
            self.shared.0.tally.missing(missing(rule, &report));
        }
        report.settled
    }

    /// Closes the port, lets open requests finish, and returns when every connection is gone. What was received can
    /// still be read.
    pub async fn shutdown(&mut self) {
        self.stop.send_replace(true);
        if let Some(accepting) = self.accepting.take() {
            // An error here is a panic of the accept loop; what it served is in the store all the same.
            let _ = accepting.await;
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(accepting) = &self.accepting {
            accepting.abort();
        }
    }
}

fn missing(rule: &SettleRule, report: &settle::Report) -> String {
    let count = report.lacks.len();
    if count == 0 {
        return format!(
            "new spans still arrived when the wait for a quiet {:?} ended after {:?}",
            rule.quiet, rule.deadline
        );
    }
    let mut text = format!("{count} traces were not complete after {:?}:", rule.deadline);
    for (trace, lack) in report.lacks.iter().take(NAMED_TRACES) {
        // Writing to a String cannot fail.
        let _ = write!(text, " {trace}: {lack};");
    }
    if count > NAMED_TRACES {
        let _ = write!(text, " and {} more;", count - NAMED_TRACES);
    }
    text + " does the service join the `traceparent` it gets, and export within this time (OTEL_BSP_SCHEDULE_DELAY)?"
}
