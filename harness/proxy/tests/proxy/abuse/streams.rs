//! HTTP/2 under abuse, in raw frames: resets without end, floods of control frames, and frames that stop at any byte.

use evidence::End;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{Floor, dial, quiet, resets};
use crate::kit::{Client, REPLY, Upstream, attempts, connections, eventually, post, proxy, soon};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// `:method: GET`, `:scheme: http`, `:path: /`, `:authority: bank`.
const HEAD: &[u8] = b"\x82\x86\x84\x41\x04bank";

/// One frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a length").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn settings() -> Vec<u8> {
    [PREFACE, &frame(4, 0, 0, &[])].concat()
}

/// A request without a body.
fn request(stream: u32) -> Vec<u8> {
    frame(1, 0x5, stream, HEAD)
}

fn reset(stream: u32) -> Vec<u8> {
    frame(3, 0, stream, &8_u32.to_be_bytes())
}

// Proves that a connection which begins as HTTP/2 may stop at any byte, by FIN and by RST: at most one attempt is on
// record for it, every connection is, and no task stays behind.
#[tokio::test]
async fn frames_may_stop_at_every_byte() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let all = [settings(), frame(4, 1, 0, &[]), request(1), frame(6, 0, 0, &[0; 8])].concat();
    for cut in 0..=all.len() {
        for by_reset in [false, true] {
            let mut stream = dial(addr).await;
            stream.write_all(&all[..cut]).await.expect("send");
            if by_reset {
                resets(&stream);
            }
        }
    }
    let connected = 2 * (all.len() + 1);
    eventually("a record of each connection", || connections(&proxy.log()).len() == connected).await;
    quiet(&proxy, "bank").await;
    assert!(attempts(&proxy.log()).len() <= connected);
    floor.regained().await;
    proxy.shutdown().await;
}

// Proves that floods end or are answered, never pile up: opening and resetting streams as fast as possible, pings and
// settings without reading their answers, a head without end, windows that overflow, frames of no known kind. Afterwards
// an honest client is served, each attempt has an end, and no task stays behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_are_bounded() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let streams = || (0..5_000).map(|n| 2 * n + 1);
    let floods: [(&str, Vec<u8>); 8] = [
        ("rapid reset", streams().flat_map(|n| [request(n), reset(n)].concat()).collect()),
        ("streams", streams().flat_map(request).collect()),
        ("pings", frame(6, 0, 0, &[1; 8]).repeat(50_000)),
        ("settings", frame(4, 0, 0, &[0, 3, 0, 0, 0, 9]).repeat(20_000)),
        ("a head without end", [frame(1, 0x1, 1, HEAD), frame(9, 0, 1, &[0x82; 16_000]).repeat(200)].concat()),
        ("windows", frame(8, 0, 0, &0x7fff_ffff_u32.to_be_bytes()).repeat(10)),
        ("unknown frames", frame(0xee, 0xff, 0, &[7; 1000]).repeat(2_000)),
        ("empty data", [frame(1, 0x4, 1, HEAD), frame(0, 0, 1, &[]).repeat(50_000)].concat()),
    ];
    for (name, flood) in &floods {
        let mut stream = dial(addr).await;
        let bytes = [settings(), flood.clone()].concat();
        // The proxy may end the connection in the middle of it, or stop reading because nobody reads its answers.
        let wrote = tokio::time::timeout(std::time::Duration::from_secs(2), stream.write_all(&bytes)).await;
        eprintln!("{name}: {}", if matches!(wrote, Ok(Ok(()))) { "taken" } else { "ended or stopped" });
        resets(&stream);
        drop(stream);
        let mut honest = Client::to(&proxy, "bank").await;
        honest.send(post("k", "x")).await;
        assert_eq!(honest.reply().await, REPLY, "{name}");
    }
    let connected = 2 * floods.len();
    eventually("a record of each connection", || connections(&proxy.log()).len() == connected).await;
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert!(log.iter().filter(|a| a.reply.end == End::Replied && a.method == "POST").count() == floods.len());
    assert!(log.iter().all(|a| a.reply.end != End::Unfinished), "every attempt has an end");
    floor.regained().await;
    proxy.shutdown().await;
}

// Proves that a client which never opens its window holds no one up: its answers wait in bounded windows, other
// connections go on, and all of it ends with the client.
#[tokio::test]
async fn closed_windows_hold_nobody_up() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let mut stuck = dial(proxy.link_addr("bank").expect("link")).await;
    let no_window = [PREFACE, &frame(4, 0, 0, &[0, 4, 0, 0, 0, 0])].concat();
    let requests: Vec<u8> = (0..100).map(|n| 2 * n + 1).flat_map(request).collect();
    stuck.write_all(&[no_window, requests].concat()).await.expect("send");
    let mut some = [0; 64];
    soon(stuck.read(&mut some)).await.expect("settings of the proxy");
    let mut honest = Client::to(&proxy, "bank").await;
    honest.send(post("k", "x")).await;
    assert_eq!(honest.reply().await, REPLY);
    drop((stuck, honest));
    quiet(&proxy, "bank").await;
    floor.regained().await;
    proxy.shutdown().await;
}
