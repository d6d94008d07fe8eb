//! Rules and links that come and go under load.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chaos_proxy::{Fault, LinkConfig, Rule};
use tokio::io::AsyncWriteExt;

use super::kit::{Floor, dial, quiet};
use crate::kit::{Client, REPLY, Upstream, attempts, connections, eventually, post, proxy};

/// How often a rule is armed and disarmed.
const ROUNDS: usize = 10_000;
/// Clients that call meanwhile, one call at a time.
const CALLERS: u64 = 4;

// Proves that ten thousand armings and disarmings under load neither lose nor double a strike: each attempt meets one
// fault at most, and the strikes on record are exactly the replies that clients got of rules. What a rule has decided it
// carries out after its disarming too, so a window may count less than the record: by one call a client at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strikes_are_counted_exactly_under_churn() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let over = Arc::<AtomicBool>::default();
    let mut callers = Vec::new();
    for n in 0..CALLERS {
        let (mut client, over) = (Client::to(&proxy, "bank").await, Arc::clone(&over));
        callers.push(tokio::spawn(async move {
            let (mut calls, mut struck) = (0_u64, 0_u64);
            while !over.load(Ordering::Relaxed) {
                client.send(post(&format!("{n}-{calls}"), "x")).await;
                let reply = client.reply().await;
                struck += u64::from(reply.starts_with("HTTP/1.1 503 "));
                assert!(reply == REPLY || reply.starts_with("HTTP/1.1 503 "), "{reply}");
                calls += 1;
            }
            (calls, struck)
        }));
    }
    let mut fired = BTreeMap::new();
    let mut epoch = proxy.epoch();
    for n in 0..ROUNDS {
        let armed = proxy.arm(Rule::new(format!("r{n}"), Fault::status(503))).expect("arm");
        if n % 16 == 0 {
            tokio::task::yield_now().await;
        }
        let window = armed.disarm();
        fired.insert(window.rule, window.fired);
        let now = proxy.epoch();
        assert!(now >= epoch + 2, "arming and disarming are an epoch each");
        epoch = now;
    }
    over.store(true, Ordering::Relaxed);
    let (mut calls, mut struck) = (0, 0);
    for caller in callers {
        let (all, hit) = caller.await.expect("joined");
        (calls, struck) = (calls + all, struck + hit);
    }
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    let mut on_record = fired.keys().map(|rule| (rule.clone(), 0)).collect::<BTreeMap<_, u64>>();
    for fault in log.iter().filter_map(|a| a.fault.as_ref()) {
        *on_record.get_mut(&fault.rule).expect("a rule that was armed") += 1;
    }
    assert_eq!((log.len() as u64, on_record.values().sum::<u64>()), (calls, struck));
    for (rule, &recorded) in &on_record {
        let counted = fired[rule];
        assert!((counted..=counted + CALLERS).contains(&recorded), "{rule}: {counted} counted, {recorded} on record");
    }
    eprintln!("{calls} calls, {struck} struck, over {ROUNDS} armings");
    floor.regained().await;
}

// Proves that links which come and go while clients are on them take everything of theirs along: every connection that
// was accepted has its record, a link that is gone is refused by the kernel, and no task stays behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_come_and_go_under_load() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let mut accepted = 0;
    for round in 0..100 {
        let name = format!("l{round}");
        let config = if round % 2 == 0 { LinkConfig::http(&name) } else { LinkConfig::tcp(&name) };
        proxy.add_link(config.upstream(upstream.addr)).await.expect("added");
        let addr = proxy.link_addr(&name).expect("link");
        let mut clients = Vec::new();
        for n in 0..8 {
            let mut stream = dial(addr).await;
            let request = post("k", "x");
            let sent = if n % 2 == 0 { request.len() } else { n };
            stream.write_all(&request.as_bytes()[..sent]).await.expect("send");
            clients.push(Client(stream));
        }
        eventually("all accepted", || proxy.link_status(&name).expect("link").connections == 8).await;
        accepted += 8;
        if round % 3 == 0 {
            assert_eq!(clients[0].reply().await, REPLY);
        }
        proxy.remove_link(&name).await.expect("removed");
        assert!(proxy.link_status(&name).is_err());
        assert!(tokio::net::TcpStream::connect(addr).await.is_err(), "{name} is gone");
    }
    eventually("a record of each connection", || connections(&proxy.log()).len() == accepted).await;
    floor.regained().await;
    proxy.shutdown().await;
}
