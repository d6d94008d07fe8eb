//! Clients that leave: the moment is on record, and what the upstream did is known all the same.

use std::time::Duration;

use crate::kit::{Client, PATIENCE, REPLY, Upstream, attempts, bank, post, proxy, soon};
use chaos_proxy::{Delay, Effect, Fault, Limits, Phase, Proxy, ProxyConfig, Rule};
use evidence::{Attempt, End};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

fn only(proxy: &Proxy) -> Attempt {
    let mut found = attempts(&proxy.log());
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

// Proves the failure instant of a hang and of a delay: it lies between the moment before the client closed and the
// moment after the record was there, for FIN and for RST.
#[tokio::test]
async fn the_moment_of_leaving_is_recorded() {
    for effect in [Effect::Hang, Effect::Delay(Delay::Ms(3_600_000.0))] {
        for by_reset in [false, true] {
            let upstream = Upstream::start().await;
            let proxy = proxy(upstream.addr).await;
            let armed = proxy.arm(Rule::new("r", Fault::at(Phase::Request, effect.clone()))).expect("arm");
            let mut client = Client::to(&proxy, "bank").await;
            client.send(post("k", "x")).await;
            armed.wait_fired(1, PATIENCE).await.expect("fired");
            if by_reset {
                client.0.set_zero_linger().expect("linger");
            }
            let before = proxy.now();
            drop(client);
            proxy.settle(PATIENCE).await.expect("settled");
            let after = proxy.now();
            let attempt = only(&proxy);
            assert_eq!((attempt.reply.end, attempt.reply.status), (End::ClientLeft, None));
            assert!(before <= attempt.reply.ended && attempt.reply.ended <= after, "{attempt:?}");
            assert!(upstream.seen().is_empty());
        }
    }
}

/// A bank that reads one request and answers it on command.
async fn slow_bank() -> (std::net::SocketAddr, tokio::sync::oneshot::Sender<()>, tokio::sync::oneshot::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    let (answer, answered) = tokio::sync::oneshot::channel::<()>();
    let (got, has) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accept");
        let mut bytes = Vec::new();
        while crate::kit::message_length(&bytes).is_none() {
            stream.read_buf(&mut bytes).await.expect("read");
        }
        got.send(()).expect("the test waits");
        // An error says that the test never wants the answer: the connection then just stays open.
        if answered.await.is_ok() {
            stream.write_all(REPLY.as_bytes()).await.expect("write");
        }
        stream.read_to_end(&mut bytes).await.ok();
    });
    (addr, answer, has)
}

// Proves that a request which the bank has is not taken back when its client leaves: the bank's answer comes on record
// after the client's end.
#[tokio::test]
async fn the_answer_after_the_client_left_is_recorded() {
    let (addr, answer, got) = slow_bank().await;
    let proxy = proxy(addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "x")).await;
    soon(got).await.expect("the bank has it");
    drop(client);
    let log = proxy.log();
    crate::kit::eventually("the connection's end", || crate::kit::connections(&log).len() == 1).await;
    assert_eq!((attempts(&log).len(), proxy.in_flight("bank").expect("link")), (0, 1), "its answer is awaited");
    answer.send(()).expect("the bank waits");
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = only(&proxy);
    assert_eq!((attempt.reply.end, attempt.upstream.status), (End::ClientLeft, Some(201)));
    assert!(attempt.upstream.answered > Some(attempt.reply.ended), "{attempt:?}");
}

// Proves that the wait for such an answer has an end, which the record states.
#[tokio::test]
async fn the_wait_for_a_late_answer_is_bounded() {
    let (addr, _never, got) = slow_bank().await;
    let limits = Limits { late_answer_time: Duration::from_millis(20), ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(addr).limits(limits)])).await.expect("start");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "x")).await;
    soon(got).await.expect("the bank has it");
    drop(client);
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = only(&proxy);
    assert!(attempt.upstream.sent.is_some() && attempt.upstream.status.is_none());
    assert!(attempt.upstream.error.is_some_and(|e| e.contains("no whole answer within 20ms")));
}

// Proves that a client that leaves in the middle of its request leaves the bank without a whole request, and that the
// record says how much had come.
#[tokio::test]
async fn a_torn_request_is_recorded_as_torn() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send(&post("k", "0123456789")[..post("k", "0123456789").len() - 4]).await;
    proxy.wait_arrivals("bank", 1, PATIENCE).await.expect("arrived");
    drop(client);
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = only(&proxy);
    assert_eq!((attempt.reply.end, attempt.received, attempt.upstream.sent), (End::ClientLeft, None, None));
    assert_eq!((attempt.body.bytes, attempt.body.declared, attempt.body.sha256), (6, Some(10), None));
    assert!(upstream.seen().is_empty());
}

// Proves that leaving in the middle of a head is on record too, without a key or an ordinal.
#[tokio::test]
async fn a_torn_head_is_recorded() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send("POST /charges HTTP/1.1\r\nhost: b").await;
    client.0.shutdown().await.expect("shutdown");
    client.rest().await;
    let log = proxy.log();
    crate::kit::eventually("the record", || !attempts(&log).is_empty()).await;
    let attempt = only(&proxy);
    assert_eq!((attempt.reply.end, attempt.ordinal, attempt.method.as_str()), (End::ClientLeft, 0, ""));
    assert_eq!(proxy.arrivals("bank").expect("link"), 0);
}
