//! Toxics that end connections: exact byte counts, FIN or RST on both sides, and what the record says.

use chaos_proxy::{Direction, Toxic, ToxicKind};
use evidence::ConnectionEnd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{HOUR_MS, Lab, latency};
use crate::kit::{Client, Ended, connections, eventually, soon};

/// What the record of the `n`-th connection says of its end: how, by which toxic, doing what.
async fn ending(lab: &Lab, n: usize) -> (ConnectionEnd, Option<(String, String)>) {
    let log = lab.proxy.log();
    eventually("the record", || connections(&log).len() >= n).await;
    let record = connections(&log).remove(n - 1);
    (record.end, record.fault.map(|fault| (fault.rule, fault.what)))
}

fn by(what: &str) -> Option<(String, String)> {
    Some(("t".to_owned(), what.to_owned()))
}

// Proves that exactly the limit passes, whatever the sizes of the writes, that FIN follows, and that the record names
// the toxic; and that the count began when the toxic was added.
#[tokio::test]
async fn limit_data_is_exact() {
    let lab = Lab::new().await;
    for (n, sizes) in [vec![1, 2, 3, 1_000], vec![50, 50], vec![100_000]].into_iter().enumerate() {
        let (mut client, mut upstream) = lab.pair().await;
        upstream.send("not counted").await;
        let mut head = [0; 11];
        soon(client.0.read_exact(&mut head)).await.expect("bytes");
        lab.add(ToxicKind::LimitData { bytes: 100 }, Direction::Downstream).await;
        for size in sizes {
            upstream.send(vec![b'x'; size]).await;
        }
        assert_eq!(client.rest().await, ("x".repeat(100), Ended::Fin));
        drop((client, upstream));
        assert_eq!(ending(&lab, n + 1).await, (ConnectionEnd::CutByFault, by("downstream/limit_data")));
        lab.remove().await;
    }
}

// Proves a true RST on live connections that are idle, on both sides, for Toxiproxy's kind and for ours, and that the
// record says so.
#[tokio::test]
async fn live_and_idle_connections_are_reset() {
    let lab = Lab::new().await;
    let kinds =
        [ToxicKind::ResetPeer { timeout: 0 }, ToxicKind::ResetPeer { timeout: 5 }, ToxicKind::Reset { after_bytes: 0 }];
    let mut n = 0;
    for kind in kinds {
        for direction in [Direction::Upstream, Direction::Downstream] {
            let (mut client, mut upstream) = lab.pair().await;
            lab.add(kind.clone(), direction).await;
            assert_eq!(client.rest().await, (String::new(), Ended::Reset));
            assert_eq!(upstream.rest().await, (String::new(), Ended::Reset));
            n += 1;
            let (end, fault) = ending(&lab, n).await;
            assert_eq!(end, ConnectionEnd::ResetByFault);
            assert!(fault.expect("a fault").1.ends_with(kind.type_name()));
            lab.remove().await;
        }
    }
}

// Proves that a reset strikes a connection whose client reads nothing and whose chain is full.
#[tokio::test]
async fn a_stalled_connection_is_reset() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    let full = upstream.fill_up().await;
    lab.add(ToxicKind::Reset { after_bytes: 0 }, Direction::Downstream).await;
    assert_eq!(upstream.rest().await.1, Ended::Reset);
    let mut came = Vec::new();
    let error = soon(client.0.read_to_end(&mut came)).await.expect_err("reset");
    assert!(error.kind() == std::io::ErrorKind::ConnectionReset && came.len() < full);
}

// Proves that a reset after n bytes lets exactly n through first.
#[tokio::test]
async fn a_reset_strikes_at_its_byte() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    lab.add(ToxicKind::Reset { after_bytes: 10 }, Direction::Upstream).await;
    client.send("0123456").await;
    let mut head = [0; 7];
    soon(upstream.0.read_exact(&mut head)).await.expect("bytes");
    client.send("789abc").await;
    let (rest, end) = upstream.rest().await;
    assert_eq!((rest.as_str(), end), ("789", Ended::Reset));
    assert_eq!(client.rest().await, (String::new(), Ended::Reset));
    assert_eq!(ending(&lab, 1).await, (ConnectionEnd::ResetByFault, by("upstream/reset")));
}

// Proves that a timeout drops everything and then closes with FIN, that one without a time never does by itself, and
// that removing it closes.
#[tokio::test]
async fn timeouts_drop_and_close() {
    let lab = Lab::new().await;
    let (mut client, mut upstream) = lab.pair().await;
    lab.add(ToxicKind::Timeout { timeout: 1 }, Direction::Downstream).await;
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    assert_eq!(upstream.rest().await, (String::new(), Ended::Fin));
    lab.remove().await;

    let (mut client, mut upstream) = lab.pair().await;
    lab.add(ToxicKind::Timeout { timeout: 0 }, Direction::Downstream).await;
    upstream.send("dropped").await;
    client.send("through").await;
    let mut through = [0; 7];
    soon(upstream.0.read_exact(&mut through)).await.expect("the other direction flows");
    assert!(client.is_silent());
    lab.remove().await;
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
}

// Proves that a client that has closed its half and then resets is noticed although nothing is read from it any more:
// behind a toxic that keeps its FIN, and without any toxic.
#[tokio::test]
async fn a_reset_after_a_half_close_is_passed_on() {
    for toxics in [vec![Toxic::new(ToxicKind::Cut, Direction::Upstream)], vec![]] {
        let lab = Lab::with(|config| config, toxics).await;
        let (mut client, mut upstream) = lab.pair().await;
        client.0.shutdown().await.expect("half close");
        upstream.send("seen").await;
        let mut seen = [0; 4];
        soon(client.0.read_exact(&mut seen)).await.expect("the other direction flows");
        client.0.set_zero_linger().expect("linger");
        drop(client);
        let ends = upstream.rest().await;
        if lab.board.list().is_empty() {
            // FIN was passed on before.
            assert_eq!(ends.1, Ended::Fin);
        } else {
            assert_eq!(ends, (String::new(), Ended::Reset));
        }
        assert_eq!(ending(&lab, 1).await, (ConnectionEnd::ByClient, None));
    }
}

// Proves the oddity and its fix: with a reset_peer that strikes nobody, connections end as they would; with Toxiproxy's
// oddities they end with RST.
#[tokio::test]
async fn a_reset_that_strikes_nobody() {
    for (quirks, end) in [(false, Ended::Fin), (true, Ended::Reset)] {
        let toxic = Toxic::new(ToxicKind::ResetPeer { timeout: HOUR_MS }, Direction::Downstream).toxicity(0.0);
        let lab = Lab::with(|config| config.toxiproxy_quirks(quirks), [toxic]).await;
        let (mut client, upstream) = lab.pair().await;
        drop(upstream);
        assert_eq!(client.rest().await, (String::new(), end));
    }
}

// Proves that which connections are struck depends on the seed and on nothing else: the same 40 twice, others for
// another seed; and that toxicity is a share (within six standard deviations of fixed draws).
#[tokio::test]
async fn draws_repeat() {
    async fn struck(seed: u64) -> Vec<bool> {
        let toxic = Toxic::new(ToxicKind::Reset { after_bytes: 0 }, Direction::Downstream).named("t").toxicity(0.5);
        let lab = Lab::with(|config| config.seed(seed), [toxic, Toxic::new(latency(0), Direction::Upstream)]).await;
        let mut struck = Vec::new();
        for _ in 0..40 {
            let (mut client, upstream) = lab.pair().await;
            drop(upstream);
            struck.push(client.rest().await.1 == Ended::Reset);
        }
        struck
    }
    let first = struck(1).await;
    assert_eq!(first, struck(1).await);
    assert_ne!(first, struck(2).await);
    assert!((2..38).contains(&first.iter().filter(|s| **s).count()), "{first:?}");
}

impl Client {
    /// Writes until nothing goes any more: every buffer up to the reader who reads nothing is full. Says how much went.
    pub async fn fill_up(&mut self) -> usize {
        let mut went = 0;
        let block = vec![b'x'; 64 << 10];
        loop {
            match tokio::time::timeout(std::time::Duration::from_millis(200), self.0.writable()).await {
                Ok(writable) => writable.expect("writable"),
                Err(_) => return went,
            }
            match self.0.try_write(&block) {
                Ok(n) => went += n,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(e) => panic!("write: {e}"),
            }
        }
    }
}
