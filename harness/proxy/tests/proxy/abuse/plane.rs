//! The control plane under abuse: whatever one caller sends, the next call is answered, and a call that was not whole
//! changes nothing.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::kit::{Floor, resets};
use crate::api::kit::{Answer, ApiClient, Plane};
use crate::kit::{Client, eventually, soon};

/// Bodies may have so many bytes.
const BODY: usize = chaos_proxy::MAX_API_BODY_BYTES;

async fn raw(plane: &Plane) -> TcpStream {
    soon(TcpStream::connect(plane.server.address())).await.expect("connect")
}

/// The plane still answers, and has no proxy that nobody asked for.
async fn answers(plane: &Plane, proxies: usize) {
    let answer = plane.call("GET /proxies", "").await;
    assert_eq!((answer.status(), answer.json().as_object().expect("an object").len()), (200, proxies));
}

// Proves that bodies at and beyond each limit are answered with the status that says so: too long, nested too deeply, a
// million keys, a megabyte of digits, not UTF-8; and that none of them changes anything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_any_kind_are_answered() {
    let plane = Plane::start().await;
    let nested = |n: usize| format!("{{\"x\":{}{}", "[".repeat(n), "]".repeat(n));
    let keys = format!("{{{}\"name\":5}}", "\"a\":0,".repeat(1_000_000));
    let digits = format!("{{\"enabled\":{}}}", "9".repeat(1 << 20));
    let cases = [
        (" ".repeat(BODY), 400),
        (" ".repeat(BODY + 1), 413),
        (nested(9_999) + "}", 400),
        (nested(1_000_000), 400),
        (keys, 400),
        (digits, 400),
        (format!("[{}", "{\"name\":\"a\",".repeat(100_000)), 400),
        (format!("\"{}\"", "\\u0000".repeat(100_000)), 400),
    ];
    for (body, status) in &cases {
        for call in ["POST /proxies", "POST /populate", "POST /v1/links"] {
            let mut client = plane.client().await;
            let head = format!("{call} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
            client.0.write_all(head.as_bytes()).await.expect("send");
            // A body that is refused need not be read to its end.
            let _refused = client.0.write_all(body.as_bytes()).await;
            let answer = client.answer(false).await;
            assert_eq!(answer.status(), *status, "{call} {:.40}: {:.200}", body, answer.body);
            let most = if call == "POST /v1/links" { 1 << 10 } else { 2 << 20 };
            assert!(answer.body.len() < most, "{call} {:.40}: {} bytes of answer", body, answer.body.len());
        }
    }
    answers(&plane, 0).await;
}

// Proves that a caller which leaves at any byte of its call, by FIN or by RST, has changed nothing, and that no task of
// its connections stays behind.
#[tokio::test]
async fn callers_may_vanish_at_every_byte() {
    let plane = Plane::start().await;
    answers(&plane, 0).await;
    let floor = Floor::here();
    let body = r#"{"name":"a","listen":"127.0.0.1:0","upstream":"127.0.0.1:9"}"#;
    let call = format!("POST /proxies HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for cut in 0..call.len() {
        for by_reset in [false, true] {
            let mut stream = raw(&plane).await;
            stream.write_all(&call.as_bytes()[..cut]).await.expect("send");
            if by_reset {
                resets(&stream);
            }
        }
    }
    floor.regained().await;
    answers(&plane, 0).await;
}

// Proves that calls which are pipelined without reading are all carried out and answered in order.
#[tokio::test]
async fn pipelined_calls_are_answered_in_order() {
    let plane = Plane::start().await;
    let mut client = plane.client().await;
    let (mut calls, n) = (String::new(), 200);
    for i in 0..n {
        let body = format!(r#"{{"name":"p{i}","listen":"127.0.0.1:0","upstream":"127.0.0.1:9"}}"#);
        calls += &format!("POST /proxies HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        calls += &format!("DELETE /proxies/p{i} HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    client.0.write_all(calls.as_bytes()).await.expect("send");
    for i in 0..n {
        let created = client.answer(false).await;
        assert_eq!((created.status(), created.json()["name"].as_str()), (201, Some(&*format!("p{i}"))));
        assert_eq!(client.answer(true).await.status(), 204);
    }
    answers(&plane, 0).await;
}

// Proves that callers who never finish their calls leave room for others up to the limit of connections, that one
// beyond it is told so, and that the place of one who leaves is free again.
#[tokio::test]
async fn unfinished_calls_leave_room() {
    let plane = Plane::start().await;
    answers(&plane, 0).await;
    let floor = Floor::here();
    let most = chaos_proxy::MAX_API_CONNECTIONS as usize;
    let mut kept = plane.client().await;
    assert_eq!(kept.call("GET /version", "").await.status(), 200);
    let mut crowd = Vec::new();
    while crowd.len() < most - 1 {
        let mut stream = raw(&plane).await;
        stream.write_all(b"POST /proxies HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{").await.expect("send");
        crowd.push(stream);
    }
    let mut refused = Client(raw(&plane).await);
    assert!(refused.rest().await.0.starts_with("HTTP/1.1 503 "));
    assert_eq!(kept.call("GET /version", "").await.status(), 200, "who is in stays in");
    drop(crowd);
    floor_and_call(&plane, floor, kept).await;
}

async fn floor_and_call(plane: &Plane, floor: Floor, kept: ApiClient) {
    drop(kept);
    floor.regained().await;
    answers(plane, 0).await;
}

// Proves that bytes which are no call are answered or ended without harm.
#[tokio::test]
async fn noise_is_survived() {
    let plane = Plane::start().await;
    answers(&plane, 0).await;
    let floor = Floor::here();
    for noise in [
        b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        vec![0; 1 << 20],
        [b"GET /".as_slice(), &vec![b'a'; 1 << 20]].concat(),
        [b"GET / HTTP/1.1\r\nx: ".as_slice(), &vec![b'a'; 1 << 20]].concat(),
        b"GET /proxies/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_vec(),
        b"POST /proxies HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        b"POST /proxies HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
    ] {
        let mut client = raw(&plane).await;
        // It may be ended before all of it is written.
        let _cut = client.write_all(&noise).await;
        let _cut = client.shutdown().await;
        let mut rest = Vec::new();
        // FIN or RST, but an end.
        let _end = soon(client.read_to_end(&mut rest)).await;
        let text = String::from_utf8_lossy(&rest);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{:.40?}: {text}", String::from_utf8_lossy(&noise));
    }
    floor.regained().await;
    answers(&plane, 0).await;
}

// Proves that proxies which come and go by hundreds, and toxics on them, leave nothing.
#[tokio::test]
async fn a_churn_of_proxies_leaves_nothing() {
    let plane = Plane::start().await;
    answers(&plane, 0).await;
    let floor = Floor::here();
    let ok = |answer: Answer, status: u16| assert_eq!(answer.status(), status, "{}", answer.body);
    let mut client = plane.client().await;
    for i in 0..100 {
        let body = format!(r#"{{"name":"p{i}","listen":"127.0.0.1:0","upstream":"127.0.0.1:9"}}"#);
        ok(client.call("POST /proxies", &body).await, 201);
        for kind in ["latency", "bandwidth", "slicer", "timeout"] {
            ok(client.call(&format!("POST /proxies/p{i}/toxics"), &format!(r#"{{"type":"{kind}"}}"#)).await, 200);
        }
        let addr = plane.proxy.link_addr(&format!("p{i}")).expect("link");
        let stream = soon(TcpStream::connect(addr)).await.expect("connect");
        ok(client.call(&format!("DELETE /proxies/p{i}"), "").await, 204);
        drop(stream);
    }
    drop(client);
    eventually("no proxy left", || plane.proxy.links().is_empty()).await;
    floor.regained().await;
}
