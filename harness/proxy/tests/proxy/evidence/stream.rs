//! `/v1/events/stream` over a real socket.

use evidence::Record;
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{Stage, call};
use crate::kit::soon;

/// Lines of a body, as they come.
struct Lines {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Lines {
    async fn open(stage: &Stage, query: &str) -> Self {
        let response = call(stage.api.address(), Method::GET, &format!("/v1/events/stream{query}")).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Self { body: response.into_body(), buffer: Vec::new() }
    }

    /// The next line; `None` at the end of the body.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("a line of JSON"));
            }
            let Some(frame) = soon(self.body.frame()).await else {
                assert!(self.buffer.is_empty(), "half a line at the end");
                return None;
            };
            self.buffer.extend_from_slice(&frame.expect("frame").into_data().unwrap_or_default());
        }
    }

    /// The next line that is no heartbeat.
    async fn telling(&mut self) -> Option<Value> {
        loop {
            let line = self.next().await?;
            if line.get("heartbeat").is_none() {
                return Some(line);
            }
        }
    }
}

// Proves that a stream which is read while traffic flows gives, record for record and in order, what the log in the
// process has: those from before it was opened, those that came meanwhile, and those that were drained while it was
// open; and that it ends with the counts when the proxy does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_is_the_log() {
    let stage = Stage::start().await;
    stage.pay(0..5).await;
    let mut lines = Lines::open(&stage, "").await;
    let header = lines.next().await.expect("header");
    let time = serde_json::to_value(stage.proxy.time()).expect("time");
    assert_eq!(header, json!({ "format": "chaos-proxy-events", "version": 1, "time": time, "seed": 7 }));
    // Read up to the first heartbeat, so that the stream follows live before anything is drained.
    let mut got = Vec::new();
    loop {
        let line = lines.next().await.expect("a line");
        if line.get("heartbeat").is_some() {
            break;
        }
        got.push(serde_json::from_value::<Record>(line).expect("record"));
    }
    let log = stage.proxy.log();
    let mut kept = Vec::new();
    let ((), ()) = tokio::join!(
        async {
            tokio::join!(stage.pay(5..60), stage.pay(60..120));
        },
        async {
            for _ in 0..50 {
                kept.extend(log.drain());
                tokio::task::yield_now().await;
            }
        }
    );
    let Stage { proxy, api, .. } = stage;
    let ((), read) = tokio::join!(proxy.shutdown(), async {
        let mut end = None;
        while let Some(line) = lines.telling().await {
            match line.get("end") {
                Some(last) => end = Some(last.clone()),
                None => got.push(serde_json::from_value(line).expect("record")),
            }
        }
        end
    });
    kept.extend(log.drain());
    assert_eq!(got, kept);
    assert!(got.iter().filter(|r| matches!(r, Record::Attempt(_))).count() == 120);
    assert_eq!(read.expect("an end line"), json!({ "records": got.len(), "dropped": 0 }));
    assert!(api.shutdown().await, "the control plane is free of it");
}

// Proves that a stream opened at a cursor that was drained away says how many records it missed, before the rest.
#[tokio::test]
async fn a_stream_from_a_drained_cursor_says_so() {
    let stage = Stage::start().await;
    stage.pay(0..4).await;
    let gone = stage.proxy.log().drain().len();
    stage.pay(4..5).await;
    let mut lines = Lines::open(&stage, "?cursor=1&kind=attempt&heartbeat_ms=20").await;
    lines.next().await.expect("header");
    assert_eq!(lines.telling().await, Some(json!({ "missed": gone - 1 })));
    let record = lines.telling().await.expect("a record");
    assert_eq!(record["attempt"]["key"], "k4");
    let beat = lines.next().await.expect("a heartbeat");
    assert_eq!(beat["heartbeat"]["dropped"], 0);
}
