//! A chaos proxy and mock banks that run somewhere else, in containers or in a stack that is already up, driven over their
//! APIs (the proxy's under `/v1/`, see its own pages).
//!
//! What it arms here hangs on a lease: when this process is killed, the faults go with it. Moments come out on the run's
//! axis. That takes one `CLOCK_MONOTONIC` for both, so the proxy has to run on the same machine.

mod api;
mod armed;
mod bank;
mod error;
mod lease;
mod log;

use std::net::SocketAddr;
use std::time::Duration;

use chaos_proxy::Rule;
use judge::evidence::TimeBase;
use serde::Deserialize;
use tokio::time::{Instant, sleep};

pub use armed::RemoteArmed;
pub use bank::RemoteBank;
pub use error::RemoteError;
pub use log::{RemoteLog, RemotePage};

use api::Api;
use lease::Lease;

/// How often a wait for the last attempts looks.
const LOOK: Duration = Duration::from_millis(10);

/// A connection to such a proxy. Dropping it lets its lease run out, which takes everything out of force.
#[derive(Debug)]
pub struct RemoteProxy {
    api: Api,
    axes: Axes,
    lease: Lease,
}

/// The proxy's time axis and the run's.
#[derive(Debug, Clone, Copy)]
struct Axes {
    theirs: TimeBase,
    ours: TimeBase,
}

/// What the proxy says of a link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteLink {
    /// Its name.
    pub name: String,
    /// `http` or `tcp`.
    pub mode: String,
    /// Where it listens, as the proxy sees it.
    pub listen: String,
    /// Where it leads; a link without one fails every call.
    pub upstream: Option<String>,
    /// Whether it accepts connections.
    pub enabled: bool,
    /// Requests that have arrived since it started.
    pub arrivals: u64,
    /// Requests that have arrived and have no record yet.
    pub in_flight: u64,
}

#[derive(Deserialize)]
struct Links {
    links: Vec<RemoteLink>,
}

#[derive(Deserialize)]
struct One {
    link: RemoteLink,
}

impl RemoteProxy {
    /// Greets the proxy whose API is at `address`; `run` is the axis that moments are placed on.
    ///
    /// # Errors
    /// When nobody answers, or somebody else than a chaos proxy with `/v1/`.
    pub async fn connect(address: SocketAddr, run: TimeBase) -> Result<Self, RemoteError> {
        let api = Api::at(address, "chaos proxy")?;
        let theirs = log::greet(&api).await?;
        let lease = Lease::take(&api).await?;
        Ok(Self { api, axes: Axes { theirs, ours: run }, lease })
    }

    /// All links.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn links(&self) -> Result<Vec<RemoteLink>, RemoteError> {
        Ok(self.api.get::<Links>("/v1/links").await?.links)
    }

    /// One link.
    ///
    /// # Errors
    /// When the proxy does not answer, or has no such link.
    pub async fn link(&self, name: &str) -> Result<RemoteLink, RemoteError> {
        Ok(self.api.get::<One>(&format!("/v1/links/{}", api::segment(name))).await?.link)
    }

    /// How many requests have arrived on a link since it started.
    ///
    /// # Errors
    /// As [`RemoteProxy::link`].
    pub async fn arrivals(&self, name: &str) -> Result<u64, RemoteError> {
        Ok(self.link(name).await?.arrivals)
    }

    /// Arms a rule: it is in force when this returns.
    ///
    /// # Errors
    /// When the proxy refuses it, and says why, or does not answer.
    pub async fn arm(&self, rule: Rule) -> Result<RemoteArmed, RemoteError> {
        armed::arm(&self.api, self.axes, rule.lease(self.lease.id())).await
    }

    /// Waits until no request is in flight on any link: every attempt then has its record.
    ///
    /// # Errors
    /// When `within` is over first, or the proxy does not answer.
    pub async fn settle(&self, within: Duration) -> Result<(), RemoteError> {
        let deadline = Instant::now() + within;
        loop {
            let links = self.links().await?;
            let Some(busy) = links.iter().find(|link| link.in_flight > 0) else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(RemoteError::Busy { link: busy.name.clone(), left: busy.in_flight, within });
            }
            sleep(LOOK).await;
        }
    }

    /// A reader of the proxy's log, from now on: what was there before belongs to somebody else.
    ///
    /// # Errors
    /// When the proxy does not answer.
    pub async fn log(&self) -> Result<RemoteLog, RemoteError> {
        RemoteLog::from_now(self.api.clone(), self.axes).await
    }

    /// Takes out of force whatever is still armed.
    ///
    /// # Errors
    /// When the proxy does not answer; the lease runs out all the same.
    pub async fn close(self) -> Result<(), RemoteError> {
        self.lease.give_back(&self.api).await
    }
}
