//! A running proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use evidence::{At, TimeBase};

use crate::config::{LinkConfig, ProxyConfig};
use crate::core::{AddLinkError, Core, LinkStatus, check_upstream};
use crate::engine::{Armed, DryCall, DryDecision, Lease, LeaseError, RuleReport, Scope, WaitError};
use crate::error::ProxyError;
use crate::export::OtlpStats;
use crate::link::LinkChange;
use crate::live::LiveAttempt;
use crate::log::Log;
use crate::rules::{Rule, RuleError, ScopeConfig, ScopeError};
use crate::tls::TlsError;
use crate::toxics::ToxicBoard;

/// A running proxy. Dropping it closes its ports at once and ends its connections; [`Proxy::shutdown`] also waits until
/// they are gone and raises a panic of a background task again.
#[derive(Debug)]
pub struct Proxy {
    core: Arc<Core>,
}

impl Proxy {
    /// Starts every link, or none. All of them accept connections when this returns. Needs a tokio runtime with I/O and
    /// time.
    ///
    /// # Errors
    /// When a name, an address or a header is not usable, or a port is taken.
    pub async fn start(config: ProxyConfig) -> Result<Self, ProxyError> {
        // On an error the half-started proxy is dropped, which closes what was opened.
        let proxy = Self { core: Arc::new(Core::new(&config)) };
        if let Some(otlp) = &config.otlp {
            proxy.core.export_to(otlp)?;
        }
        for link in config.links {
            proxy.core.add_link(link.apply_schemes()).await?;
        }
        Ok(proxy)
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// Adds a link to the running proxy. It accepts connections when this returns, unless its config says otherwise.
    ///
    /// # Errors
    /// When its name is taken, or a name, an address or a header is not usable, or the port is taken.
    pub async fn add_link(&self, config: LinkConfig) -> Result<LinkStatus, ProxyError> {
        self.core.add_link(config.apply_schemes()).await
    }

    /// Adds a link whose `rules` are in force before its first connection is accepted; all of it, or nothing.
    ///
    /// # Errors
    /// As [`Proxy::add_link`] and [`Proxy::arm`].
    pub async fn add_link_with(
        &self,
        config: LinkConfig,
        rules: Vec<Rule>,
    ) -> Result<(LinkStatus, Vec<Armed>), AddLinkError> {
        self.core.add_link_with(config.apply_schemes(), rules).await
    }

    /// The certificate (PEM) of the CA that this proxy signs with where no other is given: whoever connects to a link
    /// with [`Terminate`](crate::Terminate) has to trust it. It is generated for each proxy, and its key never leaves
    /// the process.
    ///
    /// # Errors
    /// When it cannot be generated.
    pub fn ca_pem(&self) -> Result<String, TlsError> {
        self.core.trust.own_pem().map(|pem| pem.to_string())
    }

    /// Changes a link, or nothing of it. A new address or upstream ends its connections; a change to what is there
    /// already ends none.
    ///
    /// # Errors
    /// When there is no such link, or it cannot listen there: it then goes on where it was.
    pub async fn change_link(&self, name: &str, change: LinkChange) -> Result<LinkStatus, ProxyError> {
        self.core.change_link(name, change).await
    }

    /// Takes a link away: its port is closed, its connections end, and rules that name it are disarmed.
    ///
    /// # Errors
    /// When there is no such link.
    pub async fn remove_link(&self, name: &str) -> Result<(), ProxyError> {
        self.core.remove_link(name).await
    }

    /// What a link is right now.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn link_status(&self, name: &str) -> Result<LinkStatus, ProxyError> {
        self.core.link_status(name)
    }

    /// Where a link listens.
    ///
    /// # Errors
    /// When there is no such link, or it is disabled.
    pub fn link_addr(&self, name: &str) -> Result<SocketAddr, ProxyError> {
        self.core.find(name)?.bound().ok_or_else(|| ProxyError::Disabled(name.to_owned()))
    }

    /// The toxics of a byte link, to be listed and changed.
    ///
    /// # Errors
    /// When there is no such link, or it reads HTTP.
    pub fn toxics(&self, name: &str) -> Result<Arc<ToxicBoard>, ProxyError> {
        self.core.toxics(name)
    }

    /// What the links are right now, sorted by name.
    #[must_use]
    pub fn links(&self) -> Vec<LinkStatus> {
        self.core.link_statuses()
    }

    /// Connections that were accepted since the start, on all links, also on those that are gone.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.core.accepted()
    }

    /// Points a link to another upstream, `host:port`. Requests that are already on their way end where they began.
    ///
    /// # Errors
    /// When there is no such link, or the address is not `host:port`.
    pub fn set_upstream(&self, name: &str, address: impl ToString) -> Result<(), ProxyError> {
        let address = address.to_string();
        check_upstream(name, &address)?;
        self.core.find(name)?.set_upstream(&address);
        Ok(())
    }

    /// Puts a rule in force: every decision after this returns sees it.
    ///
    /// # Errors
    /// Says which field does not hold and what would.
    pub fn arm(&self, rule: Rule) -> Result<Armed, RuleError> {
        let mut armed = self.core.engine.arm(vec![rule])?;
        // One rule in, one handle out.
        armed.pop().ok_or(RuleError::TooMany { limit: 0 })
    }

    /// Puts all rules in force in one step, or none. Among the rules that fit a call, the one armed first decides, and
    /// within one call of this the one that comes first; a rule whose schedule lets the call pass leaves it to the next.
    ///
    /// # Errors
    /// Says which rule and field does not hold and what would.
    pub fn arm_all(&self, rules: Vec<Rule>) -> Result<Vec<Armed>, RuleError> {
        self.core.engine.arm(rules)
    }

    /// Adds a scope: a part of the calls with rules, counters and a seed of its own. It goes when its handle does.
    ///
    /// # Errors
    /// Says which field does not hold and what would.
    pub fn scope(&self, config: ScopeConfig) -> Result<Scope, ScopeError> {
        self.core.engine.own_scope(config)
    }

    /// Grants a lease: rules and scopes that name it go when it is not renewed within `ttl`, or its handle is dropped.
    ///
    /// # Errors
    /// When `ttl` is no time or more than a day, or there are too many leases.
    pub fn lease(&self, ttl: Duration) -> Result<Lease, LeaseError> {
        let engine = &self.core.engine;
        engine.grant(None, ttl).map(|grant| Lease::new(Arc::clone(engine), &grant))
    }

    /// What `rules` would decide over `calls`, one after the other, if they were armed now; without rules, what those in
    /// force would decide from here on. Nothing is armed, and no counter moves.
    ///
    /// # Errors
    /// Says which rule and field does not hold and what would.
    pub fn dry_run(&self, rules: Option<Vec<Rule>>, calls: &[DryCall]) -> Result<Vec<DryDecision>, RuleError> {
        self.core.engine.dry_run(rules, None, calls)
    }

    /// What became of each rule: those in force, in the order they are asked, and then those that ended by themselves (their
    /// time to live or lease was over, or their link went).
    #[must_use]
    pub fn rule_reports(&self) -> Vec<RuleReport> {
        self.core.engine.rules().iter().map(|rule| rule.report()).collect()
    }

    /// Epoch of the fault set in force; it grows with every arming and disarming.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.core.engine.epoch()
    }

    /// The event log. The handle stays readable after the proxy is gone.
    #[must_use]
    pub fn log(&self) -> Log {
        self.core.log.clone()
    }

    /// How many requests have arrived on a link (their heads came), from its start.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn arrivals(&self, name: &str) -> Result<u64, ProxyError> {
        self.core.find(name).map(|link| link.live.arrivals())
    }

    /// How many requests have arrived on a link and have no record yet.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn in_flight(&self, name: &str) -> Result<usize, ProxyError> {
        self.core.find(name).map(|link| link.live.in_flight())
    }

    /// The requests that have arrived on a link and have no record yet, in the order they arrived.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn live(&self, name: &str) -> Result<Vec<LiveAttempt>, ProxyError> {
        self.core.find(name).map(|link| link.live.list())
    }

    /// Waits until at least `n` requests have arrived on a link since its start; returns how many did.
    ///
    /// # Errors
    /// When there is no such link, or `within` is over first.
    pub async fn wait_arrivals(&self, name: &str, n: u64, within: Duration) -> Result<u64, AskError> {
        let link = self.core.find(name)?;
        let live = &link.live;
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
        for link in self.core.all() {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            if !link.live.until(left, || link.live.in_flight() == 0).await {
                return Err(WaitError::Busy { link: link.name.clone(), left: link.live.in_flight(), within });
            }
        }
        Ok(())
    }

    /// What became of the exported spans; `None` without an export.
    #[must_use]
    pub fn otlp_stats(&self) -> Option<OtlpStats> {
        self.core.otlp_stats()
    }

    /// This moment on the proxy's axis.
    #[must_use]
    pub fn now(&self) -> At {
        self.core.clock.now()
    }

    /// The proxy's axis.
    #[must_use]
    pub fn time(&self) -> TimeBase {
        self.core.clock.base()
    }

    /// Closes the ports, ends every connection and waits until all are gone. Open exchanges are recorded as unfinished.
    ///
    /// # Panics
    /// Raises the panic of a background task again, if there was one.
    pub async fn shutdown(self) {
        if let Some(panic) = self.core.stop().await {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.core.abort();
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
