//! Promises at the edge of their types, beyond what a contract accepts, and of numbers that are none.

use std::time::Duration;

use judge::Ruling;
use judge::checks::{Check, degradation, idempotency, retry, storm, timeout};
use judge::promise::{
    AmplificationPolicy, BudgetPolicy, BulkheadPolicy, DegradationPolicy, Deposit, Hop, Noise, OnTop, OverloadPolicy,
    RecoveryPolicy, RetryAfterPolicy, RetryPolicy, TimeoutPolicy,
};

use crate::limits::promise::policy;
use crate::promises::{degraded_service, scenarios};
use crate::scene::SCENES;
use crate::support::LINK;
use crate::topology::{beside_a_hang, layers, pools};
use crate::trust::attempts_within;
use crate::{scene::Scene, storm as storms};

/// The shortest time, the longest one, and what lies between.
const TIMES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(1500), Duration::MAX];

/// Evidence of the scenes that have a check of that id: the sound one and two broken ones go through every branch that a
/// promise decides.
fn judged(check: &Check, mut seen: impl FnMut(&str, Ruling)) {
    let id = check.info().id;
    let scenes: Vec<&Scene> = SCENES.iter().filter(|s| s.checks.iter().any(|c| c.info().id == id)).collect();
    assert!(!scenes.is_empty(), "{id} has no scene");
    for (name, evidence) in scenes.iter().flat_map(|s| s.all().take(3)) {
        let finding = check.judge(evidence);
        assert!(!finding.headline.is_empty(), "{id}, {name}: {finding:#?}");
        seen(&name, finding.ruling);
    }
}

fn waits() -> Vec<Check> {
    let mut all = Vec::new();
    for eps in TIMES {
        let noise = Noise { eps };
        all.push(retry::pushback_is_obeyed(&policy(), LINK, noise));
        all.push(beside_a_hang(&BulkheadPolicy { callers: 0, ..pools::policy() }, noise));
        for time in TIMES {
            let policy = RetryPolicy { deadline: Some(time), ..policy() };
            all.push(retry::deadline_and_cancel(&policy, LINK, noise));
            all.push(timeout::answers_in_time(&TimeoutPolicy { answer: time }, LINK, noise));
            all.push(storms::against_a_storm(&storms::retry_policy(), noise, time));
            for jitter in [OnTop::None, OnTop::Law, OnTop::UpTo(time)] {
                let after = RetryAfterPolicy { jitter, limit: Some(time) };
                all.push(retry::retry_after_is_honoured(&policy, &after, LINK, noise));
            }
        }
    }
    for attempts in [0, 1, u32::MAX] {
        let policy = RetryPolicy { attempts, ..policy() };
        all.push(retry::deadline_and_cancel(&policy, LINK, Noise::default()));
        all.push(retry::pushback_is_obeyed(&policy, LINK, Noise::default()));
        all.push(retry::retry_after_is_honoured(&policy, &RetryAfterPolicy::default(), LINK, Noise::default()));
        let storm = RetryPolicy { attempts: attempts.min(1000), ..storms::retry_policy() };
        all.push(storms::against_a_storm(&storm, Noise::default(), Duration::from_millis(100)));
    }
    all
}

fn lives() -> Vec<Check> {
    let mut all = Vec::new();
    for time in TIMES {
        let key = judge::promise::IdempotencyPolicy { ttl: Some(time), ..scenarios::policy(r#""memo": "all""#) };
        all.push(idempotency::key_expires_as_declared(&key, LINK));
        let recovery = RecoveryPolicy { within: time, ..storms::load_service::policy() };
        all.push(storm::recovers_after_trigger(&recovery, LINK));
        let degraded = DegradationPolicy { max_age: time, fresh_within: time, ..degraded_service::policy() };
        all.push(degradation::age_is_bounded(&degraded, LINK));
        all.push(degradation::fresh_again(&degraded, LINK));
        all.push(budget(BudgetPolicy::Ratio { ratio: 0.2, min_per_second: 1.0, ttl: time, deposit: Deposit::Success }));
    }
    all
}

fn counts() -> Vec<Check> {
    let mut all = Vec::new();
    for n in [0, u32::MAX] {
        all.push(beside_a_hang(&BulkheadPolicy { callers: n, ..pools::policy() }, Noise::default()));
        all.push(budget(BudgetPolicy::AwsQuota { capacity: n, retry_cost: n, timeout_cost: n, success: n }));
        all.push(budget(BudgetPolicy::ActiveShare { percent: 0.0, min_concurrency: n }));
        let hops = layers::policy(None).hops.into_iter().map(|hop| Hop { attempts: n, ..hop }).collect();
        all.push(amplification(AmplificationPolicy { hops, at_most: Some(n) }));
    }
    all.push(amplification(AmplificationPolicy { hops: Vec::new(), at_most: None }));
    all
}

/// Promises of numbers that nothing can be held against.
fn undefined() -> Vec<Check> {
    let mut all = Vec::new();
    for n in [f64::NAN, f64::NEG_INFINITY, -1.0] {
        all.push(budget(BudgetPolicy::GrpcTokens { max_tokens: n, token_ratio: 0.1 }));
        all.push(budget(BudgetPolicy::GrpcTokens { max_tokens: 20.0, token_ratio: n }));
        all.push(budget(BudgetPolicy::ActiveShare { percent: n, min_concurrency: 2 }));
        for (ratio, min_per_second) in [(n, 1.0), (0.2, n)] {
            let (ttl, deposit) = (Duration::from_secs(10), Deposit::Request);
            all.push(budget(BudgetPolicy::Ratio { ratio, min_per_second, ttl, deposit }));
        }
        all.push(storm::goodput(&OverloadPolicy { goodput: 0.7 }, LINK, n));
        let share = [("slowdown", BulkheadPolicy { slowdown: n, ..pools::policy() })];
        all.extend(share.map(|(_, policy)| beside_a_hang(&policy, Noise::default())));
    }
    for n in [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -1.0, 2.0] {
        all.push(storm::goodput(&OverloadPolicy { goodput: n }, LINK, storms::overload_service::CAPACITY));
        let recovery = RecoveryPolicy { goodput: n, ..storms::load_service::policy() };
        all.push(storm::recovers_after_trigger(&recovery, LINK));
        all.push(beside_a_hang(&BulkheadPolicy { success: n, ..pools::policy() }, Noise::default()));
    }
    all.push(amplification(AmplificationPolicy { hops: Vec::new(), at_most: None }));
    all.push(attempts_within(f64::NAN, 4.0));
    all.push(attempts_within(4.0, f64::NAN));
    all
}

fn budget(budget: BudgetPolicy) -> Check {
    let policy = RetryPolicy { deadline: None, ..policy() };
    retry::budget_holds(&policy, &budget, LINK, Noise::default())
}

fn amplification(policy: AmplificationPolicy) -> Check {
    judge::checks::topology::bounded_amplification(&policy)
}

/// Proves that no promise, however far out, makes a check panic or say nothing.
#[test]
fn extreme_promises_do_not_panic() {
    for check in waits().into_iter().chain(lives()).chain(counts()) {
        judged(&check, |_, _| ());
    }
}

/// Proves that no service passes a promise of a number that is none, and no sound one is failed by it but where the number
/// is a bound that a scenario file sets.
#[test]
fn numbers_that_are_none_pass_nobody() {
    for check in undefined() {
        judged(&check, |name, ruling| {
            assert_ne!(ruling, Ruling::Pass, "{check:?}, {name}");
            let sound = name.ends_with(", sound") && check.info().id != "H6";
            assert!(!sound || ruling == Ruling::Inconclusive, "{check:?}, {name}: {ruling:?}");
        });
    }
}
