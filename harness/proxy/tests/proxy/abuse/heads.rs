//! Heads that dribble, that never end, and that are no heads at all.

use std::time::Duration;

use chaos_proxy::{Limits, Proxy, ProxyConfig};
use evidence::End;
use tokio::io::AsyncWriteExt;

use super::kit::{Floor, dial, quiet};
use crate::kit::{Client, Ended, REPLY, Upstream, attempts, bank, connections, eventually, notes, post};

/// Clients that dribble at once.
const LORIS: usize = 400;

// Proves that clients which never finish their heads cost no one else anything: an honest client is served while they
// hang, each of them gets its 408 and one record, and no task stays behind.
#[tokio::test]
async fn dribbled_heads_are_bounded() {
    let upstream = Upstream::start().await;
    let limits = Limits { head_time: Duration::from_millis(500), ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let mut crowd = Vec::new();
    for _ in 0..LORIS {
        let mut stream = dial(addr).await;
        stream.write_all(b"POST / HTTP/1.1\r\nx: ").await.expect("a start");
        crowd.push(tokio::spawn(async move {
            let mut client = Client(stream);
            // A byte now and then, for as long as the proxy listens: time is counted from the first byte, not the last.
            while client.is_silent() && client.0.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            client.rest().await
        }));
    }
    let mut honest = Client::to(&proxy, "bank").await;
    honest.send(post("k", "x")).await;
    assert_eq!(honest.reply().await, REPLY);
    drop(honest);
    for loris in crowd {
        let (text, _) = loris.await.expect("joined");
        // Looking whether anything came takes its first byte.
        assert!(text.contains("TTP/1.1 408 "), "{text:?}");
    }
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    let late = log.iter().filter(|a| a.reply.end == End::Malformed && a.reply.status == Some(408)).count();
    assert_eq!((late, log.len(), upstream.seen().len()), (LORIS, LORIS + 1, 1));
    floor_of(floor, &proxy, LORIS + 1).await;
}

/// Every connection has its record, and nothing runs any more.
async fn floor_of(floor: Floor, proxy: &Proxy, connected: usize) {
    eventually("a record of each connection", || connections(&proxy.log()).len() == connected).await;
    floor.regained().await;
}

// Proves that heads beyond each limit are refused with the status that says so, whatever shape they have, also when the
// client sends far more than is read; the upstream never hears of one.
#[tokio::test]
async fn oversized_heads_are_refused() {
    let upstream = Upstream::start().await;
    let limits = Limits { head_bytes: 4 << 10, ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let floor = Floor::here();
    let field = |n: usize| format!("POST / HTTP/1.1\r\nx: {}\r\n\r\n", "v".repeat(n));
    let fits = field((4 << 10) - field(0).len());
    assert_eq!(fits.len(), 4 << 10);
    let fields = |n: usize| (0..n).map(|i| format!("{i}:\r\n")).collect::<String>();
    let cases = [
        (fits.clone(), 201),
        (fits.replacen("x: ", "xx: ", 1), 431),
        (field(1 << 20), 431),
        (format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(5 << 10)), 431),
        (format!("GET /{}", "a".repeat(5 << 10)), 431),
        (format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(1_000)), 431),
        (format!("GET / HTTP/1.1\r\n{}\r\n", fields(256)), 201),
        (format!("GET / HTTP/1.1\r\n{}\r\n", fields(257)), 400),
        (format!("{} / HTTP/1.1\r\n\r\n", "A".repeat(33)), 400),
    ];
    for (head, status) in &cases {
        let mut client = Client::to(&proxy, "bank").await;
        client.send(head).await;
        client.0.shutdown().await.expect("fin");
        if *status == 201 {
            // The client is gone for HTTP; that it was forwarded is what counts.
            client.rest().await;
            continue;
        }
        let (text, end) = client.rest().await;
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{:.60?}: {text:?}", head);
        assert_eq!(end, Ended::Fin, "{:.60?}", head);
    }
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    let refused = log.iter().filter(|a| a.reply.end == End::Malformed).count();
    assert_eq!((log.len(), refused), (cases.len(), cases.len() - 2));
    floor_of(floor, &proxy, cases.len()).await;
}

// Proves that bytes which are no HTTP at all are answered or ended, recorded once, and remarked; and that line ends alone
// are no attempt however many they are.
#[tokio::test]
async fn noise_is_survived() {
    let upstream = Upstream::start().await;
    let proxy = crate::kit::proxy(upstream.addr).await;
    let floor = Floor::here();
    let mut state = 7_u64;
    let mut random = |n: usize| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..n).map(|_| next()).collect::<Vec<u8>>()
    };
    let mut noise = vec![
        vec![0; 1 << 20],
        vec![0xff; 70_000],
        b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03".repeat(100),
        b"SSH-2.0-x\r\n\r\n".to_vec(),
        b"\r\n\r\nGET\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\n: x\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\na\0b: x\r\n\r\n".to_vec(),
        b" \r\n\r\n".to_vec(),
    ];
    // Never by chance the beginning of a request: the first byte is none of a method.
    noise.extend((1..40).map(|n| [vec![0x80], random(n * n)].concat()));
    for bytes in &noise {
        let mut client = Client(dial(proxy.link_addr("bank").expect("link")).await);
        // It may be refused before all of it is written.
        let _cut = client.0.write_all(bytes).await;
        let (text, _) = client.rest().await;
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 400 "), "{text:?}");
    }
    let mut client = Client::to(&proxy, "bank").await;
    client.send("\r\n".repeat(500_000)).await;
    client.send(post("k", "x")).await;
    assert_eq!(client.reply().await, REPLY);
    drop(client);
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.iter().filter(|a| a.reply.end == End::Malformed).count(), noise.len());
    assert_eq!((log.len(), upstream.seen().len()), (noise.len() + 1, 1));
    assert!(notes(&proxy.log()).iter().any(|n| n.code == "malformed-request"));
    floor_of(floor, &proxy, noise.len() + 1).await;
}
