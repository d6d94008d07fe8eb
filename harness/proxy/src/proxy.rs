//! A running proxy.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use judge::evidence::{At, TimeBase};
use socket2::SockRef;
use tokio::net::TcpListener;

use crate::clock::Clock;
use crate::config::{LinkConfig, ProxyConfig};
use crate::engine::{Armed, Engine, KeyCounts, WaitError};
use crate::error::ProxyError;
use crate::link::{Link, Target};
use crate::live::{Live, LiveAttempt};
use crate::log::Log;
use crate::rules::{Rule, RuleError};
use crate::tasks::Tasks;
use crate::traffic::Flow;

/// A running proxy. Dropping it closes its ports at once and ends its connections; [`Proxy::shutdown`] also waits until
/// they are gone and raises a panic of a background task again.
#[derive(Debug)]
pub struct Proxy {
    clock: Clock,
    engine: Arc<Engine>,
    log: Log,
    links: Vec<Arc<Link>>,
    listeners: Vec<Arc<TcpListener>>,
    tasks: Arc<Tasks>,
    stopping: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts every link, or none. All of them accept connections when this returns. Needs a tokio runtime with I/O and
    /// time.
    ///
    /// # Errors
    /// When a name, an address or a header is not usable, or a port is taken.
    pub async fn start(config: ProxyConfig) -> Result<Self, ProxyError> {
        check(&config.links)?;
        let clock = Clock::new(config.time);
        let known = config.links.iter().map(|l| (l.name.clone(), l.mode));
        let mut proxy = Self {
            clock,
            engine: Arc::new(Engine::new(clock, config.seed, known)),
            log: Log::new(config.log_limit),
            links: Vec::new(),
            listeners: Vec::new(),
            tasks: Arc::new(Tasks::default()),
            stopping: Arc::new(AtomicBool::new(false)),
        };
        let conns = Arc::new(AtomicU64::new(0));
        for (index, link) in config.links.into_iter().enumerate() {
            let address = link.listen;
            let failed = |source| ProxyError::Listen { link: link.name.clone(), address, source };
            let listener = TcpListener::bind(address).await.map_err(failed)?;
            let address = listener.local_addr().map_err(failed)?;
            proxy.links.push(Arc::new(proxy.link(index, link, address, &conns)));
            proxy.listeners.push(Arc::new(listener));
        }
        for (link, listener) in proxy.links.iter().zip(&proxy.listeners) {
            proxy.tasks.spawn(Arc::clone(link).accept(Arc::clone(listener)));
        }
        Ok(proxy)
    }

    fn link(&self, index: usize, config: LinkConfig, address: SocketAddr, conns: &Arc<AtomicU64>) -> Link {
        let upstream = Target { address: config.upstream.as_deref().map(Arc::from), generation: 0 };
        Link {
            index,
            name: config.name,
            mode: config.mode,
            key_header: config.key_header,
            limits: config.limits,
            address,
            upstream: RwLock::new(upstream),
            clock: self.clock,
            engine: Arc::clone(&self.engine),
            log: self.log.clone(),
            live: Live::default(),
            flow: Flow::default(),
            tasks: Arc::clone(&self.tasks),
            conns: Arc::clone(conns),
            ordinals: Mutex::new(KeyCounts::default()),
            stopping: Arc::clone(&self.stopping),
        }
    }

    /// Where a link listens.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn link_addr(&self, name: &str) -> Result<SocketAddr, ProxyError> {
        self.find(name).map(|link| link.address)
    }

    /// Names of the links.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Points a link to another upstream, `host:port`. Requests that are already on their way end where they began.
    ///
    /// # Errors
    /// When there is no such link, or the address is not `host:port`.
    pub fn set_upstream(&self, name: &str, address: impl ToString) -> Result<(), ProxyError> {
        let address = address.to_string();
        check_upstream(name, &address)?;
        self.find(name)?.set_upstream(&address);
        Ok(())
    }

    /// Puts a rule in force: every decision after this returns sees it.
    ///
    /// # Errors
    /// Says which field does not hold and what would.
    pub fn arm(&self, rule: Rule) -> Result<Armed, RuleError> {
        let mut armed = self.engine.arm(vec![rule])?;
        // One rule in, one handle out.
        armed.pop().ok_or(RuleError::TooMany { limit: 0 })
    }

    /// Puts all rules in force in one step, or none. Among the rules that fit a call, the one armed first decides, and
    /// within one call of this the one that comes first; a rule whose schedule lets the call pass leaves it to the next.
    ///
    /// # Errors
    /// Says which rule and field does not hold and what would.
    pub fn arm_all(&self, rules: Vec<Rule>) -> Result<Vec<Armed>, RuleError> {
        self.engine.arm(rules)
    }

    /// Epoch of the fault set in force; it grows with every arming and disarming.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.engine.epoch()
    }

    /// The event log. The handle stays readable after the proxy is gone.
    #[must_use]
    pub fn log(&self) -> Log {
        self.log.clone()
    }

    /// How many requests have arrived on a link (their heads came), from its start.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn arrivals(&self, name: &str) -> Result<u64, ProxyError> {
        self.find(name).map(|link| link.live.arrivals())
    }

    /// How many requests have arrived on a link and have no record yet.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn in_flight(&self, name: &str) -> Result<usize, ProxyError> {
        self.find(name).map(|link| link.live.in_flight())
    }

    /// The requests that have arrived on a link and have no record yet, in the order they arrived.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn live(&self, name: &str) -> Result<Vec<LiveAttempt>, ProxyError> {
        self.find(name).map(|link| link.live.list())
    }

    /// Waits until at least `n` requests have arrived on a link since its start; returns how many did.
    ///
    /// # Errors
    /// When there is no such link, or `within` is over first.
    pub async fn wait_arrivals(&self, name: &str, n: u64, within: Duration) -> Result<u64, AskError> {
        let live = &self.find(name)?.live;
        if live.until(within, || live.arrivals() >= n).await {
            return Ok(live.arrivals());
        }
        Err(WaitError::Arrivals { link: name.to_owned(), wanted: n, seen: live.arrivals(), within }.into())
    }

    /// Waits until no request is in flight on any link: every attempt then has its record. Upstream calls whose client
    /// has left count as in flight until they end.
    ///
    /// # Errors
    /// When `within` is over first.
    pub async fn settle(&self, within: Duration) -> Result<(), WaitError> {
        let deadline = tokio::time::Instant::now() + within;
        for link in &self.links {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if !link.live.until(left, || link.live.in_flight() == 0).await {
                return Err(WaitError::Busy { link: link.name.clone(), left: link.live.in_flight(), within });
            }
        }
        Ok(())
    }

    /// This moment on the proxy's axis.
    #[must_use]
    pub fn now(&self) -> At {
        self.clock.now()
    }

    /// The proxy's axis.
    #[must_use]
    pub fn time(&self) -> TimeBase {
        self.clock.base()
    }

    /// Closes the ports, ends every connection and waits until all are gone. Open exchanges are recorded as unfinished.
    ///
    /// # Panics
    /// Raises the panic of a background task again, if there was one.
    pub async fn shutdown(mut self) {
        self.close();
        self.listeners.clear();
        if let Some(panic) = self.tasks.stop().await {
            std::panic::resume_unwind(panic);
        }
    }

    fn close(&self) {
        self.stopping.store(true, Ordering::Release);
        for listener in &self.listeners {
            // Refuses connections from this moment, also while the accepting task still holds the socket.
            let _gone = SockRef::from(listener.as_ref()).shutdown(std::net::Shutdown::Both);
        }
    }

    fn find(&self, name: &str) -> Result<&Arc<Link>, ProxyError> {
        self.links.iter().find(|link| link.name == name).ok_or_else(|| ProxyError::UnknownLink {
            link: name.to_owned(),
            links: self.links().collect::<Vec<_>>().join(", "),
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.close();
        self.tasks.abort();
    }
}

/// Why a question about a link has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The link is not there.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// It did not come in time.
    #[error(transparent)]
    Wait(#[from] WaitError),
}

fn check(links: &[LinkConfig]) -> Result<(), ProxyError> {
    if links.is_empty() {
        return Err(ProxyError::NoLinks);
    }
    for (i, link) in links.iter().enumerate() {
        let twice = links[..i].iter().any(|other| other.name == link.name);
        if twice || link.name.trim().is_empty() || link.name.contains(char::is_control) {
            return Err(ProxyError::BadName(link.name.clone()));
        }
        if let Some(address) = &link.upstream {
            check_upstream(&link.name, address)?;
        }
        if let Some(header) = &link.key_header
            && !crate::rules::is_token(header)
        {
            return Err(ProxyError::BadKeyHeader { link: link.name.clone(), header: header.clone() });
        }
    }
    Ok(())
}

fn check_upstream(link: &str, address: &str) -> Result<(), ProxyError> {
    let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).and_then(|(_, p)| p.parse::<u16>().ok());
    match port {
        Some(port) if port > 0 => Ok(()),
        _ => Err(ProxyError::BadUpstream { link: link.to_owned(), address: address.to_owned() }),
    }
}
