//! No byte can block a change: readers that stopped reading, and many live connections.

use std::time::{Duration, Instant};

use chaos_proxy::{ApiOptions, ApiServer, Direction, Distribution, Share, Toxic, ToxicKind};

use super::{HOUR_MS, Lab, latency};
use crate::api::kit::Plane;
use crate::kit::{Client, Ended, PATIENCE, eventually, soon};

/// One of each kind.
fn kinds() -> Vec<ToxicKind> {
    let mut kinds: Vec<_> = ToxicKind::TOXIPROXY.iter().filter_map(|name| ToxicKind::toxiproxy(name)).collect();
    // With all attributes zero these would end or stall the connection before anything else is seen.
    kinds.retain(|kind| !matches!(kind.type_name(), "reset_peer" | "limit_data" | "slicer"));
    kinds.extend([
        ToxicKind::ResetPeer { timeout: HOUR_MS },
        ToxicKind::LimitData { bytes: i64::MAX },
        ToxicKind::Slicer { average_size: 100, size_variation: 10, delay: 1 },
        latency(10),
        ToxicKind::Bandwidth { rate: 1_000_000 },
        ToxicKind::Delay { distribution: Distribution::Ms(1.0) },
        ToxicKind::Throttle { bytes_per_s: 1_000_000_000, per: Share::Link },
        ToxicKind::Cut,
        ToxicKind::Reset { after_bytes: u64::MAX },
    ]);
    kinds
}

// Proves that with a client that stopped reading, each kind of toxic can be added, changed and removed, and the board
// read, without waiting for a byte: the connection itself confirms every change.
#[tokio::test]
async fn a_stalled_reader_blocks_no_change() {
    let mut slowest = Duration::ZERO;
    for kind in kinds() {
        let lab = Lab::new().await;
        let (_client, mut upstream) = lab.pair().await;
        if kind.type_name() != "slicer" {
            upstream.fill_up().await;
        }
        lab.add(kind.clone(), Direction::Downstream).await;
        if kind.type_name() == "slicer" {
            upstream.send(vec![b'x'; 4_096]).await;
        }
        let started = Instant::now();
        let touch = |_: &mut Toxic| Ok::<_, chaos_proxy::ToxicError>(());
        let change = lab.board.update("t", touch).expect("updated");
        assert!(lab.board.settled(change.epoch, PATIENCE).await, "{kind:?}");
        assert_eq!(lab.board.list().len(), 1);
        lab.remove().await;
        assert_eq!((lab.board.list().len(), lab.board.epoch()), (0, 3));
        slowest = slowest.max(started.elapsed());
    }
    println!("slowest update and removal together, each confirmed: {slowest:?}");
}

// Proves that a change reaches 250 live connections, and that `settled` says so: after it every one of them is cut, and
// resets when it is told to.
#[tokio::test]
async fn many_live_connections_follow() {
    let lab = Lab::new().await;
    let mut pairs = Vec::new();
    for _ in 0..250 {
        pairs.push(lab.pair().await);
    }
    for _ in 0..20 {
        lab.add(latency(HOUR_MS), Direction::Downstream).await;
        lab.remove().await;
    }
    lab.add(ToxicKind::Reset { after_bytes: 0 }, Direction::Downstream).await;
    for (client, upstream) in &mut pairs {
        assert_eq!(client.rest().await, (String::new(), Ended::Reset));
        assert_eq!(upstream.rest().await, (String::new(), Ended::Reset));
    }
}

// Proves that `settled` is not said before it is so: an epoch that no change has made is never reached.
#[tokio::test]
async fn settled_waits() {
    let lab = Lab::new().await;
    let mut pair = lab.pair().await;
    // A byte that came through says that the connection lives under the board.
    pair.0.send("x").await;
    assert_eq!(soon(tokio::io::AsyncReadExt::read_u8(&mut pair.1.0)).await.expect("a byte"), b'x');
    assert!(!lab.board.settled(1, Duration::from_millis(20)).await);
    assert!(lab.board.settled(0, PATIENCE).await);
    drop(pair);
    assert!(lab.board.settled(1, PATIENCE).await, "nobody lives, so everybody runs it");
}

// Proves that what is sent after the answer of the control plane meets the toxic, on each of more connections than it
// waits for: all of them send at once, and nothing arrives before the removal closes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_after_the_answer_meet_the_toxic() {
    const CROWD: u64 = 200;
    let lab = Lab::new().await;
    let server = ApiServer::start(&lab.proxy, "127.0.0.1:0", ApiOptions::default()).await.expect("api");
    let plane = Plane { proxy: lab.proxy, server };
    let mut pairs = Vec::new();
    for _ in 0..CROWD {
        let client = Client::to(&plane.proxy, "db").await;
        let (upstream, _) = soon(lab.upstream.accept()).await.expect("accept");
        pairs.push((client, Client(upstream)));
    }
    eventually("all live", || plane.proxy.link_status("db").expect("link").connections == CROWD).await;
    let body = r#"{"name":"t","type":"timeout","stream":"upstream","attributes":{"timeout":0}}"#;
    assert_eq!(plane.call("POST /proxies/db/toxics", body).await.status(), 200);
    for (client, _) in &mut pairs {
        client.send("late").await;
    }
    assert_eq!(plane.call("DELETE /proxies/db/toxics/t", "").await.status(), 204);
    for (_, upstream) in &mut pairs {
        assert_eq!(upstream.rest().await, (String::new(), Ended::Fin));
    }
}
