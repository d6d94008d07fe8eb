//! The rig: starts, wires and stops the players of one scenario, and records what they saw.
//!
//! Banks, proxy, collector and canary are tasks of this process; the service under test, its replica and the further
//! services are child processes. Everything listens on ports that the system chose. Steps are driven by [`Rig::drive`], faults applied by [`Rig::during`], calls
//! held by [`Rig::hold_while`]; [`Rig::finish`] stops all players and seals the evidence.

mod bank;
mod breaker;
mod canaries;
mod cast;
mod drive;
mod error;
mod finish;
mod gate;
mod overlap;
mod players;
mod pump;
mod replica;
mod service;
mod setup;
mod stack;
mod tape;
mod timeline;
mod topology;
mod window;
mod wire;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use judge::evidence::{At, Header, LedgerRow};
use judge::promise::{BreakerPolicy, DegradationPolicy, IdempotencyPolicy, RetryPolicy};
use tokio::sync::Mutex;

use crate::canary;
use crate::clock::Clock;
use crate::collector::Collector;
use crate::contract::Contract;
use crate::lanes::Place;
use crate::load::{Client, Order, OrderSource};
use crate::place::template::Vars;
use crate::placement::Placement;
use crate::record::ScenarioFolder;

pub use error::RigError;
pub use overlap::Late;
pub(crate) use service::working_directory;
pub use setup::{Isolation, RigSpec};
pub use tape::Tape;
pub use timeline::TimedFault;

/// The proxy link that only the canary uses.
const CANARY_LINK: &str = "harness-canary";

/// The running players of one scenario.
#[derive(Debug)]
pub struct Rig {
    spec: RigSpec,
    clock: Clock,
    tape: Tape,
    /// By the name of the link that each stands behind.
    banks: BTreeMap<String, bank::Till>,
    wire: wire::Wire,
    collector: Collector,
    /// Until the last attempt has ended.
    canaries: Option<canaries::Canaries>,
    client: Arc<Client>,
    players: Mutex<players::Players>,
    folder: ScenarioFolder,
    /// Variables of every process.
    common: Vars,
    /// Variables of the first instance.
    vars: Vars,
    pump: pump::Pump,
    /// Rows of a ledger that others use too, as they were before the first step.
    before: HashSet<LedgerRow>,
    rules: AtomicU64,
    _lane: Place,
}

impl Rig {
    /// Waits for a lane, starts every player, and returns when the service is ready.
    ///
    /// # Errors
    /// [`RigError`]; nothing is left running.
    pub async fn start(spec: RigSpec) -> Result<Self, RigError> {
        let lane = spec
            .lanes
            .enter(spec.timed, spec.alone || spec.again || spec.placement == Placement::Attach)
            .await
            .map_err(RigError::Lanes)?;
        if spec.again {
            canary::quiet_moment(spec.contract.noise.eps / 2).await.map_err(RigError::Canary)?;
        }
        let clock = Clock::start();
        let folder = spec.folder.scenario(&spec.scenario)?;
        let header = header(&spec, clock);
        let tape = Tape::new(header.clone(), Some(folder.recorder(&header)?));
        let cast = cast::Cast::of(&spec, &folder, clock).await?;
        let cast::Cast { banks, wire, collector, players, common, vars, echo, canary } = cast;
        let client = client(&spec, &vars, clock, &tape)?;
        let canaries = canaries::Canaries::start(canary, echo, clock, spec.alone.then_some(&folder)).await?;
        players.watched(&spec.contract.service.name).for_each(|(name, process)| canaries.watch(&name, process));
        let pump = pump::Pump::start(&spec, &vars, &tape, &wire, clock).await?;
        let mut rig = Self {
            spec,
            clock,
            tape,
            banks,
            wire,
            collector,
            canaries: Some(canaries),
            client,
            players: Mutex::new(players),
            folder,
            common,
            vars,
            pump,
            before: HashSet::new(),
            rules: AtomicU64::new(0),
            _lane: lane,
        };
        rig.before = rig.rows_of_others().await?;
        Ok(rig)
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

    /// The promise of degraded answers.
    ///
    /// # Errors
    /// When the contract makes none.
    pub fn degradation_policy(&self) -> Result<&DegradationPolicy, RigError> {
        let policy = self.spec.contract.promises.degradation.as_ref();
        policy.ok_or(RigError::NotPromised { promise: "[promises.degradation]" })
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

/// The load driver.
fn client(spec: &RigSpec, vars: &Vars, clock: Clock, tape: &Tape) -> Result<Arc<Client>, RigError> {
    // A stack that goes on living knows the keys of earlier runs, and the same seed would make them again.
    let name = match spec.placement {
        Placement::Process => spec.scenario.clone(),
        Placement::Attach => format!("{} of {}", spec.scenario, spec.folder.id()),
    };
    let source = OrderSource::new(spec.seed, &name);
    let client = Client::new(&vars["service.url"], service::request(&spec.contract)?, clock, tape.clone(), source)?;
    Ok(Arc::new(client.with_routes(service::routes(&spec.contract)?)))
}

fn header(spec: &RigSpec, clock: Clock) -> Header {
    Header {
        run: spec.folder.id().to_owned(),
        scenario: spec.scenario.clone(),
        service: spec.contract.service.name.clone(),
        seed: spec.seed,
        placement: spec.placement.word().to_owned(),
        time: clock.base(),
        eps_ns: u64::try_from(spec.contract.noise.eps.as_nanos()).unwrap_or(u64::MAX),
        recorder: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
