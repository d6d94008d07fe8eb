//! Gates: the n-th call is held while the others are counted, and goes on by command.

use std::sync::Arc;

use crate::kit::{Client, PATIENCE, REPLY, Upstream, attempts, eventually, post, proxy, soon};
use chaos_proxy::{Fault, Rule, Schedule, WaitError};
use evidence::End;
use tokio::task::JoinSet;

/// Longer than any test: a hold that is not released fails its test by hanging.
const NEVER_MS: u64 = 3_600_000;

// Proves the single-probe question end to end: the first call is held, 31 others arrive, are counted and answered
// meanwhile, the bank has seen exactly those 31, and the held one is answered after its release.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_call_is_held_while_31_others_pass() {
    let upstream = Upstream::start().await;
    let proxy = Arc::new(proxy(upstream.addr).await);
    let armed = proxy.arm(Rule::new("probe", Fault::hold(NEVER_MS)).schedule(Schedule::nth(1))).expect("arm");
    let mut probe = Client::to(&proxy, "bank").await;
    probe.send(post("probe", "x")).await;
    let held = armed.wait_held(1, PATIENCE).await.expect("held");
    assert_eq!((held[0].key.as_deref(), held[0].path.as_str(), held[0].ordinal), (Some("probe"), "/charges", 1));
    let mut others = JoinSet::new();
    for i in 0..31 {
        let proxy = Arc::clone(&proxy);
        others.spawn(async move {
            let mut client = Client::to(&proxy, "bank").await;
            client.send(post(&format!("other-{i}"), "x")).await;
            client.reply().await
        });
    }
    assert!(soon(others.join_all()).await.iter().all(|reply| reply == REPLY));
    assert_eq!(proxy.wait_arrivals("bank", 32, PATIENCE).await.expect("arrivals"), 32);
    eventually("only the held one in flight", || proxy.in_flight("bank").expect("link") == 1).await;
    let live = proxy.live("bank").expect("link");
    assert_eq!((live[0].key.as_deref(), live[0].rule.as_deref()), (Some("probe"), Some("probe")));
    assert_eq!((upstream.seen().len(), probe.is_silent()), (31, true));
    let before = proxy.now();
    assert_eq!(armed.release(1), 1);
    assert_eq!(probe.reply().await, REPLY);
    let after = proxy.now();
    proxy.settle(PATIENCE).await.expect("settled");
    let record = attempts(&proxy.log()).into_iter().find(|a| a.key.as_deref() == Some("probe")).expect("record");
    let struck = record.fault.expect("struck");
    assert_eq!((struck.what.as_str(), record.reply.end, armed.held().len()), ("request/hold", End::Replied, 0));
    assert_eq!(struck.held, Some(held[0].since));
    assert!(
        struck.released >= Some(before) && struck.released <= Some(after) && record.upstream.sent >= struck.released
    );
}

// Proves that calls are released in the order they reached the gate, a number at a time.
#[tokio::test]
async fn calls_are_released_in_order() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("gate", Fault::hold(NEVER_MS))).expect("arm");
    let mut clients = Vec::new();
    for i in 0..4 {
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post(&format!("k{i}"), "")).await;
        armed.wait_held(i + 1, PATIENCE).await.expect("held");
        clients.push(client);
    }
    assert_eq!(armed.release(1), 1);
    assert_eq!(clients[0].reply().await, REPLY);
    assert_eq!(armed.release(2), 2);
    assert_eq!((clients[1].reply().await, clients[2].reply().await), (REPLY.to_owned(), REPLY.to_owned()));
    assert_eq!((armed.held()[0].key.as_deref(), clients[3].is_silent()), (Some("k3"), true));
    assert_eq!((armed.release_all(), armed.release_all()), (1, 0));
    assert_eq!(clients[3].reply().await, REPLY);
}

// Proves that neither disarming nor losing the handle leaves a call behind at a gate.
#[tokio::test]
async fn disarming_releases() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    for by_drop in [false, true] {
        let armed = proxy.arm(Rule::new("gate", Fault::hold(NEVER_MS))).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "")).await;
        armed.wait_held(1, PATIENCE).await.expect("held");
        if by_drop {
            drop(armed);
        } else {
            assert_eq!(armed.disarm().fired, 1);
        }
        assert_eq!(client.reply().await, REPLY);
    }
}

// Proves that a client that leaves while held is gone from the gate, is recorded so, and never reaches the bank.
#[tokio::test]
async fn a_held_client_may_leave() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("gate", Fault::hold(NEVER_MS))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "")).await;
    armed.wait_held(1, PATIENCE).await.expect("held");
    drop(client);
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!((armed.held().len(), armed.release_all()), (0, 0));
    let record = attempts(&proxy.log()).remove(0);
    let struck = record.fault.expect("struck");
    assert_eq!((record.reply.end, struck.released), (End::ClientLeft, None));
    assert!(struck.held.is_some() && upstream.seen().is_empty());
}

// Proves that a wait that is not met says what was there.
#[tokio::test]
async fn waits_say_what_was_missing() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("gate", Fault::hold(NEVER_MS))).expect("arm");
    let soon = std::time::Duration::from_millis(1);
    assert!(matches!(armed.wait_held(1, soon).await, Err(WaitError::Held { seen: 0, wanted: 1, .. })));
    assert!(matches!(armed.wait_fired(2, soon).await, Err(WaitError::Fired { seen: 0, wanted: 2, .. })));
    let error = proxy.wait_arrivals("bank", 3, soon).await.expect_err("none");
    assert_eq!(error.to_string(), "0 of 3 requests arrived on link `bank` within 1ms");
    assert!(proxy.wait_arrivals("bnak", 3, soon).await.is_err());
}
