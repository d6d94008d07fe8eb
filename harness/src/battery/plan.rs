//! Which scenarios a contract asks for.

use judge::promise::BreakerProfile;

use super::{breaker as breaker_scenarios, idempotency as key_scenarios, restart, retry as retry_scenarios, steady};
use crate::contract::Contract;
use crate::rig::{Isolation, Rig, RigError};

/// A scenario of the battery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// No fault: the baseline.
    Steady,
    /// The gaps of many independent retries.
    RetryLaw,
    /// Retries of a synchronised herd.
    RetryHerd,
    /// What is retried and what is not.
    RetryTable,
    /// One payment through every fault point, by one caller and by ten.
    OneEffect,
    /// Many callers, one key.
    Duplicates,
    /// Keys over a kill and a restart.
    Restart,
    /// The threshold, and the fast failure after it.
    BreakerTrip,
    /// Half-open, the single probe, and the way back.
    BreakerRecovery,
    /// Probes that fail, are refused, or hang.
    BreakerRelapse,
}

/// The scenarios that a contract's promises ask for.
#[must_use]
pub fn plan(contract: &Contract) -> Vec<Scenario> {
    Scenario::ALL.into_iter().filter(|s| s.applies(contract)).collect()
}

impl Scenario {
    /// All of them, longest first: started in this order they overlap best.
    pub const ALL: [Scenario; 10] = [
        Scenario::RetryLaw,
        Scenario::OneEffect,
        Scenario::BreakerRelapse,
        Scenario::RetryTable,
        Scenario::BreakerRecovery,
        Scenario::Restart,
        Scenario::Duplicates,
        Scenario::BreakerTrip,
        Scenario::RetryHerd,
        Scenario::Steady,
    ];

    /// Its name in folders, reports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Scenario::Steady => "steady",
            Scenario::RetryLaw => "retry-law",
            Scenario::RetryHerd => "retry-herd",
            Scenario::RetryTable => "retry-table",
            Scenario::OneEffect => "one-effect",
            Scenario::Duplicates => "duplicates",
            Scenario::Restart => "restart",
            Scenario::BreakerTrip => "breaker-trip",
            Scenario::BreakerRecovery => "breaker-recovery",
            Scenario::BreakerRelapse => "breaker-relapse",
        }
    }

    /// The scenario of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Whether the contract promises what it needs.
    #[must_use]
    pub fn applies(self, contract: &Contract) -> bool {
        let promises = &contract.promises;
        let half_opens = |profile| profile != BreakerProfile::Ejection;
        match self {
            Scenario::Steady => true,
            Scenario::RetryLaw | Scenario::RetryHerd => promises.retry.as_ref().is_some_and(|r| r.attempts > 1),
            Scenario::RetryTable => promises.retry.is_some(),
            Scenario::OneEffect | Scenario::Duplicates => promises.idempotency.is_some(),
            Scenario::Restart => promises.idempotency.as_ref().is_some_and(|i| i.survives_restart),
            Scenario::BreakerTrip => promises.breaker.is_some(),
            Scenario::BreakerRecovery | Scenario::BreakerRelapse => {
                promises.breaker.as_ref().is_some_and(|b| half_opens(b.profile))
            }
        }
    }

    /// The promise that is isolated while it runs.
    #[must_use]
    pub fn isolation(self) -> Isolation {
        match self {
            Scenario::Steady => Isolation::None,
            Scenario::RetryLaw
            | Scenario::RetryHerd
            | Scenario::RetryTable
            | Scenario::OneEffect
            | Scenario::Duplicates
            | Scenario::Restart => Isolation::Retry,
            Scenario::BreakerTrip | Scenario::BreakerRecovery | Scenario::BreakerRelapse => Isolation::Breaker,
        }
    }

    /// Whether its verdicts hang on times, so that a noisy machine makes them inconclusive.
    #[must_use]
    pub fn is_timed(self) -> bool {
        matches!(
            self,
            Scenario::RetryLaw
                | Scenario::RetryHerd
                | Scenario::BreakerTrip
                | Scenario::BreakerRecovery
                | Scenario::BreakerRelapse
        )
    }

    /// Runs its steps.
    ///
    /// # Errors
    /// When the rig fails; what the service does wrong is evidence, not an error.
    pub async fn run(self, rig: &Rig) -> Result<(), RigError> {
        match self {
            Scenario::Steady => steady::run(rig).await,
            Scenario::RetryLaw => retry_scenarios::law(rig).await,
            Scenario::RetryHerd => retry_scenarios::herd(rig).await,
            Scenario::RetryTable => retry_scenarios::table(rig).await,
            Scenario::OneEffect => key_scenarios::one_effect(rig).await,
            Scenario::Duplicates => key_scenarios::duplicates(rig).await,
            Scenario::Restart => restart::run(rig).await,
            Scenario::BreakerTrip => breaker_scenarios::trip(rig).await,
            Scenario::BreakerRecovery => breaker_scenarios::recovery(rig).await,
            Scenario::BreakerRelapse => breaker_scenarios::relapse(rig).await,
        }
    }
}
