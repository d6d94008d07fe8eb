//! `/v1/events`, page by page.

use chaos_proxy::{Effect, Fault, Rule, Schedule};
use evidence::Record;
use hyper::Method;
use serde_json::{Value, json};

use super::{Stage, call, whole};
use crate::kit::{attempts, connections, eventually};

/// Sequence numbers of the attempts on a page.
fn seqs(page: &Value) -> Vec<u64> {
    let records = page["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["attempt"]["seq"].as_u64()).collect()
}

// Proves that pages follow one another by `next` without gap or repetition while records are drained over the API
// between them, that a cursor behind the drained is told what it missed, and that each page can be read alone: it has
// the format, the time axis and the seed.
#[tokio::test]
async fn pages_follow_one_another_across_drains() {
    let stage = Stage::start().await;
    stage.pay(0..7).await;
    let (status, page) = stage.get("/v1/events?limit=3&kind=attempt").await;
    assert_eq!((status, seqs(&page)), (200, vec![0, 1, 2]));
    let time = serde_json::to_value(stage.proxy.time()).expect("time");
    assert_eq!((&page["format"], &page["version"]), (&json!("chaos-proxy-events"), &json!(1)));
    assert_eq!((&page["time"], &page["seed"], &page["cursor"]), (&time, &json!(7), &json!(0)));
    let next = page["next"].as_u64().expect("next");
    let response = call(stage.api.address(), Method::DELETE, &format!("/v1/events?upto={next}")).await;
    assert_eq!(response.status(), 200);
    let drained: Value = serde_json::from_slice(&whole(response).await).expect("JSON");
    assert_eq!((&drained["drained"], &drained["first"]), (&json!(next), &json!(next)));
    let (_, page) = stage.get(&format!("/v1/events?cursor={next}&kind=attempt")).await;
    assert_eq!((seqs(&page), &page["missed"]), (vec![3, 4, 5, 6], &json!(0)));
    let (_, page) = stage.get("/v1/events?cursor=1&limit=1").await;
    assert_eq!(page["missed"], json!(next - 1));
    let (_, page) = stage.get(&format!("/v1/events?cursor={}", page["next"])).await;
    assert_eq!((seqs(&page), &page["dropped"]), (vec![4, 5, 6], &json!(0)));
}

// Proves that what a page says about an attempt is what the log in the process has, record for record, the edges of the
// rule that struck included; and that the filters leave out what they say.
#[tokio::test]
async fn a_page_is_the_log() {
    let stage = Stage::start().await;
    let refuse = Fault::reply_lost(Effect::status(503));
    let armed = stage.proxy.arm(Rule::new("lost", refuse).schedule(Schedule::nth(2))).expect("arm");
    let epoch = armed.epoch();
    stage.pay(0..3).await;
    let window = armed.disarm();
    // The client has left; its connection's record is the last one.
    let log = stage.proxy.log();
    eventually("the connection's record", || !connections(&log).is_empty()).await;
    let (_, page) = stage.get("/v1/events").await;
    let got: Vec<Record> = serde_json::from_value(page["records"].clone()).expect("records");
    let kept = stage.proxy.log().since(0).records;
    assert_eq!(got, kept.iter().map(|record| record.as_ref().clone()).collect::<Vec<_>>());
    let struck: Vec<_> = attempts(&stage.proxy.log()).into_iter().map(|a| a.fault.map(|f| f.rule)).collect();
    assert_eq!(struck, [None, Some("lost".to_owned()), None]);
    let (_, edges) = stage.get("/v1/events?kind=edge&link=bank").await;
    let edges: Vec<_> = edges["records"].as_array().expect("records").iter().map(|r| r["edge"].clone()).collect();
    let edge = |change: &str, at: u64, epoch: u64| {
        json!({ "at": at, "change": change, "kind": "rule", "rule": "lost", "link": "*", "what": "response/reply 503",
                "epoch": epoch })
    };
    let mut disarmed = edge("disarmed", window.healed.0, epoch + 1);
    disarmed["since"] = json!(window.applied.0);
    disarmed["fired"] = json!(1);
    assert_eq!(edges, [edge("armed", window.applied.0, epoch), disarmed]);
    let (_, other) = stage.get("/v1/events?link=other&kind=attempt").await;
    assert_eq!((seqs(&other), &other["next"]), (vec![], &page["next"]));
}

// Proves that a long poll is answered by the record that comes, not by its time limit of 20 s, and that a record that
// its filter leaves out does not end it.
#[tokio::test]
async fn a_long_poll_is_woken_by_its_record() {
    let stage = Stage::start().await;
    let begun = std::time::Instant::now();
    let poll = stage.get("/v1/events?wait_ms=20000&kind=attempt");
    let traffic = async {
        // A connection without a request is recorded first.
        drop(crate::kit::Client::to(&stage.proxy, "bank").await);
        let log = stage.proxy.log();
        crate::kit::eventually("the connection's record", || log.len() == 1).await;
        stage.pay(0..1).await;
    };
    let ((status, page), ()) = tokio::join!(poll, traffic);
    assert_eq!((status, seqs(&page)), (200, vec![0]));
    assert!(begun.elapsed().as_secs() < 20, "it was answered by its limit");
}

// Proves that each wrong call is refused with the field it is about.
#[tokio::test]
async fn wrong_calls_name_their_field() {
    let stage = Stage::start().await;
    for (method, path, field) in [
        (Method::GET, "/v1/events?cursor=-1", "cursor"),
        (Method::GET, "/v1/events?cursor=1&cursor=2", "cursor"),
        (Method::GET, "/v1/events?limit=0", "limit"),
        (Method::GET, "/v1/events?limit=10001", "limit"),
        (Method::GET, "/v1/events?wait_ms=20001", "wait_ms"),
        (Method::GET, "/v1/events?kind=span", "kind"),
        (Method::GET, "/v1/events?since=1", "since"),
        (Method::GET, "/v1/events/stream?limit=1", "limit"),
        (Method::GET, "/v1/events/stream?heartbeat_ms=1", "heartbeat_ms"),
        (Method::DELETE, "/v1/events", "upto"),
    ] {
        let response = call(stage.api.address(), method, path).await;
        assert_eq!(response.status(), 400, "{path}");
        let refusal: Value = serde_json::from_slice(&whole(response).await).expect("JSON");
        assert_eq!(refusal["field"], field, "{path}: {refusal}");
    }
    assert_eq!(call(stage.api.address(), Method::POST, "/v1/events").await.status(), 405);
    assert_eq!(call(stage.api.address(), Method::GET, "/v1/events/none").await.status(), 404);
}
