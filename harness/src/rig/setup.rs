//! What a rig is started with.

use std::sync::Arc;

use crate::contract::Contract;
use crate::lanes::Lanes;
use crate::place::Builder;
use crate::placement::Placement;
use crate::record::{ChildRegister, RunFolder};

/// The promise that is isolated by extra environment while a scenario runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Isolation {
    /// None: the service as declared.
    #[default]
    None,
    /// Retries and keys: `[isolate.retry]`.
    Retry,
    /// The breaker: `[isolate.breaker]`.
    Breaker,
    /// The retry budget: `[isolate.budget]`.
    Budget,
    /// The cap of the waits: `[isolate.cap]`.
    Cap,
    /// The expiry of keys: `[isolate.ttl]`.
    Ttl,
    /// Degraded answers: `[isolate.degradation]`.
    Degradation,
    /// The share of each dependency: `[isolate.bulkhead]`.
    Bulkhead,
}

impl Isolation {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::None, Self::Retry, Self::Breaker, Self::Budget, Self::Cap, Self::Ttl, Self::Degradation, Self::Bulkhead];

    /// The name of its table below `[isolate]`; `none` where there is none.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Retry => "retry",
            Self::Breaker => "breaker",
            Self::Budget => "budget",
            Self::Cap => "cap",
            Self::Ttl => "ttl",
            Self::Degradation => "degradation",
            Self::Bulkhead => "bulkhead",
        }
    }
}

/// One scenario to be: whose, which, with what seed, recorded where.
#[derive(Debug, Clone)]
pub struct RigSpec {
    pub(crate) contract: Arc<Contract>,
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    pub(crate) isolation: Isolation,
    pub(crate) timed: bool,
    pub(crate) alone: bool,
    pub(crate) again: bool,
    pub(crate) placement: Placement,
    pub(crate) folder: RunFolder,
    pub(crate) register: Option<ChildRegister>,
    pub(crate) builder: Builder,
    pub(crate) lanes: Lanes,
}

impl RigSpec {
    /// A rig for a scenario of a run.
    #[must_use]
    pub fn new(contract: Arc<Contract>, scenario: impl Into<String>, folder: RunFolder, lanes: Lanes) -> Self {
        Self {
            contract,
            scenario: scenario.into(),
            seed: 0,
            isolation: Isolation::None,
            timed: false,
            alone: false,
            again: false,
            placement: Placement::default(),
            folder,
            register: None,
            builder: Builder::default(),
            lanes,
        }
    }

    /// Sets the run's seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Isolates a promise.
    #[must_use]
    pub fn isolate(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Takes a place among the timed scenarios, which overlap less.
    #[must_use]
    pub fn timed(mut self, timed: bool) -> Self {
        self.timed = timed;
        self
    }

    /// Waits for every place of either lane: for a load that others would drown in, or that would drown.
    #[must_use]
    pub fn alone(mut self, alone: bool) -> Self {
        self.alone = alone;
        self
    }

    /// The repetition of a scenario that a pause of the machine has spoiled: waits for every place of either lane, and then
    /// for a moment in which the machine is quiet.
    #[must_use]
    pub fn again(mut self, again: bool) -> Self {
        self.again = again;
        self
    }

    /// Sets where the players are.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Notes the service's process where `harness sweep` finds it.
    #[must_use]
    pub fn register(mut self, register: ChildRegister) -> Self {
        self.register = Some(register);
        self
    }

    /// Shares what was built.
    #[must_use]
    pub fn builder(mut self, builder: Builder) -> Self {
        self.builder = builder;
        self
    }
}
