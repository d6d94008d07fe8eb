//! Start, stop, and the log with its limits.

use std::net::SocketAddr;

use crate::kit::{Client, PATIENCE, REPLY, Upstream, attempts, bank, connections, eventually, post, proxy, soon};
use chaos_proxy::{Event, Fault, Limits, LinkConfig, Proxy, ProxyConfig, ProxyError, Rule};
use evidence::{ConnectionEnd, End, Record};
use tokio::net::{TcpListener, TcpStream};

async fn is_refused(addr: SocketAddr) -> bool {
    matches!(soon(TcpStream::connect(addr)).await, Err(e) if e.kind() == std::io::ErrorKind::ConnectionRefused)
}

// Proves that the port is closed when `shutdown` returns, and at once when the proxy is dropped; that it can be taken
// again; and that open connections end.
#[tokio::test]
async fn a_stopped_proxy_is_gone() {
    let upstream = Upstream::start().await;
    for by_drop in [false, true] {
        let proxy = proxy(upstream.addr).await;
        let addr = proxy.link_addr("bank").expect("link");
        let mut idle = Client::to(&proxy, "bank").await;
        idle.send(post("k", "")).await;
        assert_eq!(idle.reply().await, REPLY);
        if by_drop {
            drop(proxy);
        } else {
            proxy.shutdown().await;
        }
        assert!(is_refused(addr).await, "dropped: {by_drop}");
        idle.rest().await;
        drop(idle);
        eventually("the port can be taken", || std::net::TcpListener::bind(addr).is_ok()).await;
    }
}

// Proves that what is open at shutdown is recorded, once, as unfinished, and its connection as ended by the shutdown.
#[tokio::test]
async fn shutdown_records_what_was_open() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("gate", Fault::hold(3_600_000))).expect("arm");
    let mut held = Client::to(&proxy, "bank").await;
    held.send(post("held", "x")).await;
    armed.wait_held(1, PATIENCE).await.expect("held");
    let log = proxy.log();
    proxy.shutdown().await;
    let attempt = attempts(&log).remove(0);
    assert_eq!((attempts(&log).len(), attempt.reply.end), (1, End::Unfinished));
    assert!(attempt.fault.is_some_and(|f| f.held.is_some() && f.released.is_none()));
    assert_eq!((attempt.body.bytes, attempt.upstream.sent), (1, None));
    let connection = connections(&log).remove(0);
    assert_eq!((connection.end, connection.requests), (ConnectionEnd::ByShutdown, 1));
    assert_eq!(armed.disarm().fired, 1, "a handle outlives its proxy");
}

// Proves that a full log drops the new, counts what it dropped, keeps numbering, and takes records again once drained.
#[tokio::test]
async fn a_full_log_counts_what_it_drops() {
    let upstream = Upstream::start().await;
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr)]).log_limit(3)).await.expect("start");
    let log = proxy.log();
    let mut client = Client::to(&proxy, "bank").await;
    let mut ask = async |n: usize| {
        for _ in 0..n {
            client.send(post("k", "")).await;
            client.reply().await;
        }
        proxy.settle(PATIENCE).await.expect("settled");
    };
    ask(5).await;
    assert_eq!((log.len(), log.dropped()), (3, 2));
    assert_eq!(log.drain().len(), 3);
    ask(1).await;
    assert_eq!((log.len(), log.dropped()), (1, 2));
    let attempt = attempts(&log).remove(0);
    assert_eq!((attempt.seq, attempt.ordinal), (5, 6), "a gap shows where records were dropped");
}

// Proves the three ways to read the log: by cursor without loss or repetition, by draining, and live.
#[tokio::test]
async fn the_log_is_read_by_cursor_drain_and_subscription() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let log = proxy.log();
    let mut live = log.subscribe();
    let mut client = Client::to(&proxy, "bank").await;
    let mut cursor = 0;
    for n in 0..3 {
        client.send(post("k", "")).await;
        client.reply().await;
        proxy.settle(PATIENCE).await.expect("settled");
        let page = log.since(cursor);
        assert_eq!((page.records.len(), page.missed), (1, 0));
        assert!(matches!(page.records[0].as_ref(), Record::Attempt(a) if a.seq == n));
        cursor = page.next;
        let event = soon(live.recv()).await;
        assert!(matches!(event, Some(Event::Record(r)) if matches!(r.as_ref(), Record::Attempt(a) if a.seq == n)));
    }
    assert_eq!(log.drain().len(), 3);
    let page = log.since(1);
    assert_eq!((page.records.len(), page.next, page.missed), (0, 3, 2));
    assert!(live.try_recv().is_none() && log.is_empty());
}

// Proves that connections beyond the limit wait in the backlog, are served once there is room, and leave a note.
#[tokio::test]
async fn connections_are_bounded() {
    let upstream = Upstream::start().await;
    let limits = Limits { connections: 1, ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let mut first = Client::to(&proxy, "bank").await;
    first.send(post("a", "")).await;
    assert_eq!(first.reply().await, REPLY);
    let mut second = Client::to(&proxy, "bank").await;
    second.send(post("b", "")).await;
    let log = proxy.log();
    eventually("the note", || crate::kit::notes(&log).iter().any(|n| n.code == "connection-limit")).await;
    assert!(second.is_silent() && proxy.arrivals("bank").expect("link") == 1);
    drop(first);
    assert_eq!(second.reply().await, REPLY);
}

// Proves that each wrong configuration is refused with a text that says what would do.
#[tokio::test]
async fn wrong_configurations_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let taken = taken.local_addr().map(|addr| (taken, addr)).expect("addr");
    let cases: Vec<(Vec<LinkConfig>, &str)> = vec![
        (vec![LinkConfig::http("a"), LinkConfig::tcp("a")], "choose another name"),
        (vec![LinkConfig::http(" ")], "have 1 to 1024 bytes"),
        (vec![LinkConfig::http("a").upstream("host")], "write host:port"),
        (vec![LinkConfig::http("a").upstream("host:0")], "write host:port"),
        (vec![LinkConfig::http("a").key_header("not a header")], "not a header name"),
        (vec![LinkConfig::http("a"), LinkConfig::http("b").listen(taken.1)], "choose a free port, or port 0"),
    ];
    for (links, expected) in cases {
        let error = Proxy::start(ProxyConfig::new(links)).await.expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
    }
    let proxy = Proxy::start(ProxyConfig::new([LinkConfig::http("a")])).await.expect("start");
    let error = proxy.link_addr("b").expect_err("unknown");
    assert!(matches!(&error, ProxyError::UnknownLink { .. }) && error.to_string().contains("the links are: a"));
}
