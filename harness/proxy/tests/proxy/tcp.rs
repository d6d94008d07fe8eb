//! Links that pass bytes.

use crate::kit::{Client, Ended, PATIENCE, connections, eventually, notes, soon};
use chaos_proxy::{Effect, Fault, HoldThen, LinkConfig, Phase, Proxy, ProxyConfig, Rule, Schedule};
use evidence::ConnectionEnd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A proxy with the TCP link `db` to an upstream that reads everything up to the client's FIN and then sends it back.
async fn echoing() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                if stream.read_to_end(&mut bytes).await.is_ok() {
                    stream.write_all(&bytes).await.ok();
                }
            });
        }
    });
    Proxy::start(ProxyConfig::new([LinkConfig::tcp("db").upstream(addr)])).await.expect("start")
}

// Proves that a half-closed connection still brings its answer: megabytes go up, FIN follows, the same megabytes come
// back, FIN follows; and that the record counts them.
#[tokio::test]
async fn half_close_is_passed_on() {
    let proxy = echoing().await;
    let mut client = Client::to(&proxy, "db").await;
    let sent: String = (0..500_000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
    client.send(&sent).await;
    client.0.shutdown().await.expect("half close");
    let (echoed, end) = client.rest().await;
    assert!(echoed == sent && end == Ended::Fin);
    drop(client);
    let log = proxy.log();
    eventually("the record", || connections(&log).len() == 1).await;
    let record = connections(&log).remove(0);
    assert_eq!((record.bytes_in, record.bytes_out), (500_000, 500_000));
    assert_eq!((record.end, record.requests), (ConnectionEnd::ByClient, 0));
    assert!(record.accepted <= record.closed);
}

// Proves that a RST on one side is a RST on the other, in both directions.
#[tokio::test]
async fn resets_are_passed_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let link = LinkConfig::tcp("db").upstream(listener.local_addr().expect("addr"));
    let proxy = Proxy::start(ProxyConfig::new([link])).await.expect("start");
    for by_client in [true, false] {
        let mut client = Client::to(&proxy, "db").await;
        let (mut upstream, _) = soon(listener.accept()).await.expect("accept");
        client.send("x").await;
        soon(upstream.read_u8()).await.expect("connected through");
        if by_client {
            client.0.set_zero_linger().expect("linger");
            drop(client);
            let error = soon(upstream.read_u8()).await.expect_err("reset");
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        } else {
            upstream.set_zero_linger().expect("linger");
            drop(upstream);
            assert_eq!(client.rest().await, (String::new(), Ended::Reset));
        }
    }
    let log = proxy.log();
    eventually("both records", || connections(&log).len() == 2).await;
    let ends: Vec<_> = connections(&log).iter().map(|c| c.end).collect();
    assert_eq!(ends, [ConnectionEnd::ByClient, ConnectionEnd::ByUpstream]);
}

// Proves that a dial that fails ends the client's connection with RST and leaves its reason in the log.
#[tokio::test]
async fn a_failed_dial_is_a_reset() {
    let proxy = Proxy::start(ProxyConfig::new([LinkConfig::tcp("db")])).await.expect("start");
    assert_eq!(Client::to(&proxy, "db").await.rest().await, (String::new(), Ended::Reset));
    let log = proxy.log();
    eventually("the record", || connections(&log).len() == 1).await;
    assert_eq!(connections(&log)[0].end, ConnectionEnd::ByUpstream);
    assert!(notes(&log).iter().any(|n| n.code == "dial-failed" && n.text.contains("no upstream is set")));
}

// Proves that a connection that waits blocks nobody else: the first is held, three later ones run through.
#[tokio::test]
async fn connections_do_not_wait_for_one_another() {
    let proxy = echoing().await;
    let hold = Fault::at(Phase::Connect, Effect::Hold { timeout_ms: 3_600_000, then: HoldThen::Pass });
    let armed = proxy.arm(Rule::new("gate", hold).link("db").schedule(Schedule::nth(1))).expect("arm");
    let mut first = Client::to(&proxy, "db").await;
    first.send("first").await;
    first.0.shutdown().await.expect("half close");
    armed.wait_held(1, PATIENCE).await.expect("held");
    for _ in 0..3 {
        let mut client = Client::to(&proxy, "db").await;
        client.send("later").await;
        client.0.shutdown().await.expect("half close");
        assert_eq!(client.rest().await, ("later".to_owned(), Ended::Fin));
    }
    assert!(first.is_silent());
    armed.release_all();
    assert_eq!(first.rest().await, ("first".to_owned(), Ended::Fin));
}

// Proves that connections are refused by sequence and by count: the schedule counts connections.
#[tokio::test]
async fn schedules_count_connections() {
    let proxy = echoing().await;
    let armed = proxy.arm(Rule::new("flap", Fault::refuse()).schedule(Schedule::every(2))).expect("arm");
    for refused in [false, true, false, true] {
        let mut client = Client::to(&proxy, "db").await;
        if !refused {
            client.send("x").await;
            client.0.shutdown().await.expect("half close");
        }
        let expected = if refused { ("", Ended::Reset) } else { ("x", Ended::Fin) };
        let (text, end) = client.rest().await;
        assert_eq!((text.as_str(), end), expected);
    }
    assert_eq!(armed.fired(), 2);
}
