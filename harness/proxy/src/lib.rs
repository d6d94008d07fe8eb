//! A programmable chaos proxy that is also the witness of every attempt.
//!
//! A [`Proxy`] has named links. Each accepts connections and passes them to its upstream, as HTTP or as bytes.
//! [`Rule`]s that are armed on it strike chosen calls at a chosen phase of the exchange; a handle ([`Armed`]) keeps a
//! rule in force, and also releases the calls that it holds. Everything that happens is written to a bounded [`Log`] as
//! the types of `evidence`.
//!
//! ```no_run
//! use chaos_proxy::{Effect, Fault, LinkConfig, Proxy, ProxyConfig, Rule, Schedule};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let bank = LinkConfig::http("bank").upstream("127.0.0.1:9000").key_header("Idempotency-Key");
//! let proxy = Proxy::start(ProxyConfig::new([bank])).await?;
//! println!("point the service at http://{}", proxy.link_addr("bank")?);
//!
//! // The bank answers the first call of every key, and the client gets a RST instead of the answer.
//! let lost = Rule::new("lost", Fault::reply_lost(Effect::Reset)).schedule(Schedule::fail_first(1));
//! let armed = proxy.arm(lost)?;
//! // ... load ...
//! let window = armed.disarm();
//! assert!(window.fired > 0);
//! let evidence = proxy.log().drain();
//! proxy.shutdown().await;
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]

mod api;
mod clock;
mod config;
mod conn;
mod core;
mod engine;
mod error;
mod export;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod h2;
mod http;
mod link;
mod live;
mod log;
mod physics;
mod proxy;
mod rules;
mod serve;
mod strict;
mod strike;
mod sync;
mod tasks;
mod tcp;
mod tls;
mod toxics;
mod traffic;
mod wire;

pub use api::{
    ApiError, ApiOptions, ApiServer, Journal, Level, MAX_API_BODY_BYTES, MAX_API_CONNECTIONS, PopulateError,
    TOXIPROXY_VERSION, populate,
};
pub use clock::Clock;
pub use config::{DEFAULT_KEY_HEADER, DEFAULT_LOG_BYTES, DEFAULT_LOG_LIMIT, Limits, LinkConfig, Mode, ProxyConfig};
pub use core::{AddLinkError, LinkStatus, MAX_LINKS};
pub use engine::{
    Armed, DryCall, DryDecision, Held, Lease, LeaseError, MAX_DRY_CALLS, MAX_DRY_LOOKS, MAX_LEASE_TTL, MAX_LEASES,
    MAX_RULES, MAX_SCOPES, RuleCount, RuleReport, Scope, WaitError,
};
pub use error::ProxyError;
pub use export::{OTLP_FLUSH_TIME, OtlpConfig, OtlpError, OtlpStats};
pub use link::LinkChange;
pub use live::LiveAttempt;
pub use log::lines::{EVENTS_FORMAT, EVENTS_VERSION, events_end, events_header, push_record};
pub use log::{Depth, Event, HISTORY, Log, MAX_PAGE, Page, SUBSCRIPTION_LIMIT, Subscription};
pub use physics::{Distribution, DistributionError, MAX_DELAY_MS, MAX_TABLE_POINTS};
pub use proxy::{AskError, Proxy};
pub use rules::{
    Delay, Effect, Expect, Fault, Finding, GrpcCode, GrpcStatus, HeaderIs, HoldThen, Http2Code, MAX_RULES_BYTES,
    Malformed, Match, OrdinalRange, Part, Patch, Per, Phase, RetryAfter, Rule, RuleError, Schedule, ScopeConfig,
    ScopeError, ScopeMatch, Step, Then, Trickle, rules_from_json,
};
pub use tls::{CertificateFault, Identity, Originate, Pem, Terminate, TlsConfig, TlsError};
pub use toxics::{
    AttributeError, AttributeValue, Change, Direction, MAX_TOXICS, Share, Stream, StreamError, Toxic, ToxicBoard,
    ToxicError, ToxicKind, ToxicParseError,
};

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
