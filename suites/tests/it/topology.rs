//! The rig itself: a second replica, a second dependency, further routes.

use std::collections::BTreeSet;

use harness::battery::{AMPLIFICATION, BREAKER_ISOLATION, BULKHEAD, STEADY, Scenario};
use harness::contract::{Contract, Link, Route};
use harness::faults::Fault;
use harness::judge::evidence::Evidence;
use harness::load::{Load, Replica};
use harness::rig::{Isolation, Rig, RigError};
use harness::suite::{Judged, session};
use rstest::rstest;

use crate::service::{payments, two_layers};

fn health(link: &str) -> Route {
    Route {
        method: "GET".to_owned(),
        path: "/health".to_owned(),
        body: None,
        content_type: "application/json".to_owned(),
        key: None,
        link: link.to_owned(),
    }
}

/// The reference service with an idle second link and a route that calls nobody.
fn wide() -> Contract {
    payments().link("spare", Link::default()).route("health", health("spare"))
}

async fn start(name: &str) -> Rig {
    session(wide()).expect("a session").start_rig(name, Isolation::Retry).await.expect("the rig starts")
}

fn trace_of(evidence: &Evidence, step: &str) -> BTreeSet<String> {
    evidence.outcomes_of(step).iter().map(|o| o.context.trace.to_string()).collect()
}

/// Proves that a second replica is another process over the same ledger: a payment that the first one took is replayed
/// by the second, which made no call for it; that its outcomes say who was asked; and that it can be killed alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_replica_shares_the_ledger() {
    let rig = start("two-replicas").await;
    let early = rig.drive(Load::sequence("early", 1).to(Replica::Second)).await.expect_err("it does not run yet");
    assert!(early.to_string().contains("start_replica"), "{early}");
    rig.start_replica().await.expect("it starts");
    assert!(matches!(rig.start_replica().await, Err(RigError::ReplicaRuns)));
    let first = rig.drive(Load::sequence("first", 3)).await.expect("driven");
    let orders = first.iter().map(|a| a.order.clone()).collect();
    let again = rig.drive(Load::again("again", orders).to(Replica::Second)).await.expect("driven");
    assert!(first.iter().chain(&again).all(|a| a.outcome.succeeded()), "{again:#?}");
    assert!(again.iter().all(|a| a.outcome.reply().is_some_and(|r| r.marker.is_some())), "{again:#?}");
    rig.drive(Load::sequence("second", 3).to(Replica::Second)).await.expect("driven");
    rig.kill_replica(Replica::Second).await.expect("it is killed");
    let alone = rig.drive(Load::sequence("alone", 1)).await.expect("driven");
    assert!(alone[0].outcome.succeeded());
    let gone = rig.drive(Load::sequence("gone", 1).to(Replica::Second)).await.expect("driven");
    assert!(!gone[0].outcome.succeeded());
    rig.start_replica().await.expect("it starts again");
    let back = rig.drive(Load::sequence("back", 1).to(Replica::Second)).await.expect("driven");
    assert!(back[0].outcome.succeeded());
    let evidence = rig.finish().await.expect("finished");
    let asked = |step: &str| evidence.outcomes_of(step).iter().map(|o| o.instance()).collect::<Vec<_>>();
    assert_eq!((asked("first"), asked("again")), (vec![1; 3], vec![2; 3]));
    let called = trace_of(&evidence, "again");
    let called = evidence.attempts.iter().filter(|a| a.context.is_some_and(|c| called.contains(&c.trace.to_string())));
    assert_eq!(called.count(), 0, "a replay calls nobody");
    let rows = evidence.final_ledger().map(|l| l.rows.len());
    assert_eq!(rows, Some(3 + 3 + 1 + 1), "one ledger for both");
    assert!(!evidence.notes.iter().any(|n| n.code == "service-crashed"), "{:?}", evidence.notes);
}

/// Proves that each link has its own proxy and bank, that a fault on one is not one on the other, that a route asks
/// where it says, and that a request by a route is no payment.
#[tokio::test(flavor = "multi_thread")]
async fn links_are_apart_and_routes_are_no_payments() {
    let rig = start("wide").await;
    let fault = Fault::Status(503).always().planned(0).on("spare");
    rig.during(fault, async |rig| rig.drive(Load::sequence("pay", 2)).await).await.expect("driven");
    rig.drive(Load::burst("look", 4).route("health")).await.expect("driven");
    let unknown = rig.drive(Load::sequence("no", 1).route("helth")).await.expect_err("no such route");
    assert!(unknown.to_string().contains("it has health"), "{unknown}");
    let nowhere = Fault::Refuse.always().on("bnak");
    let nowhere = rig.during(nowhere, async |_| Ok(())).await.expect_err("no such link");
    assert!(nowhere.to_string().contains("bank, rates, spare"), "{nowhere}");
    let evidence = rig.finish().await.expect("finished");
    assert!(evidence.outcomes.iter().all(|o| o.succeeded()), "{:#?}", evidence.outcomes);
    assert!(evidence.attempts.iter().all(|a| a.link == "bank" && a.fault.is_none()), "{:#?}", evidence.attempts);
    assert!(evidence.bank.iter().all(|b| b.link.as_deref() == Some("bank")), "{:#?}", evidence.bank);
    let looks = evidence.outcomes_of("look");
    assert!(looks.iter().all(|o| o.route.as_deref() == Some("health") && o.key.is_none() && o.amount.is_none()));
    let joined = harness::judge::evidence::Joined::of(&evidence, "bank");
    assert_eq!((joined.payments.len(), joined.orphan_attempts.len()), (2, 0));
    assert_eq!(evidence.faults.iter().map(|f| f.link.as_str()).collect::<Vec<_>>(), ["spare"]);
}

/// Proves that two layers of which each keeps its own number, and leaves alone what the other has tried again, cost the
/// bank no more than declared: with a fault on either hop, that stays or that comes and goes.
#[rstest]
#[case::steady(&STEADY)]
#[case::amplification(&AMPLIFICATION)]
#[tokio::test(flavor = "multi_thread")]
async fn two_layers_do_not_multiply(#[case] scenario: &'static Scenario) -> Judged {
    session(two_layers())?.judge(&[scenario]).await
}

/// Proves that bank and rates have a breaker and a share of the service each, and what a payment costs the bank.
#[rstest]
#[case::amplification(&AMPLIFICATION)]
#[case::breaker_isolation(&BREAKER_ISOLATION)]
#[case::bulkhead(&BULKHEAD)]
#[tokio::test(flavor = "multi_thread")]
async fn two_dependencies_are_apart(#[case] scenario: &'static Scenario) -> Judged {
    session(payments())?.judge(&[scenario]).await
}
