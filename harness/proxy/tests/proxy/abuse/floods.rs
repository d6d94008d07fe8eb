//! Too much of something that is allowed: pipelined requests, bodies that a fault withholds, connections beyond the limit.

use chaos_proxy::{Delay, Effect, Fault, Limits, Phase, Proxy, ProxyConfig, Rule};
use evidence::End;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{Floor, dial, quiet};
use crate::kit::{Client, Ended, REPLY, Upstream, attempts, bank, connections, eventually, post, proxy, soon};

/// Requests that are pipelined on one connection.
const PIPELINED: usize = 2_000;

// Proves that any number of pipelined requests is answered whole and in order, each with one record, while the proxy
// reads no further ahead than its limit: the client's writes wait for its reads.
#[tokio::test]
async fn pipelines_of_any_length_are_served() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let (mut reading, mut writing) = dial(proxy.link_addr("bank").expect("link")).await.into_split();
    let writer = tokio::spawn(async move {
        for n in 0..PIPELINED {
            writing.write_all(post(&format!("k{n}"), "x").as_bytes()).await.expect("send");
        }
        writing
    });
    let mut replies = vec![0; REPLY.len() * PIPELINED];
    soon(reading.read_exact(&mut replies)).await.expect("every reply");
    assert!(replies.chunks(REPLY.len()).all(|reply| reply == REPLY.as_bytes()));
    drop((reading, writer.await.expect("joined")));
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.len(), PIPELINED);
    for (n, attempt) in log.iter().enumerate() {
        assert_eq!((attempt.key.as_deref(), attempt.reply.end), (Some(&*format!("k{n}")), End::Replied));
    }
    floor.regained().await;
}

// Proves that a body which a fault withholds is bounded: at the limit it goes through, one byte beyond it is answered
// 413 and the upstream never hears of it, with a declared length and with chunks.
#[tokio::test]
async fn withheld_bodies_are_bounded() {
    let upstream = Upstream::start().await;
    let limits = Limits { withheld_bytes: 10_000, ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let floor = Floor::here();
    let rule = Rule::new("wait", Fault::at(Phase::Request, Effect::Delay(Delay::Ms(0.0))));
    let armed = proxy.arm(rule).expect("arm");
    let chunked = |n: usize| {
        let head = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
        // A chunk's framing counts: it is withheld too.
        format!("{head}{:04x}\r\n{}\r\n0\r\n\r\n", n, "x".repeat(n))
    };
    let framing = chunked(0).len() - "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n".len();
    for (request, passes) in [
        (post("k", &"x".repeat(10_000)), true),
        (post("k", &"x".repeat(10_001)), false),
        (post("k", &"x".repeat(3 << 20)), false),
        (chunked(10_000 - framing), true),
        (chunked(10_000 - framing + 1), false),
    ] {
        let mut client = Client::to(&proxy, "bank").await;
        let before = upstream.seen().len();
        client.send(&request).await;
        if passes {
            assert_eq!(client.reply().await, REPLY);
            assert_eq!(upstream.seen().len(), before + 1);
            continue;
        }
        let (text, end) = client.rest().await;
        assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
        assert_eq!((end, upstream.seen().len()), (Ended::Fin, before));
    }
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.iter().filter(|a| a.reply.end == End::Malformed).count(), 3);
    assert_eq!(armed.disarm().fired, log.iter().filter(|a| a.fault.is_some()).count() as u64);
    floor.regained().await;
}

// Proves that far more clients than the limit allows are all served, one after the other, with no more than the limit
// open at any time, and that none is lost.
#[tokio::test]
async fn a_crowd_passes_a_narrow_door() {
    let upstream = Upstream::start().await;
    let limits = Limits { connections: 4, ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let floor = Floor::here();
    let mut crowd = Vec::new();
    for n in 0..200 {
        let mut client = Client::to(&proxy, "bank").await;
        crowd.push(tokio::spawn(async move {
            client.send(post(&n.to_string(), "x").replace("host: bank", "connection: close")).await;
            client.rest().await
        }));
        assert!(proxy.link_status("bank").expect("link").connections <= 4);
    }
    for client in crowd {
        assert_eq!(client.await.expect("joined"), (REPLY.to_owned(), Ended::Fin));
    }
    quiet(&proxy, "bank").await;
    eventually("a record of each connection", || connections(&proxy.log()).len() == 200).await;
    let mut open: Vec<(u64, i32)> = Vec::new();
    for c in connections(&proxy.log()) {
        open.extend([(c.accepted.0, 1), (c.closed.0, -1)]);
    }
    // At equal moments the end comes first: it made the room.
    open.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in open {
        now += step;
        most = most.max(now);
    }
    assert!(most <= 4, "{most} were open at once");
    floor.regained().await;
}
