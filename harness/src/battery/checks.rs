//! Which checks judge which scenario.

use judge::Finding;
use judge::checks::{Check, breaker, idempotency, retry, trust};
use judge::evidence::Evidence;
use judge::promise::{BreakerPolicy, IdempotencyPolicy, RetryPolicy};

use super::Scenario;
use crate::contract::Contract;
use crate::rig::Isolation;

impl Scenario {
    /// The checks that judge its evidence, by the contract's promises.
    #[must_use]
    pub fn checks(self, contract: &Contract) -> Vec<Check> {
        let promises = &contract.promises;
        let mut checks = self.trust(contract);
        checks.extend(promises.retry.iter().flat_map(|p| self.retry(contract, p)));
        checks.extend(promises.idempotency.iter().flat_map(|p| self.idempotency(contract, p)));
        checks.extend(promises.breaker.iter().flat_map(|p| self.breaker(contract, p)));
        let link = contract.main_link();
        match self {
            Scenario::Steady => checks.push(trust::steady_state(link)),
            Scenario::RetryLaw | Scenario::RetryTable | Scenario::OneEffect => {
                checks.extend([retry::key_is_stable(link), retry::payload_is_stable(link)]);
            }
            _ => {}
        }
        let moves_money = matches!(
            self,
            Scenario::Steady | Scenario::RetryTable | Scenario::OneEffect | Scenario::Duplicates | Scenario::Restart
        );
        if moves_money && (promises.idempotency.is_some() || contract.ledger.is_some()) {
            checks.push(idempotency::exactly_one_effect(link));
        }
        checks
    }

    /// Judges its evidence by those checks.
    #[must_use]
    pub fn judge(self, contract: &Contract, evidence: &Evidence) -> Vec<Finding> {
        self.checks(contract).iter().map(|check| check.judge(evidence)).collect()
    }

    /// Whether the evidence can be trusted at all.
    fn trust(self, contract: &Contract) -> Vec<Check> {
        let mut checks = vec![trust::faults_fired()];
        if self.is_timed() {
            checks.push(trust::canary_is_quiet(contract.noise));
        }
        if contract.telemetry.spans {
            checks.push(trust::spans_match_wire(contract.main_link()));
        }
        checks
    }

    fn retry(self, contract: &Contract, policy: &RetryPolicy) -> Vec<Check> {
        let (link, noise) = (contract.main_link(), contract.noise);
        match self {
            Scenario::RetryLaw => {
                vec![retry::bounded_attempts(policy, link), retry::backoff_law(policy, link, noise)]
            }
            // A law without jitter promises no dispersion: its herd returns as one by declaration.
            Scenario::RetryHerd if retry::excludes_a_herd(policy) => {
                vec![retry::bounded_attempts(policy, link), retry::no_herd(policy, link, noise)]
            }
            Scenario::RetryHerd => vec![retry::bounded_attempts(policy, link)],
            Scenario::RetryTable => vec![retry::retries_only_the_retryable(policy, link)],
            _ => Vec::new(),
        }
    }

    fn idempotency(self, contract: &Contract, policy: &IdempotencyPolicy) -> Vec<Check> {
        let link = contract.main_link();
        match self {
            Scenario::OneEffect => vec![idempotency::replay_is_faithful(policy, link)],
            Scenario::Duplicates => {
                let mut checks =
                    vec![idempotency::one_of_many_runs(policy, link), idempotency::replay_is_faithful(policy, link)];
                checks.extend(policy.mismatch.map(|_| idempotency::mismatch_is_rejected(policy, link)));
                checks.extend(policy.missing.map(|_| idempotency::missing_key_is_rejected(policy, link)));
                checks
            }
            Scenario::Restart => vec![idempotency::survives_crash(policy, link)],
            _ => Vec::new(),
        }
    }

    fn breaker(self, contract: &Contract, policy: &BreakerPolicy) -> Vec<Check> {
        let (link, noise) = (contract.main_link(), contract.noise);
        let mut checks = match self {
            Scenario::BreakerTrip => {
                vec![breaker::trips_at_threshold(policy, link), breaker::open_fails_fast(policy, link, noise)]
            }
            Scenario::BreakerRecovery => vec![
                breaker::trips_at_threshold(policy, link),
                breaker::stays_open(policy, link, noise),
                breaker::half_open_single_probe(policy, link),
                breaker::probe_success_resets(policy, link),
            ],
            Scenario::BreakerRelapse => {
                let mut checks = vec![
                    breaker::stays_open(policy, link, noise),
                    breaker::half_open_single_probe(policy, link),
                    breaker::probe_failure_reopens(policy, link, noise),
                ];
                // Without a promised time limit nobody can say when a probe that hangs has failed.
                if contract.promises.retry.as_ref().is_some_and(|r| r.attempt_timeout.is_some()) {
                    checks.push(breaker::probe_never_answers(policy, link, noise));
                }
                checks
            }
            _ => Vec::new(),
        };
        if self.isolation() == Isolation::Breaker && contract.breaker_endpoint.is_some() {
            checks.push(breaker::state_is_truthful(policy, link));
        }
        checks
    }
}
