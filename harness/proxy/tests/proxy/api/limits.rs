//! Slow, large and leaving clients of the control plane, and its end.

use std::time::Duration;

use chaos_proxy::MAX_API_BODY_BYTES;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{Plane, is_refused};
use crate::kit::soon;

// Proves that a body beyond the limit is refused with the limit, and that the connection's owner can go on elsewhere.
#[tokio::test]
async fn bodies_are_bounded() {
    let plane = Plane::start().await;
    let mut client = plane.client().await;
    let head = format!("POST /populate HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", MAX_API_BODY_BYTES + 1);
    client.0.write_all(head.as_bytes()).await.expect("send");
    let half = vec![b' '; 1 << 20];
    // The answer may come before all is taken, and the rest is refused then.
    for _ in 0..=MAX_API_BODY_BYTES >> 20 {
        if client.0.write_all(&half).await.is_err() {
            break;
        }
    }
    let answer = client.answer(false).await;
    assert!(answer.status() == 413 && answer.body.contains(&MAX_API_BODY_BYTES.to_string()), "{}", answer.body);
    assert_eq!(plane.call("GET /proxies", "").await.body, "{}");
}

// Proves that a body whose chunks are malformed is not called too long, and that a name has a bound on either interface.
#[tokio::test]
async fn malformed_bodies_and_endless_names_are_refused() {
    let plane = Plane::start().await;
    let mut client = plane.client().await;
    let head = "POST /v1/links HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    client.0.write_all(head.as_bytes()).await.expect("send");
    let answer = client.answer(false).await;
    assert!(answer.status() == 400 && answer.body.contains("cannot be read"), "{}", answer.body);
    let name = "n".repeat(1025);
    let body = format!(r#"{{"name":"{name}","upstream":"127.0.0.1:1","mode":"tcp"}}"#);
    let answer = plane.call("POST /v1/links", &body).await;
    assert!(answer.status() == 400 && answer.body.contains(r#""field":"name""#), "{}", answer.body);
    assert!(answer.body.len() < 400, "the refusal does not repeat the name");
    let body = format!(r#"{{"name":"{name}","upstream":"127.0.0.1:1"}}"#);
    assert_eq!(plane.call("POST /proxies", &body).await.status(), 400);
    assert_eq!(plane.call("GET /proxies", "").await.body, "{}");
}

// Proves that clients in the middle of a request hold nobody up, and that the end of the server waits for none of the
// idle ones: both kinds of connection are closed, the port refuses, and the links go on.
#[tokio::test]
async fn half_requests_hold_nobody_up() {
    let plane = Plane::start().await;
    let at = plane.server.address().to_string();
    let mut halves = Vec::new();
    for text in ["", "GET /pro", "POST /populate HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n[{"] {
        let mut client = plane.client().await;
        client.0.write_all(text.as_bytes()).await.expect("send");
        halves.push(client);
    }
    let mut idle = plane.client().await;
    assert_eq!(idle.call("GET /version", "").await.status(), 200);
    assert_eq!(plane.call("GET /proxies", "").await.status(), 200);
    // The whole request that comes while the server waits is answered; only then it is over.
    let mut late = halves.pop().expect("the third");
    let ending = tokio::spawn(plane.server.shutdown());
    assert_eq!(soon(idle.0.read(&mut [0])).await.expect("closed"), 0);
    assert_eq!(soon(halves[0].0.read(&mut [0])).await.expect("closed"), 0);
    late.0.write_all(b"}]]").await.expect("send");
    assert_eq!(late.answer(false).await.status(), 400);
    drop(halves);
    assert!(soon(ending).await.expect("no panic"), "nothing was in flight");
    assert!(is_refused(&at).await);
}

// Proves that a client that sends its request and closes its side at once still gets the answer.
#[tokio::test]
async fn a_half_closed_client_is_answered() {
    let plane = Plane::start().await;
    let mut client = plane.client().await;
    client.0.write_all(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("send");
    client.0.shutdown().await.expect("half-closed");
    let mut text = String::new();
    soon(client.0.read_to_string(&mut text)).await.expect("answered and closed");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("}\n"), "{text}");
}

// Proves that dropping the server closes its port and its connections, and leaves the proxy alone.
#[tokio::test]
async fn a_dropped_server_is_gone() {
    let plane = Plane::with([chaos_proxy::LinkConfig::tcp("p").upstream("127.0.0.1:1")]).await;
    let at = plane.server.address().to_string();
    let mut idle = plane.client().await;
    assert_eq!(idle.call("GET /version", "").await.status(), 200);
    drop(plane.server);
    assert_eq!(soon(idle.0.read(&mut [0])).await.expect("closed"), 0);
    let closed = async {
        while !is_refused(&at).await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    soon(closed).await;
    assert!(plane.proxy.link_status("p").is_ok_and(|link| link.enabled));
}
