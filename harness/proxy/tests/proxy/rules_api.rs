//! Rules, scopes and leases through the control plane.

use chaos_proxy::{MAX_DRY_CALLS, MAX_DRY_LOOKS};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use crate::api::kit::{Answer, Plane};
use crate::kit::{Client, PATIENCE, REPLY, Upstream, bank, eventually, post, soon};

async fn plane(upstream: &Upstream) -> Plane {
    Plane::with([bank(upstream.addr)]).await
}

async fn ok(plane: &Plane, call: &str, body: &Value) -> Value {
    let text = if body.is_null() { String::new() } else { body.to_string() };
    let answer = plane.call(call, &text).await;
    assert!(answer.status() < 300, "{call}: {answer:?}");
    let json = answer.json();
    assert!(json["epoch"].is_u64(), "every answer carries the epoch: {json}");
    json
}

fn refused(answer: &Answer, status: u16, field: Option<&str>, text: &str) {
    assert_eq!(answer.status(), status, "{answer:?}");
    let json = answer.json();
    assert_eq!((json["field"].as_str(), json["status"].as_u64()), (field, Some(u64::from(status))), "{json}");
    assert!(json["error"].as_str().is_some_and(|error| error.contains(text)), "{json}");
}

fn busy(id: &str) -> Value {
    json!({ "id": id, "fault": { "at": "request", "effect": { "reply": { "status": 503 } } } })
}

async fn status(plane: &Plane, key: &str) -> u16 {
    let mut client = Client::to(&plane.proxy, "bank").await;
    client.send(post(key, "")).await;
    client.reply().await.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status")
}

// Proves the life of a rule over HTTP: armed, listed, struck, read with what became of it, and taken out of force.
#[tokio::test]
async fn a_rule_lives_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let mut rule = busy("down");
    rule["expect"] = json!({ "fired_exactly": 1 });
    let armed = ok(&plane, "POST /v1/rules", &rule).await;
    assert_eq!(
        (armed["rules"][0]["rule"]["id"].as_str(), armed["rules"][0]["met"].as_bool()),
        (Some("down"), Some(false))
    );
    assert_eq!(armed["epoch"].as_u64(), Some(plane.proxy.epoch()));
    assert_eq!(status(&plane, "k").await, 503);
    let shown = ok(&plane, "GET /v1/rules/down", &Value::Null).await;
    assert_eq!(
        (shown["fired"].as_u64(), shown["decided"].as_u64(), shown["held"].as_u64()),
        (Some(1), Some(1), Some(0))
    );
    assert_eq!(shown["expect"], json!([{ "expected": "fired_exactly", "wanted": 1, "seen": 1, "met": true }]));
    assert_eq!(ok(&plane, "GET /v1/rules", &Value::Null).await["rules"].as_array().map(Vec::len), Some(1));
    let gone = ok(&plane, "DELETE /v1/rules/down", &Value::Null).await;
    assert_eq!((gone["in_force"].as_bool(), gone["met"].as_bool()), (Some(false), Some(true)));
    assert_eq!(status(&plane, "k").await, 201);
    refused(&plane.call("GET /v1/rules/down", "").await, 404, None, "there is no rule `down`");
}

// Proves that many rules come in force together or not at all, in each shape of a list, and that a refusal names the
// field.
#[tokio::test]
async fn rules_are_armed_all_or_none() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let before = plane.proxy.epoch();
    let mut bad = busy("b");
    bad["uses"] = json!(0);
    let call = "POST /v1/rules";
    refused(
        &plane.call(call, &json!([busy("a"), bad]).to_string()).await,
        400,
        Some("uses"),
        "rule `b`: `uses` must be",
    );
    let mut bad = busy("b");
    bad["link"] = json!("bnak");
    refused(
        &plane.call(call, &json!([busy("a"), bad]).to_string()).await,
        400,
        Some("link"),
        "there is no link `bnak`",
    );
    let mut bad = busy("b");
    bad["fualt"] = json!(1);
    refused(&plane.call(call, &bad.to_string()).await, 400, Some("fualt"), "unknown field `fualt`");
    let mut bad = busy("b");
    bad["uses"] = json!("many");
    let list = json!([busy("a"), bad]).to_string();
    refused(&plane.call(call, &list).await, 400, Some("[1].uses"), "the rules cannot be read");
    refused(&plane.call("POST /v1/leases", r#"{"ttl_ms":"1s"}"#).await, 400, Some("ttl_ms"), "invalid type");
    refused(&plane.call("POST /v1/leases", "{}").await, 400, Some("ttl_ms"), "missing field");
    for text in ["3", "\"a\"", "null"] {
        refused(&plane.call(call, text).await, 400, None, "this is no list of rules");
    }
    refused(&plane.call(call, "{").await, 400, None, "the rules cannot be read");
    refused(&plane.call(call, &json!([busy("a"), busy("a")]).to_string()).await, 409, Some("id"), "already armed");
    assert_eq!((plane.proxy.epoch(), plane.proxy.rule_reports().len()), (before, 0));
    ok(&plane, call, &json!([busy("a"), busy("b")])).await;
    ok(&plane, call, &json!({ "rules": [busy("c")] })).await;
    assert_eq!(plane.proxy.epoch(), before + 2);
    assert_eq!(ok(&plane, "DELETE /v1/rules", &Value::Null).await["disarmed"], 3);
    assert_eq!(plane.call("PUT /v1/rules", "").await.status(), 405);
}

// Proves that what a rule holds is waited for and released over HTTP, by number and all together, and that a wait which
// is not met says what there was.
#[tokio::test]
async fn held_calls_are_released_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let hold = json!({ "id": "gate", "fault": { "at": "request", "effect": { "hold": { "timeout_ms": 3_600_000 } } } });
    ok(&plane, "POST /v1/rules", &hold).await;
    let mut clients = Vec::new();
    for i in 0..3 {
        let mut client = Client::to(&plane.proxy, "bank").await;
        client.send(post(&format!("k{i}"), "")).await;
        let wait = json!({ "held": i + 1, "within_ms": 20_000 });
        assert_eq!(ok(&plane, "POST /v1/rules/gate/wait", &wait).await["held"], i + 1);
        clients.push(client);
    }
    let late = plane.call("POST /v1/rules/gate/wait", r#"{"fired":4,"within_ms":1}"#).await;
    assert_eq!(
        (late.status(), late.json()["met"].as_bool(), late.json()["fired"].as_u64()),
        (408, Some(false), Some(3))
    );
    let released = ok(&plane, "POST /v1/rules/gate/release", &json!({ "n": 1 })).await;
    assert_eq!((released["released"].as_u64(), released["held"].as_u64()), (Some(1), Some(2)));
    assert_eq!(clients[0].reply().await, REPLY);
    assert_eq!(ok(&plane, "POST /v1/rules/gate/release", &json!({ "n": "all" })).await["released"], 2);
    assert_eq!((clients[1].reply().await, clients[2].reply().await), (REPLY.to_owned(), REPLY.to_owned()));
    let wait = "POST /v1/rules/gate/wait";
    refused(&plane.call(wait, r#"{"within_ms":1}"#).await, 400, Some("fired"), "one of them");
    refused(&plane.call(wait, r#"{"held":1,"within_ms":20001}"#).await, 400, Some("within_ms"), "at most 20000");
    refused(&plane.call("POST /v1/rules/gate/release", r#"{"n":"some"}"#).await, 400, Some("n"), "number, or \"all\"");
}

// Proves that counters are read and reset over HTTP, and that a dry run decides there as it does here.
#[tokio::test]
async fn counters_and_dry_runs_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let mut rule = busy("first");
    rule["schedule"] = json!({ "fail_first": { "n": 1 } });
    let calls = json!([{ "link": "bank", "key": "a" }, { "link": "bank", "key": "a" }]);
    let told = ok(&plane, "POST /v1/rules/dry-run", &json!({ "rules": [rule], "calls": calls })).await;
    let what = |n: usize| told["decisions"][n]["what"].as_str();
    assert_eq!((what(0), what(1)), (Some("request/reply 503"), None));
    ok(&plane, "POST /v1/rules", &rule).await;
    assert_eq!((status(&plane, "a").await, status(&plane, "a").await), (503, 201));
    let counters = ok(&plane, "GET /v1/rules/first/counters", &Value::Null).await;
    assert_eq!(counters["counters"], json!([{ "link": "bank", "of": "a", "n": 2 }]));
    assert_eq!(ok(&plane, "DELETE /v1/rules/first/counters?of=a", &Value::Null).await["counters"], json!([]));
    assert_eq!(status(&plane, "a").await, 503);
    refused(
        &plane.call("POST /v1/rules/dry-run", r#"{"calls":[{"lnik":"bank"}]}"#).await,
        400,
        Some("calls[0].lnik"),
        "unknown field `lnik`",
    );
}

// Proves both bounds of a dry run, each from both sides: what is within is decided, one more is refused by its field.
#[tokio::test]
async fn dry_runs_are_bounded_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let rules: Vec<_> = (0..MAX_DRY_LOOKS / 500).map(|n| busy(&format!("r{n}"))).collect();
    for (rules, calls) in [(&rules[..], 500), (&[], MAX_DRY_CALLS)] {
        let run = |calls: usize| json!({ "rules": rules, "calls": vec![json!({}); calls] });
        let told = ok(&plane, "POST /v1/rules/dry-run", &run(calls)).await;
        assert_eq!(told["decisions"].as_array().map(Vec::len), Some(calls));
        let longer = plane.call("POST /v1/rules/dry-run", &run(calls + 1).to_string()).await;
        refused(&longer, 400, Some("calls"), "split the calls");
    }
}

// Proves that a parameter which nobody reads is refused on every path, and that the call is then not carried out: the
// lease, the scope, the link and the rule are there afterwards.
#[tokio::test]
async fn unknown_parameters_are_refused_everywhere() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    ok(&plane, "POST /v1/rules", &busy("down")).await;
    ok(&plane, "POST /v1/leases", &json!({ "id": "mine", "ttl_ms": 3_600_000 })).await;
    ok(&plane, "POST /v1/scopes", &json!({ "name": "mine", "match": { "key_prefix": "pay-" } })).await;
    let without = ["GET ca.pem", "DELETE leases/mine", "DELETE links/bank", "GET links/bank/toxics", "POST reset"];
    for call in without.iter().chain(&["DELETE scopes/mine", "GET status"]) {
        let (method, path) = call.split_once(' ').expect("a call");
        let answer = plane.call(&format!("{method} /v1/{path}?scope=mine"), "").await;
        refused(&answer, 400, Some("scope"), "is no parameter of this call; it takes none");
    }
    for (call, field) in
        [("GET events?of=a", "of"), ("GET events/stream?of=a", "of"), ("DELETE events?of=a", "of")].iter().chain(&[
            ("POST rules?scope=a", "scope"),
            ("GET rules/down?of=a", "of"),
            ("GET rules/down/counters?of=a", "of"),
        ])
    {
        let (method, path) = call.split_once(' ').expect("a call");
        let answer = plane.call(&format!("{method} /v1/{path}"), "").await;
        refused(&answer, 400, Some(field), "is no parameter of this call");
    }
    for path in ["leases", "links", "rules", "scopes"] {
        let left = ok(&plane, &format!("GET /v1/{path}"), &Value::Null).await;
        assert_eq!(left[path].as_array().map(Vec::len), Some(1), "{left}");
    }
}

// Proves scopes over HTTP: added, shown with the number of their rules, reset and removed, and rules asked for by scope.
#[tokio::test]
async fn scopes_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let scope = json!({ "name": "mine", "match": { "key_prefix": "pay-" }, "seed": 7 });
    assert_eq!(ok(&plane, "POST /v1/scopes", &scope).await["rules"], 0);
    let mut rule = busy("down");
    rule["scope"] = json!("mine");
    ok(&plane, "POST /v1/rules", &rule).await;
    assert_eq!((status(&plane, "pay-1").await, status(&plane, "other").await), (503, 201));
    assert_eq!(ok(&plane, "GET /v1/scopes", &Value::Null).await["scopes"][0]["rules"], 1);
    let one = ok(&plane, "GET /v1/rules/down?scope=mine", &Value::Null).await;
    assert_eq!((&one["fired"], &one["epoch"]), (&json!(1), &json!(plane.proxy.epoch())));
    assert!(one["armed_epoch"].is_u64());
    refused(&plane.call("GET /v1/rules/down?scope=other", "").await, 404, None, "there is no rule");
    // Nothing of another scope is met by a slip.
    refused(&plane.call("DELETE /v1/rules/down", "").await, 404, None, "outside the scopes");
    refused(&plane.call("DELETE /v1/rules/down?scpoe=mine", "").await, 400, Some("scpoe"), "is no parameter");
    refused(&plane.call("DELETE /v1/rules/down?scope=%ff", "").await, 400, Some("scope"), "cannot be decoded");
    refused(&plane.call("DELETE /v1/rules?scope=mine", "").await, 400, Some("scope"), "it takes none");
    assert_eq!(ok(&plane, "POST /v1/scopes/mine/reset", &Value::Null).await["disarmed"], 1);
    assert_eq!(status(&plane, "pay-1").await, 201);
    refused(&plane.call("POST /v1/scopes", &scope.to_string()).await, 409, Some("name"), "is there");
    refused(
        &plane.call("POST /v1/scopes", r#"{"name":"x","match":{}}"#).await,
        400,
        Some("match"),
        "must have a condition",
    );
    assert_eq!(ok(&plane, "DELETE /v1/scopes/mine", &Value::Null).await["disarmed"], 0);
    refused(&plane.call("GET /v1/scopes/mine", "").await, 404, None, "there is no scope");
}

// Proves leases over HTTP: a renewed one lives on, one that is not renewed takes its rules along, and one that is held
// by a connection ends with it.
#[tokio::test]
async fn leases_over_http() {
    let upstream = Upstream::start().await;
    let plane = plane(&upstream).await;
    let arm = async |id: &str, lease: &str| {
        let mut rule = busy(id);
        rule["lease"] = json!(lease);
        ok(&plane, "POST /v1/rules", &rule).await;
    };
    let in_force = |id: &str| plane.proxy.rule_reports().iter().any(|rule| rule.rule.id == id && rule.in_force);
    let long = ok(&plane, "POST /v1/leases", &json!({ "id": "long", "ttl_ms": 3_600_000 })).await;
    assert_eq!((long["id"].as_str(), long["ttl_ms"].as_u64()), (Some("long"), Some(3_600_000)));
    arm("long", "long").await;
    let short = ok(&plane, "POST /v1/leases", &json!({ "ttl_ms": 100 })).await["id"].as_str().expect("id").to_owned();
    arm("short", &short).await;
    ok(&plane, "POST /v1/leases/long/renew", &Value::Null).await;
    eventually("the short lease to end", || !in_force("short")).await;
    assert!(in_force("long"));
    refused(&plane.call(&format!("POST /v1/leases/{short}/renew"), "").await, 404, None, "there is no lease");
    refused(&plane.call("POST /v1/leases", r#"{"id":"long","ttl_ms":1}"#).await, 409, Some("id"), "is held");
    refused(&plane.call("POST /v1/leases", r#"{"ttl_ms":0}"#).await, 400, Some("ttl_ms"), "must be 1");
    assert_eq!(ok(&plane, "GET /v1/leases", &Value::Null).await["leases"].as_array().map(Vec::len), Some(1));

    // Held by a connection: it outlives its time as long as the connection does.
    ok(&plane, "POST /v1/leases", &json!({ "id": "held", "ttl_ms": 300 })).await;
    let mut holder = plane.client().await;
    let request = "GET /v1/leases/held/hold HTTP/1.1\r\nHost: x\r\n\r\n";
    soon(tokio::io::AsyncWriteExt::write_all(&mut holder.0, request.as_bytes())).await.expect("send");
    let mut first = [0; 64];
    assert!(soon(holder.0.read(&mut first)).await.expect("an answer") > 0);
    arm("held", "held").await;
    let ends = plane.proxy.now();
    eventually("twice its time", || plane.proxy.now().since(ends).as_millis() >= 600).await;
    assert!(in_force("held"));
    drop(holder);
    eventually("the held lease to end", || !in_force("held")).await;
    assert_eq!(ok(&plane, "DELETE /v1/leases/long", &Value::Null).await["disarmed"], 1);
    assert!(!in_force("long"));
    soon(plane.proxy.settle(PATIENCE)).await.expect("settled");
}
