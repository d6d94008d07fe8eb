//! What a scenario is, and which of them a contract asks for.

use std::fmt;
use std::pin::Pin;

use judge::Finding;
use judge::checks::{Check, idempotency, retry, trust};
use judge::evidence::Evidence;

use super::SCENARIOS;
use crate::contract::Contract;
use crate::placement::Placement;
use crate::rig::{Isolation, Rig, RigError};

/// The steps of a scenario, running.
pub(super) type Steps<'r> = Pin<Box<dyn Future<Output = Result<(), RigError>> + Send + 'r>>;

/// A scenario of the battery: what it needs, what it does, and which checks judge it.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name in folders, reports and on the command line.
    pub name: &'static str,
    /// The promise that is isolated while it runs.
    pub isolation: Isolation,
    /// Whether its verdicts hang on times, so that a noisy machine makes them inconclusive.
    pub timed: bool,
    /// Whether it runs while no other does: what it measures is a rate, or small against what other scenarios do to the
    /// machine.
    pub alone: bool,
    /// Whether it kills instances of the service, starts them again, or starts another.
    pub restarts: bool,
    /// Whether the contract promises what it needs.
    pub(super) applies: fn(&Contract) -> bool,
    /// Its steps.
    pub(super) run: for<'r> fn(&'r Rig) -> Steps<'r>,
    /// The checks of its own; those of trust are added to every scenario.
    pub(super) checks: fn(&Contract) -> Vec<Check>,
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scenario({})", self.name)
    }
}

/// The scenarios that a contract's promises ask for.
#[must_use]
pub fn plan(contract: &Contract) -> Vec<&'static Scenario> {
    SCENARIOS.iter().copied().filter(|s| s.applies(contract)).collect()
}

/// Those of them that can run there.
#[must_use]
pub(crate) fn plan_in(placement: Placement, contract: &Contract) -> Vec<&'static Scenario> {
    plan(contract).into_iter().filter(|s| s.unavailable(placement, contract).is_none()).collect()
}

impl Scenario {
    /// The scenario of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().copied().find(|s| s.name == name)
    }

    /// The names of all scenarios, for messages.
    #[must_use]
    pub fn names() -> String {
        SCENARIOS.iter().map(|s| s.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether the contract promises what it needs.
    #[must_use]
    pub fn applies(&self, contract: &Contract) -> bool {
        (self.applies)(contract)
    }

    /// Why it cannot run there, although the contract promises what it needs.
    #[must_use]
    pub fn unavailable(&self, placement: Placement, contract: &Contract) -> Option<String> {
        if self.restarts && !placement.restarts() {
            return Some(format!("HARNESS_RIG={}: nothing can be killed and started again there", placement.word()));
        }
        let attach = contract.attach.as_ref().filter(|_| placement == Placement::Attach)?;
        let word = self.isolation.word();
        let absent = attach.service(self.isolation).is_none();
        absent.then(|| {
            format!("attach.services.{word}: an instance of the service that runs with what [isolate.{word}] declares")
        })
    }

    /// Runs its steps.
    ///
    /// # Errors
    /// When the rig fails; what the service does wrong is evidence, not an error.
    pub async fn run(&self, rig: &Rig) -> Result<(), RigError> {
        (self.run)(rig).await
    }

    /// The checks that judge its evidence, by the contract's promises.
    #[must_use]
    pub fn checks(&self, contract: &Contract) -> Vec<Check> {
        let mut checks = self.trust(contract);
        checks.extend((self.checks)(contract));
        checks
    }

    /// Judges its evidence by those checks.
    #[must_use]
    pub fn judge(&self, contract: &Contract, evidence: &Evidence) -> Vec<Finding> {
        self.checks(contract).iter().map(|check| check.judge(evidence)).collect()
    }

    /// Whether the evidence can be trusted at all.
    fn trust(&self, contract: &Contract) -> Vec<Check> {
        let mut checks = vec![trust::faults_fired()];
        if self.timed {
            checks.push(trust::canary_is_quiet(contract.noise));
        }
        if contract.telemetry.spans {
            checks.push(trust::spans_match_wire(contract.main_link()));
        }
        checks
    }
}

/// One payment moves money once: for scenarios whose payments end one way or the other.
pub(super) fn money(contract: &Contract) -> Option<Check> {
    let promised = contract.promises.idempotency.is_some() || contract.ledger.is_some();
    promised.then(|| idempotency::exactly_one_effect(contract.main_link()))
}

/// Key and payload stay as they are over all attempts: for scenarios with retries.
pub(super) fn same_request(contract: &Contract) -> [Check; 2] {
    [retry::key_is_stable(contract.main_link()), retry::payload_is_stable(contract.main_link())]
}
