//! Bytes that are not HTTP at all.

use harness::collector::{Collector, CollectorLimits, code};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::kit::*;

/// Sends bytes and reads until the collector has closed, so that it has judged them.
async fn babble(to: &Collector, bytes: &[u8]) {
    let mut stream = TcpStream::connect(to.address()).await.expect("open");
    // The collector may close before it has read everything: then this end sees a reset, which is as good.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

/// Waits until the count that a closed connection leaves behind is there.
async fn until(of: &Collector, what: impl Fn(&harness::collector::CollectorStats) -> bool) {
    while !what(&of.stats()) {
        tokio::task::yield_now().await;
    }
}

/// Each kind of garbage closes its own connection, is counted once, and the note shows how the first one began. A good
/// export by each transport works afterwards. Bound by counts.
#[tokio::test]
async fn garbage_does_no_harm() {
    let collector = start().await;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let noise: Vec<u8> = (0..100_000).map(|_| rng.random_range(128..=255)).collect();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let garbage = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 client hello".to_vec(),
        noise.clone(),
        b"\0".to_vec(),
        b"hello, is this the collector?\r\n\r\n".to_vec(),
        b"POST /v1/traces HTTP/9.9\r\n\r\n".to_vec(),
        b"GET /v1/tra".to_vec(),
        [b"GET / HTTP/1.1\r\nx: ".to_vec(), vec![b'a'; 1 << 20]].concat(),
        [preface.clone(), noise[..1_000].to_vec()].concat(),
        // A SETTINGS frame of a length that none has, on a stream where none may be.
        [preface.clone(), vec![0, 0, 5, 4, 0, 0, 0, 0, 3, 1, 2, 3, 4, 5]].concat(),
    ];
    for bytes in &garbage {
        let before = collector.stats().garbage_connections;
        babble(&collector, bytes).await;
        let shown = bytes[..bytes.len().min(40)].escape_ascii().to_string();
        let counted = tokio::time::timeout(
            std::time::Duration::from_secs(20),
            until(&collector, |s| s.garbage_connections == before + 1),
        );
        assert!(counted.await.is_ok(), "not counted: {shown}");
    }
    let text = note(&collector, code::GARBAGE).expect("it is noted");
    assert!(text.contains("9 connections") && text.contains("TLS"), "{text}");

    grpc(&collector).await.export(request(vec![span(1, 1, None, SpanKind::Server)])).await.expect("kept");
    export(&collector, vec![span(1, 2, None, SpanKind::Server)]).await;
    assert_eq!(collector.spans().len(), 2);
}

/// What honest peers do is not garbage: looking whether the port is open, connecting without an export, closing an
/// HTTP/2 connection without a farewell, being killed. The port look comes first and the counted export last, so that all were judged.
#[tokio::test]
async fn honest_peers_are_not_garbage() {
    let mut collector = start().await;
    babble(&collector, b"").await;
    babble(&collector, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    babble(&collector, b"PRI * HT").await;
    let mut killed = TcpStream::connect(collector.address()).await.expect("open");
    killed.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("taken");
    killed.read_exact(&mut [0; 9]).await.expect("the collector's own settings");
    killed.set_zero_linger().expect("a reset in place of a farewell");
    drop(killed);
    drop(grpc(&collector).await);
    let mut used = grpc(&collector).await;
    used.export(request(vec![span(1, 1, None, SpanKind::Server)])).await.expect("kept");
    drop(used);
    collector.shutdown().await;
    assert_eq!(collector.stats().connections, 6);
    assert_eq!(collector.notes(), []);
}

/// Twice the limit of connections that say nothing, and then babblers that stop in mid-word, do not keep an exporter out.
#[tokio::test]
async fn silent_connections_give_way() {
    let collector = start_with(CollectorLimits { connections: 8, ..CollectorLimits::default() }).await;
    let mut held = Vec::new();
    for n in 0..16 {
        let mut stream = TcpStream::connect(collector.address()).await.expect("open");
        if n % 2 == 0 {
            stream.write_all(b"POST /v1/tra").await.expect("taken");
        }
        held.push(stream);
    }
    export(&collector, vec![span(1, 1, None, SpanKind::Server)]).await;
    assert_eq!(collector.spans().len(), 1);
    assert!(collector.stats().refused_connections >= 8, "{:?}", collector.stats());
    assert!(note(&collector, code::REFUSED).is_some_and(|t| t.contains("8 connections")));
}
