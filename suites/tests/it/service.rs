//! The reference service as the suites start it: its own contract, and the binary that cargo built for this test run.

use std::time::Duration;

use harness::contract::Contract;
use harness::judge::duration;
use harness::judge::law::{LawName, LawSpec};
use harness::judge::promise::{BreakerMode, BreakerPolicy, BreakerProfile};

/// The contract of the reference service.
pub fn payments() -> Contract {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/payments/contract.toml");
    let mut contract = Contract::load(path).expect("the reference contract is well formed");
    // A defect is chosen by a test, never by the shell that runs it; and what a test changes, a running stack has not.
    contract.service.pass_env.clear();
    contract.attach = None;
    contract.command([env!("CARGO_BIN_EXE_payments")])
}

/// The front service before the reference service.
pub fn two_layers() -> Contract {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/payments/two-layers.toml");
    let mut contract = Contract::load(path).expect("the contract of two layers is well formed");
    contract.service.pass_env.clear();
    let payments = contract.services.get_mut("payments").expect("it has the reference service behind it");
    payments.command = vec![env!("CARGO_BIN_EXE_payments").to_owned()];
    contract.command([env!("CARGO_BIN_EXE_checkout")])
}

/// The reference service with one named defect.
pub fn payments_with(defect: &str) -> Contract {
    payments().env("PAYMENTS_DEFECT", defect)
}

/// Longer than all waits of any law that the suites declare, and shorter than a client's patience.
const LONG_DEADLINE: Duration = Duration::from_secs(15);

/// The reference service with another backoff law: one value configures the service and is what it is judged by.
pub fn payments_backing_off(law: &LawSpec) -> Contract {
    let mut contract = payments();
    let word = match law.law {
        LawName::Immediate => "immediate",
        LawName::Fixed => "fixed",
        LawName::Exponential => "exponential",
        LawName::Full => "full",
        LawName::Equal => "equal",
        LawName::Decorrelated => "decorrelated",
        LawName::PlusMinus => "plus-minus",
        other => panic!("the reference service knows no law like {other:?}"),
    };
    let env = &mut contract.service.env;
    let mut set = |name: &str, value: String| drop(env.insert(format!("PAYMENTS_RETRY_{name}"), value));
    set("LAW", word.to_owned());
    if let Some(base) = law.base {
        set("BASE", duration::format(base));
    }
    set("CAP", duration::format(law.cap.unwrap_or(Duration::from_secs(5))));
    if let Some(spread) = law.spread {
        set("SPREAD", spread.to_string());
    }
    // Some laws wait for longer than the reference one: a deadline that cuts their tail off would be measured with them.
    contract.isolate.retry.insert("PAYMENTS_RETRY_DEADLINE".to_owned(), duration::format(LONG_DEADLINE));
    let policy = contract.promises.retry.as_mut().expect("the reference contract promises retries");
    policy.deadline = Some(LONG_DEADLINE);
    // What is not capped has no cap to check.
    policy.cap_check = policy.cap_check.filter(|_| law.cap.is_some());
    policy.backoff = law.clone().build().expect("a declared law is well formed");
    contract
}

/// The reference service with another breaker: one value configures the service and is what it is judged by.
pub fn payments_breaking(policy: BreakerPolicy) -> Contract {
    let mut contract = payments();
    let mut set = |name: &str, value: String| {
        contract.service.env.insert(format!("PAYMENTS_BREAKER{name}"), value);
    };
    set("", if policy.mode == BreakerMode::Window { "window" } else { "consecutive" }.to_owned());
    set("_THRESHOLD", policy.threshold.to_string());
    set("_OPEN", duration::format(policy.open));
    set("_PROBES", policy.probes.to_string());
    set("_GROWTH", policy.growth.to_string());
    set("_PROFILE", if policy.profile == BreakerProfile::Ejection { "ejection" } else { "probes" }.to_owned());
    if let Some(window) = policy.window {
        set("_WINDOW", duration::format(window));
    }
    if let Some(slow) = policy.slow_call {
        set("_SLOW", duration::format(slow));
    }
    let ignored = policy.outcomes.iter().flat_map(|o| &o.ignored).map(ToString::to_string);
    set("_IGNORED", ignored.collect::<Vec<_>>().join(","));
    contract.promises.breaker = Some(policy);
    contract
}

/// The breaker that the reference contract promises.
pub fn breaker() -> BreakerPolicy {
    payments().promises.breaker.expect("the reference contract promises a breaker")
}

/// One that counts failures within a window of time.
pub fn windowed() -> BreakerPolicy {
    BreakerPolicy { mode: BreakerMode::Window, window: Some(Duration::from_secs(1)), ..breaker() }
}

/// One that takes slow calls for failures, and declares nothing else.
pub fn slow_calls() -> BreakerPolicy {
    BreakerPolicy { slow_call: Some(Duration::from_millis(300)), outcomes: None, ..breaker() }
}
