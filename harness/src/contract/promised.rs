//! The promises, and what a contract leaves unpromised.

use judge::NotPromised;
use judge::promise::{
    AmplificationPolicy, BreakerPolicy, BreakerProfile, BulkheadPolicy, DegradationPolicy, Failure, IdempotencyPolicy,
    IsolationPolicy, KeyScope, OverloadPolicy, RecoveryPolicy, RetryPolicy, TimeoutPolicy,
};
use serde::{Deserialize, Serialize};

use super::Contract;

/// What a service promises. What is absent is not checked.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Promises {
    /// Retries towards the dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Repeated keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<IdempotencyPolicy>,
    /// The circuit breaker towards the dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<BreakerPolicy>,
    /// The way back after a disturbance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryPolicy>,
    /// Successes under more load than the dependency can bear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overload: Option<OverloadPolicy>,
    /// How long a client waits at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<TimeoutPolicy>,
    /// Answers while the dependency cannot be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degradation: Option<DegradationPolicy>,
    /// The product of retries over several layers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amplification: Option<AmplificationPolicy>,
    /// A breaker for each dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationPolicy>,
    /// A share of the service for each dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulkhead: Option<BulkheadPolicy>,
}

impl Contract {
    /// What is not promised or not shown, with the checks it would have brought.
    #[must_use]
    pub fn not_promised(&self) -> Vec<NotPromised> {
        let mut missing = Vec::new();
        self.promises.missing(&mut missing);
        let mut note = |check: &str, what: &str| {
            missing.push(NotPromised { checks: vec![check.to_owned()], what: what.to_owned() });
        };
        if !self.telemetry.spans {
            note("H3", "telemetry.spans: one CLIENT span for each attempt, to hold against the wire");
        }
        if !(self.telemetry.spans && self.telemetry.resend_count) {
            note("R15", "telemetry.resend_count: spans that tell of resends by OpenTelemetry's conventions");
        }
        let promises = &self.promises;
        let timeout = promises.retry.as_ref().is_some_and(|r| r.attempt_timeout.is_some());
        if promises.breaker.is_some() && !timeout {
            note("B7", "promises.retry.attempt_timeout: when a call that hangs has failed");
        }
        if promises.retry.as_ref().is_some_and(|r| r.retries(Failure::Hang)) && !timeout {
            note(
                "R6 hang",
                "promises.retry.attempt_timeout: \"hang\" is declared retryable, but no call is hung without it",
            );
        }
        if promises.retry.as_ref().is_some_and(|r| !judge::checks::retry::excludes_a_herd(r)) {
            note("R3", "a law with jitter: the declared one lets a herd return as one");
            note("R4", "a law with jitter: the declared one draws nothing that a restart could repeat");
        }
        if promises.breaker.is_some() && self.breaker_endpoint.is_none() {
            note("B12", "[breaker_endpoint]: where the breaker's state can be read, to hold against the wire");
        }
        self.breaker_missing(&mut missing);
        missing
    }

    /// What of a promised breaker is left open.
    fn breaker_missing(&self, missing: &mut Vec<NotPromised>) {
        let Some(breaker) = &self.promises.breaker else { return };
        let mut note = |check: &str, what: &str| {
            missing.push(NotPromised { checks: vec![check.to_owned()], what: what.to_owned() });
        };
        let ejects = breaker.profile == BreakerProfile::Ejection;
        if !ejects && !crate::battery::waits_long_enough(self) {
            note("B8", "an attempt timeout longer than the open time: no call can be held until half-open without it");
        }
        if !ejects && breaker.classified().is_empty() {
            note("B9", "promises.breaker.outcomes, slow_call: what ends of calls count as");
        }
        if !self.tells_breaker_events() {
            note("B13", "breaker_endpoint.events: where the changes of the breaker's state can be read");
        }
    }
}

impl Promises {
    /// What is not promised, with the checks it would have brought.
    pub(super) fn missing(&self, missing: &mut Vec<NotPromised>) {
        let mut absent = Absent(missing);
        self.missing_of_retries(&mut absent);
        self.missing_of_keys(&mut absent);
        self.missing_of_breakers(&mut absent);
        self.missing_of_load(&mut absent);
    }

    fn missing_of_retries(&self, absent: &mut Absent<'_>) {
        absent.unless(
            self.retry.is_some(),
            &["R1", "R2", "R3", "R4", "R6"],
            "[promises.retry]: attempts, backoff law, what is retried",
        );
        let retry = self.retry.as_ref();
        let says = |what: fn(&RetryPolicy) -> bool| retry.is_some_and(what);
        absent.unless(
            says(|r| r.retry_after.is_some()),
            &["R8"],
            "[promises.retry.retry_after]: what is made of Retry-After",
        );
        absent.unless(
            says(|r| r.deadline.is_some() || r.stops_when_client_leaves),
            &["R9"],
            "promises.retry.deadline, .stops_when_client_leaves: when attempts end",
        );
        absent.unless(
            says(|r| r.budget.is_some()),
            &["R10"],
            "[promises.retry.budget]: how many retries all payments may make",
        );
        absent.unless(
            says(|r| r.cap_check.is_some()),
            &["R5"],
            "[promises.retry.cap_check]: how the service retries while its cap is measured",
        );
        absent.unless(says(|r| r.pushback), &["R14"], "promises.retry.pushback: gRPC's pushback is obeyed");
        absent.unless(self.timeout.is_some(), &["T1"], "[promises.timeout]: how long a client waits at most");
    }

    fn missing_of_keys(&self, absent: &mut Absent<'_>) {
        let keys = self.idempotency.as_ref();
        absent.unless(
            keys.is_some(),
            &["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10"],
            "[promises.idempotency]: what a repeated key is answered",
        );
        let marker = keys.is_none_or(|k| k.replay_marker.is_some());
        absent.unless(marker, &["I3"], "promises.idempotency.replay_marker: the header that marks a replay");
        absent.unless(
            keys.is_none_or(|k| k.mismatch.is_some()),
            &["I4"],
            "promises.idempotency.mismatch: status for a key with another payload",
        );
        absent.unless(
            keys.is_none_or(|k| k.missing.is_some()),
            &["I5"],
            "promises.idempotency.missing: status for a missing key",
        );
        absent.unless(
            keys.is_none_or(|k| k.survives_restart),
            &["I6"],
            "promises.idempotency.survives_restart: keys outlive the process",
        );
        for (present, check, what) in keys.into_iter().flat_map(of_keys) {
            absent.unless(present, &[check], what);
        }
        absent.unless(
            self.degradation.is_some(),
            &["G1", "G2", "G3", "G4"],
            "[promises.degradation]: how answers without the dependency are marked, how old they may be",
        );
    }

    fn missing_of_breakers(&self, absent: &mut Absent<'_>) {
        absent.unless(
            self.breaker.is_some(),
            &["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10"],
            "[promises.breaker]: threshold, open time, probes",
        );
    }

    fn missing_of_load(&self, absent: &mut Absent<'_>) {
        absent.unless(
            self.recovery.is_some(),
            &["S2"],
            "[promises.recovery]: how soon the service is itself again after a disturbance",
        );
        absent.unless(
            self.overload.is_some(),
            &["S3"],
            "[promises.overload]: what is left of the dependency's capacity when more is asked",
        );
        absent.unless(
            self.amplification.is_some(),
            &["R11"],
            "[promises.amplification]: the hops to the last backend, and the attempts of each",
        );
        absent.unless(
            self.isolation.is_some(),
            &["B11"],
            "[promises.isolation]: routes that another dependency's open breaker leaves alone",
        );
        absent.unless(
            self.bulkhead.is_some(),
            &["T2"],
            "[promises.bulkhead]: routes that another dependency that hangs leaves alone",
        );
    }
}

/// The list of what is not promised, growing.
struct Absent<'a>(&'a mut Vec<NotPromised>);

impl Absent<'_> {
    /// Lists what it is and which checks it would have brought, unless it is there.
    fn unless(&mut self, present: bool, checks: &[&str], what: &str) {
        if !present {
            let checks = checks.iter().map(|c| (*c).to_owned()).collect();
            self.0.push(NotPromised { checks, what: what.to_owned() });
        }
    }
}

/// The parts of the idempotency promise that bring a check of their own: whether it is there, the check, and what to say.
fn of_keys(keys: &IdempotencyPolicy) -> [(bool, &'static str, &'static str); 8] {
    // Without any scope the whole check is listed, not its parts.
    let owns = |scope| keys.scope.is_empty() || keys.scope.contains(&scope);
    let lease = keys.lease.is_some() || !keys.survives_restart;
    [
        (
            keys.fingerprint.is_some(),
            "I4 spelling",
            "promises.idempotency.fingerprint: whether spaces and the order of members matter",
        ),
        (lease, "I6 lease", "promises.idempotency.lease: how long the key of a dead owner is in flight"),
        (keys.memo.is_some(), "I7", "promises.idempotency.memo: which failures are answered again"),
        (!keys.scope.is_empty(), "I8", "promises.idempotency.scope: what a key belongs to"),
        (
            owns(KeyScope::Caller),
            "I8 caller",
            "promises.idempotency.scope: \"caller\", that a key belongs to its caller",
        ),
        (owns(KeyScope::Route), "I8 route", "promises.idempotency.scope: \"route\", that a key belongs to its route"),
        (keys.ttl.is_some(), "I9", "promises.idempotency.ttl: how long a key is known"),
        (
            keys.waits_out.is_some(),
            "I10",
            "promises.idempotency.waits_out: how the dependency says that a call still runs",
        ),
    ]
}
