//! What a proxy is started with.

use std::time::Duration;

use evidence::TimeBase;

use crate::clock::Clock;
use crate::export::OtlpConfig;
use crate::tls::{Originate, Terminate, TlsConfig};
use crate::toxics::Toxic;

/// Records that the event log keeps by default before it drops new ones.
pub const DEFAULT_LOG_LIMIT: usize = 250_000;
/// Bytes of memory that the kept records may take by default.
pub const DEFAULT_LOG_BYTES: usize = 256 << 20;

/// A proxy: links, time axis, seed.
#[derive(Debug, Clone)]
pub struct ProxyConfig {
    /// The links.
    pub links: Vec<LinkConfig>,
    /// The run's time axis. All moments in the log are on it.
    pub time: TimeBase,
    /// Seed of every random decision.
    pub seed: u64,
    /// How many undrained records the log keeps; later ones are dropped and counted.
    pub log_limit: usize,
    /// How many bytes of memory undrained records may take; later ones are dropped and counted.
    pub log_bytes: usize,
    /// Where faults are exported to as OpenTelemetry spans, if anywhere.
    pub otlp: Option<OtlpConfig>,
    /// Brings back oddities of Toxiproxy's toxics that are fixed otherwise.
    pub toxiproxy_quirks: bool,
}

/// The header field that carries the key unless somebody says otherwise: that of the IETF's draft.
pub const DEFAULT_KEY_HEADER: &str = "Idempotency-Key";

impl ProxyConfig {
    /// A proxy with these links, an axis that begins now, seed 0 and the default log limit.
    #[must_use]
    pub fn new(links: impl IntoIterator<Item = LinkConfig>) -> Self {
        Self {
            links: links.into_iter().collect(),
            time: Clock::base_now(),
            seed: 0,
            log_limit: DEFAULT_LOG_LIMIT,
            log_bytes: DEFAULT_LOG_BYTES,
            otlp: None,
            toxiproxy_quirks: false,
        }
    }

    /// Sets the time axis.
    #[must_use]
    pub fn time(mut self, time: TimeBase) -> Self {
        self.time = time;
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets whether Toxiproxy's oddities are back.
    #[must_use]
    pub fn toxiproxy_quirks(mut self, quirks: bool) -> Self {
        self.toxiproxy_quirks = quirks;
        self
    }

    /// Sets the log limit.
    #[must_use]
    pub fn log_limit(mut self, records: usize) -> Self {
        self.log_limit = records;
        self
    }

    /// Exports faults as OpenTelemetry spans.
    #[must_use]
    pub fn otlp(mut self, otlp: Option<OtlpConfig>) -> Self {
        self.otlp = otlp;
        self
    }

    /// Sets the log's limit in bytes.
    #[must_use]
    pub fn log_bytes(mut self, bytes: usize) -> Self {
        self.log_bytes = bytes;
        self
    }
}

/// One link: an address that clients connect to and an upstream behind it.
#[derive(Debug, Clone)]
pub struct LinkConfig {
    /// Its name, unique within the proxy.
    pub name: String,
    /// `host:port` where it listens; port 0 lets the kernel choose. Without a host it listens on every address, and the
    /// empty text means a free port of every address.
    pub listen: String,
    /// Whether it listens at all; a disabled link refuses connections.
    pub enabled: bool,
    /// `host:port` of the upstream, resolved at each dial. It may be set later; until then a dial fails.
    pub upstream: Option<String>,
    /// Whether it reads HTTP or passes bytes.
    pub mode: Mode,
    /// The header field that carries the idempotency key. Without one no key is read, and all requests count together:
    /// [`DEFAULT_KEY_HEADER`] is what the program and its API set, not this type.
    pub key_header: Option<String>,
    /// Named limits.
    pub limits: Limits,
    /// Toxics that are in force before the first connection is accepted; for byte links only.
    pub toxics: Vec<Toxic>,
    /// TLS on either side.
    pub tls: TlsConfig,
}

impl LinkConfig {
    /// An HTTP link on a free port of 127.0.0.1. It reads no key until it has a [`LinkConfig::key_header`].
    #[must_use]
    pub fn http(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            listen: "127.0.0.1:0".to_owned(),
            enabled: true,
            upstream: None,
            mode: Mode::Http,
            key_header: None,
            limits: Limits::default(),
            toxics: Vec::new(),
            tls: TlsConfig::default(),
        }
    }

    /// A TCP link on a free port of 127.0.0.1.
    #[must_use]
    pub fn tcp(name: impl Into<String>) -> Self {
        Self { mode: Mode::Tcp, ..Self::http(name) }
    }

    /// Sets where it listens, `host:port`.
    #[must_use]
    pub fn listen(mut self, address: impl ToString) -> Self {
        self.listen = address.to_string();
        self
    }

    /// Sets whether it listens.
    #[must_use]
    pub fn enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets the upstream's `host:port`.
    #[must_use]
    pub fn upstream(mut self, address: impl ToString) -> Self {
        self.upstream = Some(address.to_string());
        self
    }

    /// Sets the header field that carries the idempotency key.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Adds a toxic; it has to be a byte link.
    #[must_use]
    pub fn toxic(mut self, toxic: Toxic) -> Self {
        self.toxics.push(toxic);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Speaks TLS with the clients.
    #[must_use]
    pub fn tls_terminate(mut self, terminate: Terminate) -> Self {
        self.tls.terminate = Some(terminate);
        self
    }

    /// Speaks TLS with the upstream.
    #[must_use]
    pub fn tls_originate(mut self, originate: Originate) -> Self {
        self.tls.originate = Some(originate);
        self
    }
}

/// What a link understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// HTTP/1.1 and HTTP/2: attempts are recorded and every phase can be struck.
    Http,
    /// Bytes: connections are recorded and only `connect` can be struck.
    Tcp,
}

/// Limits of one link. Reaching one is visible in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open client connections; further ones wait in the kernel's backlog, and a note says so.
    pub connections: usize,
    /// Bytes of a request or response head; a longer request head is answered 431.
    pub head_bytes: usize,
    /// How long a request head may take from its first byte; then it is answered 408.
    pub head_time: Duration,
    /// Bytes of a body that the proxy keeps while a fault withholds it; a longer request is answered 413, and a longer
    /// answer counts as a failure of the upstream.
    pub withheld_bytes: usize,
    /// How long a dial to the upstream may take.
    pub dial_time: Duration,
    /// How long a TLS handshake may take, on either side.
    pub handshake_time: Duration,
    /// How long the upstream's answer is still awaited after the client has left or got its fault.
    pub late_answer_time: Duration,
    /// How long a connection that the proxy has closed is still read from, so that unread bytes do not turn its FIN
    /// into a RST.
    pub linger_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 16_384,
            head_bytes: 64 << 10,
            head_time: Duration::from_secs(60),
            withheld_bytes: 8 << 20,
            dial_time: Duration::from_secs(10),
            handshake_time: Duration::from_secs(10),
            late_answer_time: Duration::from_secs(30),
            linger_time: Duration::from_secs(2),
        }
    }
}
