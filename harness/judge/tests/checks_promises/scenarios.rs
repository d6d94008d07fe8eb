//! The scenarios of keys, by the step names of the guide.

use judge::evidence::Evidence;
use judge::promise::IdempotencyPolicy;

use super::service::{Defect, Service};
use super::stage::{Ask, Stage};
use crate::support::MS;

/// What is promised besides `replay_marker`, `mismatch` and `missing`.
pub fn policy(more: &str) -> IdempotencyPolicy {
    let text = format!(
        r#"{{ "replay_marker": "X-Idempotency-Replay", "mismatch": 422, "missing": 400, "survives_restart": true, {more} }}"#
    );
    serde_json::from_str(&text).expect("a policy")
}

/// `forgets_from`: statuses from there on are not remembered.
pub fn memo_with(defect: Defect, forgets_from: u16) -> Evidence {
    let (mut stage, mut service) = (Stage::new("key-memo"), Service::new(defect));
    service.forgets_from = forgets_from;
    for (case, faults) in [("paid", [0; 0].as_slice()), ("refused", &[402]), ("failed", &[503; 4])] {
        let asks = [Ask::new(&format!("{case}-1"), 100), Ask::new(&format!("{case}-2"), 200)];
        let from = stage.now;
        asks.iter().for_each(|a| service.ask(&mut stage, &format!("first/{case}"), a, faults));
        if !faults.is_empty() {
            stage.fault(&format!("request/reply {}", faults[0]), from, 2);
        }
        asks.iter().for_each(|a| service.ask(&mut stage, &format!("again/{case}"), a, &[]));
    }
    stage.finish()
}

pub fn memo(defect: Defect) -> Evidence {
    memo_with(defect, 500)
}

/// Two callers with the same keys.
pub fn scope(defect: Defect) -> Evidence {
    let mut stage = Stage::new("key-scope");
    two_callers(&mut stage, defect);
    stage.finish()
}

/// Two routes with the same keys.
pub fn route_scope(defect: Defect) -> Evidence {
    let mut stage = Stage::new("key-scope");
    two_routes(&mut stage, defect);
    stage.finish()
}

/// Both, one after the other.
pub fn both_scopes(of_callers: Defect, of_routes: Defect) -> Evidence {
    let mut stage = Stage::new("key-scope");
    two_callers(&mut stage, of_callers);
    two_routes(&mut stage, of_routes);
    stage.finish()
}

fn two_callers(stage: &mut Stage, defect: Defect) {
    let ask = |n: i64| Ask::new(&format!("k-{n}"), 100 + n).caller("a");
    two_owners(stage, defect, ["first", "other", "again"], (1..=3).map(ask).collect(), |a| a.caller("b"));
}

fn two_routes(stage: &mut Stage, defect: Defect) {
    let steps = ["route/first", "route/other", "route/again"];
    let ask = |n: i64| Ask::new(&format!("r-{n}"), 100 + n);
    two_owners(stage, defect, steps, (1..=3).map(ask).collect(), |a| a.route("refund"));
}

/// One owner's keys, the same keys of the other one, of which the last asks for another amount, and each its own again.
fn two_owners(stage: &mut Stage, defect: Defect, steps: [&str; 3], one: Vec<Ask>, theirs: impl Fn(Ask) -> Ask) {
    let mut service = Service::new(defect);
    let mut two: Vec<_> = one.iter().cloned().map(theirs).collect();
    two[2] = two[2].clone().amount(999);
    let [first, other, again] = steps;
    one.iter().for_each(|a| service.ask(stage, first, a, &[]));
    two.iter().for_each(|a| service.ask(stage, other, a, &[]));
    one.iter().chain(&two).for_each(|a| service.ask(stage, again, a, &[]));
}

pub const TTL: u64 = 1_500 * MS;

/// `after`: when the keys of the step `expired` are asked for, after the last first answer.
pub fn expiry_at(defect: Defect, forgets: bool, after: u64) -> Evidence {
    let (mut stage, mut service) = (Stage::new("key-expiry"), Service::new(defect));
    service.ttl = (forgets || defect == Defect::ExpiresUndeclared).then_some(TTL);
    let known: Vec<_> = (1..=3).map(|n| Ask::new(&format!("known-{n}"), 100)).collect();
    let idle: Vec<_> = (1..=3).map(|n| Ask::new(&format!("idle-{n}"), 100)).collect();
    let began = stage.now;
    known.iter().chain(&idle).for_each(|a| service.ask(&mut stage, "first", a, &[]));
    known.iter().for_each(|a| service.ask(&mut stage, "within", a, &[]));
    stage.now = began + TTL * 3 / 4;
    known.iter().for_each(|a| service.ask(&mut stage, "late", a, &[]));
    stage.now = began + 100 * MS + after;
    idle.iter().for_each(|a| service.ask(&mut stage, "expired", a, &[]));
    stage.finish()
}

pub fn expiry(defect: Defect) -> Evidence {
    expiry_at(defect, true, TTL + 100 * MS)
}

pub fn conflict(defect: Defect) -> Evidence {
    let (mut stage, mut service) = (Stage::new("bank-conflict"), Service::new(defect));
    let asks: Vec<_> = (1..=3).map(|n| Ask::new(&format!("k-{n}"), 100)).collect();
    let from = stage.now;
    asks.iter().for_each(|a| service.ask(&mut stage, "conflict", a, &[409, 409]));
    stage.fault("request/reply 409", from, 3);
    asks.iter().for_each(|a| service.ask(&mut stage, "settled", a, &[]));
    stage.finish()
}

/// The part of `duplicates` that I4 reads.
pub fn respelt(defect: Defect, raw_bytes: bool) -> Evidence {
    let (mut stage, mut service) = (Stage::new("duplicates"), Service::new(defect));
    service.raw_bytes = raw_bytes;
    let asks: Vec<_> = (1..=3).map(|n| Ask::new(&format!("k-{n}"), 100)).collect();
    asks.iter().for_each(|a| service.ask(&mut stage, "held/1", a, &[]));
    asks.iter().for_each(|a| service.ask(&mut stage, "mismatch", &a.clone().amount(777), &[]));
    asks.iter().for_each(|a| service.ask(&mut stage, "respelt", &a.clone().respelt(), &[]));
    stage.finish()
}
