//! The control plane beside a client that has stopped reading: in Toxiproxy this blocks it for ever.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::kit::Plane;
use crate::kit::{PATIENCE, soon};

const KINDS: [&str; 9] =
    ["latency", "bandwidth", "slow_close", "timeout", "reset_peer", "slicer", "limit_data", "noop", "packet_loss"];

/// An upstream that sends without end.
async fn flood() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move { while stream.write_all(&[7; 16 << 10]).await.is_ok() {} });
        }
    });
    address
}

/// Waits until nothing more comes: the client's buffer is full, and so is everything before it.
async fn is_full(client: &TcpStream) {
    let mut before = 0;
    let mut buffer = vec![0; 8 << 20];
    loop {
        let now = soon(client.peek(&mut buffer)).await.expect("peek");
        if now > 0 && now == before {
            return;
        }
        before = now;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

// Proves that no call waits for data: with a client that takes nothing, each kind of toxic is added, listed, updated and
// removed while others ask too. The bound is a hang's; the slowest call is printed (run with --nocapture).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_reader_blocks_no_call() {
    let plane = Plane::start().await;
    let upstream = flood().await;
    let mut slowest = (Duration::ZERO, String::new());
    let (mut api, mut calls, mut stalled) = (plane.client().await, 0, Vec::new());
    for kind in KINDS {
        let body = json!({ "name": kind, "listen": "127.0.0.1:0", "upstream": upstream }).to_string();
        let at = api.call("POST /proxies", &body).await.json()["listen"].as_str().expect("an address").to_owned();
        let client = soon(TcpStream::connect(&at)).await.expect("connect");
        is_full(&client).await;
        stalled.push(client);
        let toxic = json!({ "type": kind, "name": "t" }).to_string();
        for (call, body, status) in [
            (format!("POST /proxies/{kind}/toxics"), toxic.as_str(), 200),
            (format!("PATCH /proxies/{kind}/toxics/t"), r#"{"toxicity":1}"#, 200),
            (format!("GET /proxies/{kind}"), "", 200),
            (format!("DELETE /proxies/{kind}/toxics/t"), "", 204),
            ("GET /proxies".to_owned(), "", 200),
        ] {
            let started = Instant::now();
            let answer = api.call(&call, body).await;
            assert_eq!(answer.status(), status, "{call}: {}", answer.body);
            slowest = slowest.max((started.elapsed(), call));
            calls += 1;
        }
    }
    assert_eq!((calls, stalled.len()), (KINDS.len() * 5, KINDS.len()));
    println!("slowest of {calls} calls beside stalled readers: {:?} ({})", slowest.0, slowest.1);
    assert!(slowest.0 < PATIENCE / 10, "{slowest:?}");
    assert_eq!(soon(api.call("POST /reset", "")).await.status(), 204);
}
