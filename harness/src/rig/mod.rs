//! The rig: starts, wires and stops the players of one scenario, and records what they saw.
//!
//! Bank, proxy, collector and canary are tasks of this process; the service under test is a child process. Everything
//! listens on ports that the system chose. Steps are driven by [`Rig::drive`], faults applied by [`Rig::during`], calls
//! held by [`Rig::hold_while`]; [`Rig::finish`] stops all players and seals the evidence.

mod bank;
mod breaker;
mod drive;
mod error;
mod finish;
mod pump;
mod service;
mod setup;
mod tape;
mod timeline;
mod window;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use chaos_proxy::{LinkConfig, Proxy, ProxyConfig};
use judge::evidence::{At, Header};
use judge::promise::{BreakerPolicy, IdempotencyPolicy, RetryPolicy};
use mock_bank::{Bank, BankConfig};
use tokio::sync::Mutex;

use crate::canary::{Canary, EchoServer};
use crate::clock::Clock;
use crate::collector::{Collector, CollectorConfig};
use crate::contract::Contract;
use crate::lanes::Place;
use crate::load::{Client, Order, OrderSource};
use crate::place::Process;
use crate::place::template::Vars;

pub use error::RigError;
pub(crate) use service::working_directory;
pub use setup::{Isolation, RigSpec};
pub use tape::Tape;
pub use timeline::TimedFault;

/// The proxy link that only the canary uses.
const CANARY_LINK: &str = "harness-canary";
/// Tasks of the canary.
const CANARY_TASKS: usize = 2;

/// The running players of one scenario.
#[derive(Debug)]
pub struct Rig {
    spec: RigSpec,
    clock: Clock,
    tape: Tape,
    bank: Bank,
    proxy: Proxy,
    collector: Collector,
    canary: Canary,
    echo: EchoServer,
    client: Arc<Client>,
    service: Mutex<Option<Process>>,
    vars: Vars,
    pump: pump::Pump,
    rules: AtomicU64,
    /// Whether the service was ever killed: its last spans are then lost with it.
    killed: AtomicBool,
    /// Whether the scenario has killed it and not started it again.
    down: AtomicBool,
    _lane: Place,
}

impl Rig {
    /// Waits for a lane, starts every player, and returns when the service is ready.
    ///
    /// # Errors
    /// [`RigError`]; nothing is left running.
    pub async fn start(spec: RigSpec) -> Result<Self, RigError> {
        let lane = spec.lanes.enter(spec.timed, spec.alone).await.map_err(RigError::Lanes)?;
        let clock = Clock::start();
        let folder = spec.folder.scenario(&spec.scenario)?;
        let header = header(&spec, clock);
        let tape = Tape::new(header.clone(), Some(folder.recorder(&header)?));
        let bank = Bank::start(BankConfig::default()).await?;
        let echo = EchoServer::start().await.map_err(RigError::Canary)?;
        let proxy = proxies(&spec, clock, &bank, &echo).await?;
        let collector = Collector::start(CollectorConfig::new(clock.base())).await?;
        let (process, vars) = service::launch(&spec, &folder, &proxy, &collector).await?;
        let source = OrderSource::new(spec.seed, &spec.scenario);
        let client = Arc::new(Client::new(service::request(&spec.contract, &vars)?, clock, tape.clone(), source)?);
        let canary =
            Canary::start(proxy.link_addr(CANARY_LINK)?, clock, CANARY_TASKS).await.map_err(RigError::Canary)?;
        let pump = pump::Pump::start(&spec, &vars, &tape, &proxy, clock)?;
        Ok(Self {
            spec,
            clock,
            tape,
            bank,
            proxy,
            collector,
            canary,
            echo,
            client,
            service: Mutex::new(Some(process)),
            vars,
            pump,
            rules: AtomicU64::new(0),
            killed: AtomicBool::new(false),
            down: AtomicBool::new(false),
            _lane: lane,
        })
    }

    /// The contract.
    #[must_use]
    pub fn contract(&self) -> &Contract {
        &self.spec.contract
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> At {
        self.clock.now()
    }

    /// The declared noise bound.
    #[must_use]
    pub fn eps(&self) -> Duration {
        self.spec.contract.noise.eps
    }

    /// An order that nobody has asked for yet.
    #[must_use]
    pub fn fresh_order(&self) -> Order {
        self.client.order()
    }

    /// Waits until a moment that the contract's promises name, e.g. the end of the open time.
    pub async fn wait_until(&self, at: At) {
        tokio::time::sleep(at.since(self.now())).await;
    }

    /// The retry promise.
    ///
    /// # Errors
    /// When the contract makes none.
    pub fn retry_policy(&self) -> Result<&RetryPolicy, RigError> {
        let policy = self.spec.contract.promises.retry.as_ref();
        policy.ok_or(RigError::NotPromised { promise: "[promises.retry]" })
    }

    /// The idempotency promise.
    ///
    /// # Errors
    /// When the contract makes none.
    pub fn idempotency_policy(&self) -> Result<&IdempotencyPolicy, RigError> {
        let policy = self.spec.contract.promises.idempotency.as_ref();
        policy.ok_or(RigError::NotPromised { promise: "[promises.idempotency]" })
    }

    /// The breaker promise.
    ///
    /// # Errors
    /// When the contract makes none.
    pub fn breaker_policy(&self) -> Result<&BreakerPolicy, RigError> {
        let policy = self.spec.contract.promises.breaker.as_ref();
        policy.ok_or(RigError::NotPromised { promise: "[promises.breaker]" })
    }

    /// What has been recorded so far.
    #[must_use]
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The link that faults strike.
    fn link(&self) -> &str {
        self.spec.contract.main_link()
    }

    fn rule_id(&self, word: &str) -> String {
        format!("{}-{word}", self.rules.fetch_add(1, Ordering::Relaxed))
    }
}

fn header(spec: &RigSpec, clock: Clock) -> Header {
    Header {
        run: spec.folder.id().to_owned(),
        scenario: spec.scenario.clone(),
        service: spec.contract.service.name.clone(),
        seed: spec.seed,
        placement: "process".to_owned(),
        time: clock.base(),
        eps_ns: u64::try_from(spec.contract.noise.eps.as_nanos()).unwrap_or(u64::MAX),
        recorder: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

async fn proxies(spec: &RigSpec, clock: Clock, bank: &Bank, echo: &EchoServer) -> Result<Proxy, RigError> {
    let mut links: Vec<_> = spec
        .contract
        .links
        .iter()
        .map(|(name, link)| LinkConfig::http(name).upstream(bank.address()).key_header(&link.key_header))
        .collect();
    links.push(LinkConfig::tcp(CANARY_LINK).upstream(echo.addr()));
    let config = ProxyConfig::new(links).time(clock.base()).seed(spec.seed);
    Ok(Proxy::start(config).await?)
}
