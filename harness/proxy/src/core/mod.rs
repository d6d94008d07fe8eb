//! The parts of a running proxy: its links, which may come and go, and what they share.

mod links;
mod status;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use tokio::runtime::Handle;

use crate::clock::Clock;
use crate::config::ProxyConfig;
use crate::engine::Engine;
use crate::export::{Export, OtlpConfig, OtlpError, OtlpStats};
use crate::link::{Common, Link};
use crate::log::Log;
use crate::sync::{locked, read};
use crate::tls::Trust;

pub(crate) use links::check_upstream;
pub use links::{AddLinkError, MAX_LINKS};
pub use status::LinkStatus;

/// A running proxy, as the control plane and the owner see it.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) clock: Clock,
    pub(crate) seed: u64,
    quirks: bool,
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Log,
    pub(crate) trust: Trust,
    links: RwLock<BTreeMap<String, Arc<Link>>>,
    next_link: AtomicU64,
    conns: Arc<AtomicU64>,
    /// Where the data plane runs; the control plane has a runtime of its own.
    pub(crate) runtime: Handle,
    export: OnceLock<Export>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Core {
    /// Its data plane runs where this is called.
    pub(crate) fn new(config: &ProxyConfig) -> Self {
        let clock = Clock::new(config.time);
        let log = Log::new(config.log_limit, config.log_bytes);
        Self {
            clock,
            seed: config.seed,
            engine: Arc::new(Engine::new(clock, config.seed, log.clone())),
            log,
            quirks: config.toxiproxy_quirks,
            trust: Trust::default(),
            links: RwLock::default(),
            next_link: AtomicU64::new(0),
            conns: Arc::default(),
            runtime: Handle::current(),
            export: OnceLock::new(),
            panic: Mutex::default(),
        }
    }

    /// Exports faults as spans, from now on.
    pub(crate) fn export_to(&self, config: &OtlpConfig) -> Result<(), OtlpError> {
        let export = Export::start(config, &self.log, self.clock, self.seed)?;
        // Called once, at the start; a second export would be dropped, and so ended.
        let _one = self.export.set(export);
        Ok(())
    }

    /// What became of the spans; `None` without an export.
    pub(crate) fn otlp_stats(&self) -> Option<OtlpStats> {
        self.export.get().map(Export::stats)
    }

    /// Ends everything and waits until it is gone; the first panic of a background task.
    pub(crate) async fn stop(&self) -> Option<Box<dyn Any + Send>> {
        for link in self.all() {
            self.end(&link).await;
        }
        // Every window has its end in the log.
        self.engine.disarm_all();
        self.log.close();
        if let Some(export) = self.export.get() {
            export.finish().await;
        }
        locked(&self.panic).take()
    }

    /// Stops a link for good. Its rules and toxics go out of force when its connections have ended: nothing is let go by
    /// that.
    async fn end(&self, link: &Link) {
        self.keep(link.stop().await);
        self.engine.remove_link(link.id);
        link.toxics.clear();
    }

    /// Ends everything at once, without waiting.
    pub(crate) fn abort(&self) {
        self.all().iter().for_each(|link| link.abort());
        if let Some(export) = self.export.get() {
            export.abort();
        }
    }

    /// The links, sorted by name.
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        read(&self.links).values().cloned().collect()
    }

    /// Connections that were accepted so far.
    pub(crate) fn accepted(&self) -> u64 {
        self.conns.load(Ordering::Acquire)
    }

    fn common(&self) -> Common {
        Common {
            clock: self.clock,
            engine: Arc::clone(&self.engine),
            log: self.log.clone(),
            conns: Arc::clone(&self.conns),
            runtime: self.runtime.clone(),
        }
    }

    fn keep(&self, panic: Option<Box<dyn Any + Send>>) {
        if let Some(panic) = panic {
            locked(&self.panic).get_or_insert(panic);
        }
    }
}
