//! The control plane: an HTTP/1.1 server beside the links, with Toxiproxy's interface at its own paths and ours under
//! `/v1/`. It never waits for the data plane: every call is bounded, and what a call changes is swapped in atomically.

mod body;
mod conn;
mod go_json;
mod journal;
mod metrics;
mod pace;
mod reply;
mod request;
mod router;
mod server;
mod toxiproxy;
mod v1;
mod xid;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Mutex;

pub use journal::{Journal, Level};
pub use server::{ApiError, ApiServer, MAX_API_BODY_BYTES, MAX_API_CONNECTIONS};
pub use toxiproxy::TOXIPROXY_VERSION;

pub(crate) use reply::Reply;
pub(crate) use request::{Request, decoded};

use crate::core::Core;

/// What the control plane is started with.
#[derive(Debug, Clone, Default)]
pub struct ApiOptions {
    /// Toxiproxy's surprises are back; see the README for which.
    pub quirks: bool,
    /// `/metrics` has the bytes of each proxy.
    pub proxy_metrics: bool,
    /// `/metrics` has the figures of the process.
    pub runtime_metrics: bool,
    /// Where calls and their failures are logged; nowhere by default.
    pub journal: Journal,
}

/// What the handlers share.
#[derive(Debug)]
pub(crate) struct Api {
    pub(crate) core: Arc<Core>,
    pub(crate) options: ApiOptions,
    /// Where the control plane listens.
    pub(crate) address: SocketAddr,
    pub(crate) started: Instant,
    pub(crate) ids: xid::Ids,
    /// One `/populate` at a time.
    pub(crate) populating: Mutex<()>,
}

impl Api {
    fn new(core: Arc<Core>, options: ApiOptions, address: SocketAddr) -> Self {
        let (started, ids) = (Instant::now(), xid::Ids::new());
        Self { core, options, address, started, ids, populating: Mutex::new(()) }
    }
}
