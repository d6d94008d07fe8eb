//! What streams have in common with requests of HTTP/1.1, and what only they have: each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use chaos_proxy::{Fault, Rule, Schedule};
use evidence::{ConnectionEnd, End};
use h2::Reason;
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use tokio::task::JoinSet;

use super::kit::{Bank, Client, Pieces, fields, hyper_client, megabyte, post, rest, scripted, whole};
use crate::kit::{Client as Raw, Ended, PATIENCE, Upstream, attempts, connections, proxy, soon};

/// Longer than any test: a hold that is not released fails its test by hanging.
const NEVER_MS: u64 = 3_600_000;

// Proves, with hyper on both sides, that an attempt of HTTP/2 has every field and moment of one of HTTP/1.1, in order,
// and that the bank and the client got what was sent.
#[tokio::test]
async fn a_stream_is_an_attempt() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = hyper_client(&proxy, "bank").await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for ordinal in 1..=2 {
        let request = post("/charges?x=1", "k").header("traceparent", trace).header("content-length", "5");
        let request = request.body(Pieces::of(Bytes::from_static(b"hello"), None)).expect("request");
        let response = soon(client.send_request(request)).await.expect("answer");
        assert_eq!((response.status().as_u16(), response.headers()["x-bank"].as_bytes()), (201, &b"yes"[..]));
        let body = response.into_body().collect().await.expect("body").to_bytes();
        assert_eq!((body, bank.seen().len()), (Bytes::from_static(b"0123456789"), ordinal));
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let records = attempts(&proxy.log());
    assert_eq!(records.len(), 2);
    for (i, record) in records.iter().enumerate() {
        assert_eq!((record.key.as_deref(), record.ordinal as usize), (Some("k"), i + 1));
        assert_eq!((record.method.as_str(), record.path.as_str()), ("POST", "/charges?x=1"));
        assert_eq!((record.body.bytes, record.body.declared), (5, Some(5)));
        let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(record.body.sha256.as_deref(), Some(digest));
        assert!(record.context.is_some_and(|c| c.trace.to_string() == "4bf92f3577b34da6a3ce929d0e0e4736"));
        assert_eq!(
            (record.upstream.status, record.reply.status, record.reply.end),
            (Some(201), Some(201), End::Replied)
        );
        let moments = [
            Some(record.arrived),
            Some(record.head),
            record.received,
            record.upstream.sent,
            record.reply.first_byte,
            record.upstream.answered,
            Some(record.reply.ended),
        ];
        let moments = moments.map(|m| m.unwrap_or_else(|| panic!("{record:?}")));
        assert!(moments.is_sorted(), "{moments:?}");
        assert_eq!((record.upstream.error.as_ref(), record.fault.as_ref()), (None, None));
    }
    drop(client);
    proxy.shutdown().await;
}

// Proves the single-probe question on one connection: one stream is held, 31 others are answered beside it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_stream_is_held_while_31_others_pass() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let armed = proxy.arm(Rule::new("probe", Fault::hold(NEVER_MS)).schedule(Schedule::nth(1))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let probe = client.post("/charges", "probe", "x");
    let held = armed.wait_held(1, PATIENCE).await.expect("held");
    assert_eq!(held[0].key.as_deref(), Some("probe"));
    let mut others = JoinSet::new();
    for i in 0..31 {
        others.spawn(whole(client.post("/charges", &format!("other-{i}"), "x")));
    }
    let others = soon(others.join_all()).await;
    assert!(others.iter().all(|reply| reply.as_ref().is_ok_and(|r| r.status == 201 && r.body == "0123456789")));
    assert_eq!((proxy.arrivals("bank").expect("link"), bank.seen().len()), (32, 31));
    assert_eq!(armed.release(1), 1);
    assert_eq!(whole(probe).await.expect("answer").status, 201);
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(proxy.in_flight("bank").expect("link"), 0);
    let records = attempts(&proxy.log());
    assert!(records.len() == 32 && records.iter().all(|r| r.conn == records[0].conn && r.reply.end == End::Replied));
    drop(client);
    crate::kit::eventually("the connection is recorded", || !connections(&proxy.log()).is_empty()).await;
    let connection = connections(&proxy.log()).remove(0);
    assert_eq!((connection.requests, connection.end), (32, ConnectionEnd::ByClient));
    assert!(connection.bytes_in > 0 && connection.bytes_out > 320);
}

// Proves that trailers go both ways, and bodies of a megabyte unchanged.
#[tokio::test]
async fn trailers_and_large_bodies_pass() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = hyper_client(&proxy, "bank").await;
    let trailers = fields(&[("x-sum", "42")]);
    let request = post("/echo", "k").body(Pieces::of(megabyte(), Some(trailers.clone()))).expect("request");
    let response = soon(client.send_request(request)).await.expect("answer").into_body();
    let collected = soon(response.collect()).await.expect("body");
    assert_eq!(collected.trailers(), Some(&trailers));
    assert!(collected.to_bytes() == megabyte(), "a megabyte back");
    assert!(bank.seen()[0].body == megabyte() && bank.seen()[0].trailers == Some(trailers));
}

// Proves that a client that does not read one answer holds up that stream alone: a second one is answered, and the
// first goes on once it is read. The upstream's megabyte does not pile up: it is bound by the windows.
#[tokio::test]
async fn a_slow_reader_holds_up_its_own_stream_only() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let upstream = scripted(move |request, mut respond| {
        let sent = Arc::clone(&counted);
        async move {
            let is_big = request.uri().path() == "/big";
            let mut stream = respond.send_response(Response::new(()), !is_big).expect("head");
            let mut left = if is_big { megabyte() } else { Bytes::new() };
            while !left.is_empty() {
                stream.reserve_capacity(left.len());
                let room = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await.expect("open").expect("room");
                let piece = left.split_to(room.min(left.len()));
                sent.fetch_add(piece.len(), Ordering::SeqCst);
                stream.send_data(piece, left.is_empty()).expect("data");
            }
        }
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    let mut slow = soon(client.post("/big", "slow", "x")).await.expect("head").into_body();
    let first = soon(slow.data()).await.expect("some").expect("data");
    for i in 0..8 {
        assert_eq!(whole(client.post("/small", &format!("quick-{i}"), "x")).await.expect("answer").status, 200);
    }
    // Windows of both legs, the framing layers' buffers, and what the test's own client holds: far below a megabyte.
    assert!(sent.load(Ordering::SeqCst) < 512 << 10, "{} bytes were let out", sent.load(Ordering::SeqCst));
    slow.flow_control().release_capacity(first.len()).expect("capacity");
    let mut got = BytesMut::from(&first[..]);
    rest(slow, &mut got).await.expect("the rest");
    assert!(got == megabyte(), "{} bytes", got.len());
    proxy.settle(PATIENCE).await.expect("settled");
}

// Proves that an upstream that does not take a body holds up its sender, not the other streams, and that the proxy lets
// the client send no more than the windows hold.
#[tokio::test]
async fn a_slow_upstream_holds_up_its_own_stream_only() {
    let upstream = scripted(|request, mut respond| async move {
        if request.uri().path() == "/slow" {
            // Answers without taking the body, and keeps the stream.
            let _kept = (respond.send_response(Response::new(()), false), request);
            std::future::pending::<()>().await;
        }
        respond.send_response(Response::new(()), true).expect("head");
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    let (slow, mut stream) = client.open("/slow", "slow");
    soon(slow).await.expect("head");
    let mut sent = 0;
    stream.reserve_capacity(16 << 10);
    for i in 0..100 {
        let more = std::future::poll_fn(|cx| Poll::Ready(stream.poll_capacity(cx))).await;
        if let Poll::Ready(Some(Ok(room))) = more {
            sent += room;
            stream.send_data(Bytes::from(vec![0; room]), false).expect("data");
            stream.reserve_capacity(16 << 10);
        }
        assert_eq!(whole(client.post("/quick", &format!("quick-{i}"), "x")).await.expect("answer").status, 200);
    }
    assert!(sent < 512 << 10, "{sent} bytes were taken");
    stream.send_reset(Reason::CANCEL);
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(&proxy.log()).iter().filter(|a| a.reply.end == End::ClientLeft).count(), 1);
}

// Proves that interim heads reach the client before the final one.
#[tokio::test]
async fn interim_heads_pass() {
    let upstream = scripted(|_, mut respond| async move {
        let hint = Response::builder().status(103).header("link", "</a.css>").body(()).expect("head");
        respond.send_informational(hint).expect("interim");
        respond.send_response(Response::new(()), true).expect("head");
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    let mut response = client.post("/", "k", "x");
    let hint = soon(std::future::poll_fn(|cx| response.poll_informational(cx))).await.expect("one").expect("head");
    assert_eq!((hint.status().as_u16(), hint.headers()["link"].as_bytes()), (103, &b"</a.css>"[..]));
    assert_eq!(whole(response).await.expect("answer").status, 200);
}

// Proves that a bodiless request and a bodiless answer end with their heads, and that trailers may be all there is.
#[tokio::test]
async fn heads_may_be_all_there_is() {
    let upstream = scripted(|request, mut respond| async move {
        assert!(request.body().is_end_stream(), "the request ends with its head");
        if request.method() == http::Method::HEAD {
            return drop(respond.send_response(Response::new(()), true).expect("head"));
        }
        let mut stream = respond.send_response(Response::new(()), false).expect("head");
        stream.send_trailers(fields(&[("x-sum", "0")])).expect("trailers");
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    for (method, trailers) in [(http::Method::HEAD, None), (http::Method::GET, Some(fields(&[("x-sum", "0")])))] {
        let request = http::Request::builder().method(method).uri("http://bank/").body(()).expect("request");
        let (response, _) = client.sender.send_request(request, true).expect("stream");
        let answer = whole(response).await.expect("answer");
        assert_eq!((answer.status, answer.body.len(), answer.trailers), (200, 0, trailers));
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let records = attempts(&proxy.log());
    assert!(
        records.iter().all(|r| r.body.sha256.as_deref() == Some(empty) && r.received == Some(r.head)),
        "{records:?}"
    );
    assert_eq!(HeaderMap::len(&fields(&[])), 0);
}

// Proves that a preface is HTTP/2 only at the start of a connection, and that `Upgrade: h2c` is passed as bytes.
#[tokio::test]
async fn other_ways_to_http2() {
    let upstream = Upstream::replying("HTTP/1.1 101 Switching\r\nupgrade: h2c\r\ncontent-length: 0\r\n\r\n").await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Raw::to(&proxy, "bank").await;
    client.send("GET / HTTP/1.1\r\nhost: bank\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n").await;
    assert!(client.reply().await.starts_with("HTTP/1.1 101"));
    client.send("GET /tunnelled HTTP/1.1\r\n\r\n").await;
    client.reply().await;
    assert!(upstream.seen()[1].starts_with("GET /tunnelled"));
    let plain = Upstream::start().await;
    proxy.set_upstream("bank", plain.addr).expect("link");
    let mut client = Raw::to(&proxy, "bank").await;
    client.send("GET / HTTP/1.1\r\nhost: bank\r\n\r\n").await;
    client.reply().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    let (answer, end) = client.rest().await;
    assert!(answer.starts_with("HTTP/1.1 400") && end == Ended::Fin, "{answer}");
}
