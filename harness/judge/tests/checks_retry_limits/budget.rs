//! R10 over the four models: the right budget passes, and each wrong one is failed for what is wrong with it.

use std::collections::HashMap;
use std::time::Duration;

use judge::Ruling;
use judge::checks::{Check, retry};
use judge::evidence::{Answer, Evidence};
use judge::promise::{BudgetPolicy, Deposit, Noise, RetryPolicy};

use crate::budget_service::{Keeps, play};
use crate::{fails, is_unclear, passes, policy, unjoined};

const GRPC: BudgetPolicy = BudgetPolicy::GrpcTokens { max_tokens: 20.0, token_ratio: 0.1 };
const RATIO: BudgetPolicy =
    BudgetPolicy::Ratio { ratio: 0.2, min_per_second: 1.0, ttl: Duration::from_secs(10), deposit: Deposit::Request };
const BY_SUCCESS: BudgetPolicy =
    BudgetPolicy::Ratio { ratio: 0.2, min_per_second: 1.0, ttl: Duration::from_secs(10), deposit: Deposit::Success };
const SHARE: BudgetPolicy = BudgetPolicy::ActiveShare { percent: 20.0, min_concurrency: 2 };
const QUOTA: BudgetPolicy = BudgetPolicy::AwsQuota { capacity: 60, retry_cost: 5, timeout_cost: 10, success: 1 };

fn check(budget: &BudgetPolicy) -> Check {
    // The deadline would end payments whose attempts are as slow as those of the share's stage.
    let policy = RetryPolicy { deadline: None, ..policy() };
    retry::budget_holds(&policy, budget, "bank", Noise::default())
}

/// Proves that a budget that is kept passes in each model.
#[test]
fn a_kept_budget_passes() {
    for budget in [GRPC, RATIO, BY_SUCCESS, SHARE, QUOTA] {
        passes(&check(&budget), &play(budget, Keeps::Rightly));
    }
}

/// Proves that no budget at all, and one for each request, are failed in each model as what they are.
#[test]
fn no_budget_fails() {
    for budget in [GRPC, RATIO, BY_SUCCESS, SHARE, QUOTA] {
        for keeps in [Keeps::None, Keeps::OneForEachRequest] {
            fails(&check(&budget), &play(budget, keeps), 0);
        }
    }
}

/// Proves that a budget twice as wide as declared is failed for that.
#[test]
fn too_wide_a_budget_fails() {
    for budget in [GRPC, RATIO, SHARE, QUOTA] {
        fails(&check(&budget), &play(budget, Keeps::TwiceAsMuch), 1);
    }
}

/// Proves that a budget that starts empty, or is never refilled, is failed for starving its payments.
#[test]
fn a_starved_budget_fails() {
    for budget in [GRPC, RATIO, SHARE, QUOTA] {
        fails(&check(&budget), &play(budget, Keeps::EmptyFromTheStart), 2);
    }
    for budget in [GRPC, RATIO, QUOTA] {
        fails(&check(&budget), &play(budget, Keeps::NeverRefilled), 2);
    }
}

/// Proves that a retry which the proxy saw before it saw the end of the attempt that failed is one like any other: the
/// service knows first when it has given up.
#[test]
fn an_end_that_is_seen_late_changes_nothing() {
    for budget in [GRPC, RATIO, QUOTA] {
        for (keeps, ruling) in [(Keeps::Rightly, Ruling::Pass), (Keeps::None, Ruling::Fail)] {
            let mut late = play(budget, keeps);
            let arrivals: HashMap<_, _> =
                late.attempts.iter().map(|a| ((a.key.clone(), a.ordinal), a.arrived)).collect();
            for attempt in &mut late.attempts {
                let next = arrivals.get(&(attempt.key.clone(), attempt.ordinal + 1));
                next.into_iter().for_each(|next| attempt.reply.ended = *next + Duration::from_millis(1));
            }
            let finding = check(&budget).judge(&late);
            assert_eq!(finding.ruling, ruling, "{budget:?} {keeps:?}: {finding:#?}");
        }
    }
}

/// Proves that the models are told apart: what one allows is too much, or too little, for another.
#[test]
fn one_model_is_not_another() {
    let wide = BudgetPolicy::AwsQuota { capacity: 500, retry_cost: 5, timeout_cost: 10, success: 1 };
    fails(&check(&GRPC), &play(wide, Keeps::Rightly), 1);
    fails(&check(&wide), &play(GRPC, Keeps::Rightly), 2);
}

/// Proves that a load that never exhausted the budget, payments without an outcome, attempts without a name and a scenario
/// that did not run prove nothing.
#[test]
fn doubts() {
    let kept = play(GRPC, Keeps::Rightly);
    let mut short = kept.clone();
    short.outcomes.retain(|o| o.succeeded() || o.step == "drain");
    short.outcomes.iter_mut().for_each(|o| o.step = "drain".into());
    short.outcomes.retain(|o| o.succeeded());
    short.attempts.retain(|a| short.outcomes.iter().any(|o| o.key == a.key));
    is_unclear(&check(&GRPC), &short, "never exhausted");
    let mut unknown = kept.clone();
    unknown.outcomes.iter_mut().filter(|o| o.step == "drain").for_each(|o| o.answer = Answer::TimedOut);
    is_unclear(&check(&GRPC), &unknown, "have no outcome");
    is_unclear(&check(&GRPC), &unjoined(&kept), "");
    is_unclear(&check(&GRPC), &Evidence::new(kept.header), "did not run");
}

/// Proves that attempts which join to no request starve nobody: each may be the retry that is missing, the success that a
/// budget was filled by, or one of those that were under way.
#[test]
fn nameless_attempts_starve_nobody() {
    for budget in [GRPC, RATIO, BY_SUCCESS, SHARE, QUOTA] {
        let kept = play(budget, Keeps::Rightly);
        let mut nameless = kept.clone();
        let retries = nameless.attempts.iter_mut().filter(|a| a.ordinal > 1);
        retries.step_by(2).for_each(|a| (a.key, a.context) = (None, None));
        is_unclear(&check(&budget), &nameless, "carry neither");
        let mut half = kept;
        half.attempts
            .iter_mut()
            .filter(|a| a.reply.status == Some(201))
            .for_each(|a| (a.key, a.context) = (None, None));
        is_unclear(&check(&budget), &half, "carry neither");
    }
    // What is too much whatever they are stays too much.
    let mut none = play(GRPC, Keeps::None);
    none.attempts.iter_mut().filter(|a| a.reply.status == Some(201)).for_each(|a| (a.key, a.context) = (None, None));
    fails(&check(&GRPC), &none, 1);
}

/// Proves that policies are read from the texts of a contract, defaults of the AWS SDKs included, and nothing unknown is.
#[test]
fn contracts_say_it_in_words() {
    let read = |text: &str| serde_json::from_str::<BudgetPolicy>(text);
    assert_eq!(read(r#"{ "model": "grpc-tokens", "max_tokens": 20, "token_ratio": 0.1 }"#).ok(), Some(GRPC));
    let ratio = r#"{ "model": "ratio", "ratio": 0.2, "min_per_second": 1, "ttl": "10s" }"#;
    assert_eq!(read(ratio).ok(), Some(RATIO));
    assert_eq!(read(r#"{ "model": "active-share", "percent": 20, "min_concurrency": 2 }"#).ok(), Some(SHARE));
    let aws = BudgetPolicy::AwsQuota { capacity: 500, retry_cost: 5, timeout_cost: 10, success: 1 };
    assert_eq!(read(r#"{ "model": "aws-quota" }"#).ok(), Some(aws));
    assert!(read(r#"{ "model": "aws-quota", "capasity": 5 }"#).is_err());
    assert!(read(r#"{ "model": "envoy" }"#).is_err());
}
