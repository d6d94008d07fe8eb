//! Floods: what is past a bound is answered and counted, what is within it is kept.

use std::time::Duration;

use flate2::read::GzDecoder;
use harness::collector::{Collector, CollectorConfig, CollectorError, CollectorLimits, code};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::kit::*;

/// Ten thousand spans at a store of a thousand: kept plus rejected is what was sent, over all answers, and the note says so.
#[tokio::test]
async fn a_flood_is_rejected_by_partial_success() {
    let collector = start_with(CollectorLimits { spans: 1_000, ..CollectorLimits::default() }).await;
    let mut rejected = 0;
    for batch in 0..20 {
        let spans = (0..500).map(|n| span(1, 1 + batch * 500 + n, None, SpanKind::Server)).collect();
        let partial = export(&collector, spans).await.partial_success;
        assert_eq!(partial.is_some(), batch >= 2, "batch {batch}");
        if let Some(partial) = partial {
            assert!(partial.error_message.contains("1000 spans"), "{}", partial.error_message);
            rejected += partial.rejected_spans;
        }
    }
    assert_eq!((rejected, collector.spans().len()), (9_000, 1_000));
    let stats = collector.stats();
    assert_eq!((stats.spans, stats.over_limit), (1_000, 9_000));
    assert!(note(&collector, code::OVERFLOW).is_some_and(|t| t.contains("9000 spans")));
    // What is already there is no new span, so its retry is not rejected.
    assert_eq!(export(&collector, vec![span(1, 1, None, SpanKind::Server)]).await.partial_success, None);
}

/// The store is bounded in bytes too: a few spans with large attributes fill it.
#[tokio::test]
async fn large_attributes_fill_the_store() {
    let collector = start_with(CollectorLimits { store_bytes: 1_000_000, ..CollectorLimits::default() }).await;
    let spans = (1..=10).map(|n| {
        let mut span = span(1, n, None, SpanKind::Server);
        span.attributes = vec![attribute("body", Value::StringValue("x".repeat(300_000)))];
        span
    });
    let partial = export(&collector, spans.collect()).await.partial_success.expect("a megabyte holds three of them");
    assert_eq!((partial.rejected_spans, collector.spans().len()), (7, 3));
}

/// A body past the limit is 413, whether its length is declared or not, and so is a gzip bomb, of which no more than the
/// limit is unpacked. The sender reads the answer to the end although it sent more than was looked at.
#[tokio::test]
async fn too_large_bodies_are_413() {
    let collector = start_with(CollectorLimits { request_bytes: 64_000, ..CollectorLimits::default() }).await;
    let proto = ("content-type", PROTOBUF);
    let bomb = gzip(&vec![0; 40_000_000]);
    assert!(bomb.len() < 64_000, "small enough to pass the first limit: {}", bomb.len());
    let declared = post(&collector, "/v1/traces", &[proto], vec![0; 5_000_000]).await;
    let packed = post(&collector, "/v1/traces", &[proto, ("content-encoding", "gzip")], bomb).await;
    for response in [declared, packed] {
        assert_eq!(response.status(), 413);
        assert!(!response.bytes().await.expect("a whole answer").is_empty());
    }
    let mut stream = TcpStream::connect(collector.address()).await.expect("open");
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {PROTOBUF}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("taken");
    // Far more than the sockets hold: if it were not read, the sender would see a reset in place of the answer.
    for _ in 0..4_000 {
        stream.write_all(format!("2000\r\n{}\r\n", "x".repeat(0x2000)).as_bytes()).await.expect("taken");
    }
    stream.write_all(b"0\r\n\r\n").await.expect("taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("closed in order");
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert_eq!(collector.stats().refused_requests, 3);
    assert!(note(&collector, code::REFUSED).is_some_and(|t| t.contains("64000 bytes")));
    assert_eq!(export(&collector, vec![span(1, 1, None, SpanKind::Server)]).await.partial_success, None);
}

/// When the bytes being received at one time are spent, another request is told to come again (503 with Retry-After,
/// UNAVAILABLE), and is taken once the first is through. The first request is held open half sent, so nothing is timed.
#[tokio::test]
async fn past_the_common_budget_requests_are_told_to_come_again() {
    let collector = start_with(CollectorLimits { buffered_bytes: 2_000, ..CollectorLimits::default() }).await;
    let body = request((1..=20).map(|n| span(1, n, None, SpanKind::Server)).collect()).encode_to_vec();
    assert!(body.len() < 2_000 && body.len() > 1_000);
    let mut slow = TcpStream::connect(collector.address()).await.expect("open");
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {PROTOBUF}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    slow.write_all(&[head.as_bytes(), &body[..body.len() - 1]].concat()).await.expect("taken");
    // The half request takes its share when the collector has read it, which this waits for by asking.
    let refused = loop {
        let response = post(&collector, "/v1/traces", &[("content-type", PROTOBUF)], body.clone()).await;
        if response.status() != 200 {
            break response;
        }
    };
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().ok()), (503, Some("1")));
    let status = grpc(&collector).await.export(request(vec![span(1, 1, None, SpanKind::Server); 40])).await;
    assert_eq!(status.expect_err("no room").code(), tonic::Code::Unavailable);
    slow.write_all(&body[body.len() - 1..]).await.expect("taken");
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).await.expect("closed in order");
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    assert_eq!(post(&collector, "/v1/traces", &[("content-type", PROTOBUF)], body).await.status(), 200);
}

/// A body that never ends is given up with 408, and the note names the limit.
#[tokio::test]
async fn a_body_that_stalls_is_given_up() {
    let collector =
        start_with(CollectorLimits { body_time: Duration::from_millis(50), ..CollectorLimits::default() }).await;
    let mut stream = TcpStream::connect(collector.address()).await.expect("open");
    let head =
        format!("POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {PROTOBUF}\r\ncontent-length: 10\r\n\r\nabc");
    stream.write_all(head.as_bytes()).await.expect("taken");
    let mut status = [0; 13];
    stream.read_exact(&mut status).await.expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 408 ");
    assert!(note(&collector, code::REFUSED).is_some_and(|t| t.contains("50ms")));
}

/// A limit of zero, and a port that is taken, are errors that say what to do.
#[tokio::test]
async fn a_collector_that_cannot_start_says_why() {
    let none = CollectorConfig::new(TIME).limits(CollectorLimits { spans: 0, ..CollectorLimits::default() });
    let error = Collector::start(none).await.expect_err("no span could be kept");
    assert!(matches!(error, CollectorError::Limit { limit: "spans", .. }), "{error}");
    let first = start().await;
    let error = Collector::start(CollectorConfig::new(TIME).listen(first.address())).await.expect_err("taken");
    let text = error.to_string();
    assert!(text.contains(&first.address().to_string()) && text.contains("port 0"), "{text}");
}

/// A shutdown closes idle connections at once, and lets a request that is half sent finish: the service's last spans
/// count. Bound by order: the rest of the request is sent only after the idle connection was seen closed.
#[tokio::test]
async fn shutdown_lets_open_requests_finish() {
    let mut collector = start().await;
    let body = request(vec![span(1, 1, None, SpanKind::Server)]).encode_to_vec();
    let mut stream = TcpStream::connect(collector.address()).await.expect("open");
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: {PROTOBUF}\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("taken");
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.expect("the collector asks for the body");
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    let mut idle = TcpStream::connect(collector.address()).await.expect("open");
    idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("taken");
    idle.read_exact(&mut [0; 13]).await.expect("an answer, after which it is idle");
    let send = async {
        // The shutdown is polled first, so it has begun.
        idle.read_to_end(&mut Vec::new()).await.expect("closed in order");
        stream.write_all(&body).await.expect("taken");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("closed in order");
        answer
    };
    let ((), answer) = tokio::join!(biased; collector.shutdown(), send);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(collector.spans().len(), 1);
}

/// After shutdown or drop the port is closed, and after shutdown what was received can still be read.
#[tokio::test]
async fn the_port_closes_with_the_collector() {
    let mut collector = start().await;
    let address = collector.address();
    export(&collector, vec![span(1, 1, None, SpanKind::Server)]).await;
    collector.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err(), "refused");
    assert_eq!(collector.spans().len(), 1);

    let collector = start().await;
    let address = collector.address();
    let mut open = TcpStream::connect(address).await.expect("open");
    // The connection is past the accept queue when the collector has counted it.
    while collector.stats().connections == 0 {
        tokio::task::yield_now().await;
    }
    drop(collector);
    // A connection that was open is closed, which shows that its task is gone and not only the listener.
    assert!(matches!(open.read(&mut [0]).await, Ok(0) | Err(_)));
    assert!(TcpStream::connect(address).await.is_err(), "refused");
}

/// The helper packs what the collector unpacks: without this, a broken helper could make the bomb test pass.
#[test]
fn the_test_bomb_is_one() {
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut GzDecoder::new(gzip(&[7; 1_000]).as_slice()), &mut unpacked).expect("gzip");
    assert_eq!(unpacked, [7; 1_000]);
}
