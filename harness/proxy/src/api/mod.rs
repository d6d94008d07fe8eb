//! The control plane: an HTTP/1.1 server beside the links, with Toxiproxy's interface at its own paths and ours under
//! `/v1/`. It never waits for the data plane: every call is bounded, and what a call changes is swapped in atomically.

mod body;
mod conn;
pub(crate) mod go_json;
mod journal;
mod metrics;
mod pace;
mod reply;
pub(crate) mod request;
mod router;
mod server;
pub(crate) mod toxiproxy;
mod v1;
mod xid;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Mutex;

pub use journal::{Journal, Level};
pub use server::{ApiError, ApiServer, MAX_API_BODY_BYTES, MAX_API_CONNECTIONS};
pub use toxiproxy::{PopulateError, TOXIPROXY_VERSION, populate};

pub(crate) use reply::Reply;
pub(crate) use request::{Request, decoded};

use crate::core::Core;
use crate::engine::Armed;
use crate::sync::locked;

/// What the control plane is started with.
#[derive(Debug, Clone, Default)]
pub struct ApiOptions {
    /// `/metrics` has the bytes of each proxy.
    pub proxy_metrics: bool,
    /// `/metrics` has the figures of the process.
    pub runtime_metrics: bool,
    /// Key header of the HTTP links that a call creates without naming one; [`DEFAULT_KEY_HEADER`] when absent.
    ///
    /// [`DEFAULT_KEY_HEADER`]: crate::DEFAULT_KEY_HEADER
    pub key_header: Option<String>,
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
    /// Rules that were armed over the API: in force as long as they are here.
    pub(crate) armed: std::sync::Mutex<Vec<Armed>>,
}

impl Api {
    fn new(core: Arc<Core>, options: ApiOptions, address: SocketAddr) -> Self {
        let (started, ids) = (Instant::now(), xid::Ids::new());
        Self { core, options, address, started, ids, populating: Mutex::new(()), armed: std::sync::Mutex::default() }
    }

    /// Keeps rules in force.
    pub(crate) fn keep(&self, armed: Vec<Armed>) {
        let mut kept = locked(&self.armed);
        // Those that have ended by themselves need no handle any more.
        kept.retain(Armed::is_in_force);
        kept.extend(armed);
    }

    /// Takes every rule that was armed over the API out of force; returns how many.
    pub(crate) fn disarm_all(&self) -> usize {
        // Dropped after the lock is let go: what a rule holds goes on then.
        let armed = std::mem::take(&mut *locked(&self.armed));
        armed.iter().filter(|rule| rule.is_in_force()).count()
    }
}
