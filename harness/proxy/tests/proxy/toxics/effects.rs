//! Toxics that hold bytes back or drop them, over real sockets and on live connections. Their exact moments are proven in
//! made-up time, beside the chain itself; here delays are only bounded from below.

use std::time::{Duration, Instant};

use chaos_proxy::{Direction, Distribution, Toxic, ToxicKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{HOUR_MS, Lab, latency};
use crate::kit::{Client, Ended, PATIENCE, soon};

async fn bytes(from: &mut Client, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    soon(from.0.read_exact(&mut bytes)).await.expect("bytes");
    bytes
}

// Proves that a delay is never short, in either direction and of either kind, and that two add up.
#[tokio::test]
async fn delays_are_never_short() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    lab.board.add(Toxic::new(latency(20), Direction::Upstream)).expect("added");
    let delay = ToxicKind::Delay { distribution: Distribution::Ms(7.5) };
    let change = lab.board.add(Toxic::new(delay, Direction::Upstream)).expect("added");
    assert!(lab.board.settled(change.epoch, PATIENCE).await);
    for _ in 0..3 {
        let sent = Instant::now();
        client.send("ping").await;
        assert_eq!(bytes(&mut upstream, 4).await, b"ping");
        assert!(sent.elapsed() >= Duration::from_micros(27_500));
        // The other direction has none.
        upstream.send("pong").await;
        assert_eq!(bytes(&mut client, 4).await, b"pong");
    }
}

// Proves that what a toxic holds back on a live connection is let go by a removal and by an update, for each kind that
// holds: the test would wait for an hour otherwise.
#[tokio::test]
async fn removal_lets_go_of_what_is_held() {
    let kinds = [
        latency(HOUR_MS),
        ToxicKind::Delay { distribution: Distribution::Ms(HOUR_MS as f64) },
        ToxicKind::Bandwidth { rate: 0 },
        ToxicKind::Slicer { average_size: 1, size_variation: 0, delay: HOUR_MS * 1_000 },
    ];
    let lab = Lab::new().await;
    for kind in kinds {
        for update in [false, true] {
            let (mut client, mut upstream) = lab.pair().await;
            lab.add(kind.clone(), Direction::Upstream).await;
            client.send("held").await;
            client.0.shutdown().await.expect("half close");
            if update {
                let change = |toxic: &mut Toxic| {
                    toxic.kind = ToxicKind::Noop;
                    Ok::<_, chaos_proxy::ToxicError>(())
                };
                lab.board.update("t", change).expect("updated");
            } else {
                lab.remove().await;
            }
            assert_eq!(upstream.rest().await, ("held".to_owned(), Ended::Fin), "{kind:?}");
            if update {
                lab.remove().await;
            }
        }
    }
}

// Proves that a half-close passes a chain of toxics: the FIN arrives behind the data and the answer still comes back.
#[tokio::test]
async fn half_close_passes_toxics() {
    let slicer = ToxicKind::Slicer { average_size: 100, size_variation: 10, delay: 1 };
    let toxics = [Direction::Upstream, Direction::Downstream]
        .map(|direction| [Toxic::new(latency(1), direction), Toxic::new(slicer.clone(), direction)]);
    let lab = Lab::with(|config| config, toxics.into_iter().flatten()).await;
    let (mut client, mut upstream) = lab.pair().await;
    let text = "0123456789".repeat(500);
    client.send(&text).await;
    client.0.shutdown().await.expect("half close");
    assert_eq!(upstream.rest().await, (text.clone(), Ended::Fin));
    upstream.send(&text).await;
    upstream.0.shutdown().await.expect("close");
    assert_eq!(client.rest().await, (text, Ended::Fin));
}

// Proves that a cut takes one direction of a live connection away and leaves the other: bytes vanish, answers flow, and
// after it is removed later bytes and the FIN arrive.
#[tokio::test]
async fn a_cut_is_one_way() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    client.send("before").await;
    assert_eq!(bytes(&mut upstream, 6).await, b"before");
    lab.add(ToxicKind::Cut, Direction::Upstream).await;
    client.send("vanishes").await;
    for _ in 0..3 {
        upstream.send("alive").await;
        assert_eq!(bytes(&mut client, 5).await, b"alive");
    }
    // A second connection is the clock: its answer came after the first one's bytes were taken.
    lab.remove().await;
    client.send("after").await;
    client.0.shutdown().await.expect("half close");
    let (rest, end) = upstream.rest().await;
    assert!(end == Ended::Fin && (rest == "after" || rest == "vanishesafter"), "{rest}");
    upstream.send("answer").await;
    drop(upstream);
    assert_eq!(client.rest().await, ("answer".to_owned(), Ended::Fin));
}

// Proves that a FIN that a cut swallowed arrives once the cut is removed.
#[tokio::test]
async fn a_cut_swallows_the_fin_for_a_while() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    lab.add(ToxicKind::Cut, Direction::Upstream).await;
    client.0.shutdown().await.expect("half close");
    upstream.send("x").await;
    assert_eq!(bytes(&mut client, 1).await, b"x");
    assert!(upstream.is_silent());
    lab.remove().await;
    assert_eq!(upstream.rest().await, (String::new(), Ended::Fin));
}

// Proves that the rate is a limit, never exceeded: 3,000 bytes at 10 kB/s take 0.3 s at least; and that it is one
// for each connection.
#[tokio::test]
async fn bandwidth_is_a_limit() {
    let toxic = Toxic::new(ToxicKind::Bandwidth { rate: 10 }, Direction::Downstream);
    let lab = Lab::with(|config| config, [toxic]).await;
    let (mut first, mut one) = lab.pair().await;
    let (mut second, mut other) = lab.pair().await;
    let started = Instant::now();
    one.send(vec![b'x'; 3_000]).await;
    other.send(vec![b'y'; 3_000]).await;
    bytes(&mut first, 3_000).await;
    bytes(&mut second, 3_000).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
}
