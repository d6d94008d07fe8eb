//! The chaos proxy as the rig sees it: in this process, or somewhere else and driven over its API.

use std::time::Duration;

use chaos_proxy::{Armed, Log, Proxy, Rule};
use judge::evidence::{FaultWindow, Record};

use super::RigError;
use crate::remote::{RemoteArmed, RemoteLog, RemoteProxy};

/// The proxy of a rig.
#[derive(Debug)]
pub(super) enum Wire {
    /// Tasks of this process.
    Here(Proxy),
    /// Another process.
    There(RemoteProxy),
}

impl Wire {
    /// Puts a rule in force.
    pub(super) async fn arm(&self, rule: Rule) -> Result<InForce, RigError> {
        Ok(match self {
            Self::Here(proxy) => InForce::Here(proxy.arm(rule)?),
            Self::There(proxy) => InForce::There(proxy.arm(rule).await?),
        })
    }

    /// How many calls have reached a link since the proxy started.
    pub(super) async fn arrivals(&self, link: &str) -> Result<u64, RigError> {
        Ok(match self {
            Self::Here(proxy) => proxy.arrivals(link)?,
            Self::There(proxy) => proxy.arrivals(link).await?,
        })
    }

    /// Waits until no call is under way; why there still is one, otherwise.
    pub(super) async fn settle(&self, within: Duration) -> Result<(), String> {
        match self {
            Self::Here(proxy) => proxy.settle(within).await.map_err(|e| e.to_string()),
            Self::There(proxy) => proxy.settle(within).await.map_err(|e| e.to_string()),
        }
    }

    /// A reader of its log, from now on.
    pub(super) async fn log(&self) -> Result<WireLog, RigError> {
        Ok(match self {
            Self::Here(proxy) => WireLog::Here(proxy.log()),
            Self::There(proxy) => WireLog::There { log: Box::new(proxy.log().await?), lost: 0 },
        })
    }

    /// Ends it, or what this rig has done to it.
    pub(super) async fn close(self) -> Result<(), RigError> {
        match self {
            Self::Here(proxy) => proxy.shutdown().await,
            Self::There(proxy) => proxy.close().await?,
        }
        Ok(())
    }
}

/// A rule in force.
#[derive(Debug)]
pub(super) enum InForce {
    /// In this process.
    Here(Armed),
    /// Elsewhere, on a lease.
    There(RemoteArmed),
}

impl InForce {
    /// Calls that wait at its gate.
    pub(super) async fn held(&self) -> Result<usize, RigError> {
        Ok(match self {
            Self::Here(armed) => armed.held().len(),
            Self::There(armed) => armed.held().await?,
        })
    }

    /// Lets go those calls that wait longest, so many.
    pub(super) async fn release(&self, n: usize) -> Result<(), RigError> {
        match self {
            Self::Here(armed) => drop(armed.release(n)),
            Self::There(armed) => armed.release(n).await?,
        }
        Ok(())
    }

    /// Takes it out of force.
    pub(super) async fn disarm(self) -> Result<FaultWindow, RigError> {
        Ok(match self {
            Self::Here(armed) => armed.disarm(),
            Self::There(armed) => armed.disarm().await?,
        })
    }
}

/// A reader of the proxy's log.
#[derive(Debug)]
pub(super) enum WireLog {
    /// In this process.
    Here(Log),
    /// Elsewhere.
    There {
        /// The reader.
        log: Box<RemoteLog>,
        /// Records that it found to be lost.
        lost: u64,
    },
}

impl WireLog {
    /// Everything since the last reading.
    pub(super) async fn read(&mut self) -> Result<Vec<Record>, RigError> {
        match self {
            Self::Here(log) => Ok(log.drain()),
            Self::There { log, lost } => {
                let page = log.read().await?;
                *lost += page.lost;
                Ok(page.records)
            }
        }
    }

    /// Records that nobody can read any more.
    pub(super) fn lost(&self) -> u64 {
        match self {
            Self::Here(log) => log.dropped(),
            Self::There { lost, .. } => *lost,
        }
    }
}
