//! `/metrics`.

use std::collections::BTreeMap;

use chaos_proxy::{ApiOptions, Effect, Fault, Rule, Schedule};
use hyper::Method;

use super::{Stage, call, whole};
use crate::kit::{Client, REPLY, post};

/// The samples by name and labels. Each line has to be a comment or a sample, each sample has to belong to the family
/// declared last, and no family or sample may be there twice.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let (mut samples, mut families) = (BTreeMap::new(), Vec::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert!(["counter", "gauge"].contains(&kind), "{line}");
            assert!(!families.contains(&name), "{line}: twice");
            families.push(name);
        } else if !line.starts_with("# HELP ") {
            let (sample, value) = line.rsplit_once(' ').expect("a sample");
            let name = sample.split('{').next().expect("a name");
            assert_eq!(Some(&name), families.last(), "{line}");
            assert!(sample.len() == name.len() || sample.ends_with('}'), "{line}");
            let twice = samples.insert(sample.to_owned(), value.parse().expect("a number"));
            assert_eq!(twice, None, "{line}: twice");
        }
    }
    samples
}

async fn metrics(stage: &Stage) -> BTreeMap<String, f64> {
    let response = call(stage.api.address(), Method::GET, "/metrics").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    parsed(std::str::from_utf8(&whole(response).await).expect("text"))
}

// Proves that the counters are the traffic: every byte that went, in each direction, while the connection is still open;
// every attempt by its outcome; every strike by its rule; the log's depth.
#[tokio::test]
async fn counters_equal_the_traffic() {
    let options = ApiOptions { proxy_metrics: true, ..ApiOptions::default() };
    let stage = Stage::with(|config| config, options).await;
    let fault = Fault::reply_lost(Effect::status(503));
    let armed = stage.proxy.arm(Rule::new("lo\"st", fault).schedule(Schedule::nth(2))).expect("arm");
    let mut client = Client::to(&stage.proxy, "bank").await;
    let request = post("k", "0123456789");
    let mut received = 0;
    for _ in 0..3 {
        client.send(&request).await;
        received += client.reply().await.len();
    }
    stage.proxy.settle(crate::kit::PATIENCE).await.expect("settled");
    let got = metrics(&stage).await;
    let link = stage.proxy.link_status("bank").expect("link");
    let bytes = |what: &str, direction: &str| {
        let (listen, upstream) = (&link.listen, link.upstream.as_deref().expect("upstream"));
        let name = format!("toxiproxy_proxy_{what}_bytes_total{{direction=\"{direction}\",");
        got[&format!("{name}listener=\"{listen}\",proxy=\"bank\",upstream=\"{upstream}\"}}")]
    };
    let (up, down) = (3 * request.len(), 3 * REPLY.len());
    assert_eq!((bytes("received", "upstream"), bytes("sent", "upstream")), (up as f64, up as f64));
    // One answer of the upstream was withheld, and another sent in its place.
    assert_eq!((bytes("received", "downstream"), bytes("sent", "downstream")), (down as f64, received as f64));
    for (sample, value) in [
        ("chaos_proxy_attempts_total{link=\"bank\",outcome=\"replied\"}", 3),
        ("chaos_proxy_faults_total{rule=\"lo\\\"st\"}", 1),
        ("chaos_proxy_rule_armed{rule=\"lo\\\"st\"}", 1),
        ("chaos_proxy_connections_open{link=\"bank\"}", 1),
        ("chaos_proxy_requests_arrived_total{link=\"bank\"}", 3),
        ("chaos_proxy_requests_in_flight{link=\"bank\"}", 0),
        ("chaos_proxy_log_records", 4),
        ("chaos_proxy_log_dropped_total", 0),
        ("promhttp_metric_handler_errors_total{cause=\"gathering\"}", 0),
    ] {
        assert_eq!(got[sample], f64::from(value), "{sample}");
    }
    assert_eq!(got["chaos_proxy_epoch"], armed.epoch() as f64);
    armed.disarm();
    drop(client);
    let log = stage.proxy.log();
    crate::kit::eventually("the connection's record", || log.len() == 6).await;
    let got = metrics(&stage).await;
    assert_eq!(got["chaos_proxy_rule_armed{rule=\"lo\\\"st\"}"], 0.0);
    assert_eq!(got["chaos_proxy_faults_total{rule=\"lo\\\"st\"}"], 1.0, "a counter outlives its rule");
    assert_eq!(got["chaos_proxy_connections_total{link=\"bank\",outcome=\"by_client\"}"], 1.0);
}

// Proves that the path is there only with a flag, for any method then, and has the families of that flag only.
#[tokio::test]
async fn metrics_are_there_when_asked_for() {
    let stage = Stage::start().await;
    let response = call(stage.api.address(), Method::GET, "/metrics").await;
    assert_eq!((response.status().as_u16(), &whole(response).await[..]), (404, &b"404 page not found\n"[..]));
    let options = ApiOptions { runtime_metrics: true, ..ApiOptions::default() };
    let stage = Stage::with(|config| config, options).await;
    let got = metrics(&stage).await;
    for name in ["process_cpu_seconds_total", "process_start_time_seconds", "go_goroutines", "go_threads"] {
        assert!(got[name] > 0.0, "{name}");
    }
    assert!(got["process_open_fds"] > 3.0 && got["process_open_fds"] < got["process_max_fds"]);
    assert!(got["process_resident_memory_bytes"] > 1e6);
    assert!(!got.keys().any(|name| name.starts_with("toxiproxy_") || name.starts_with("go_info")));
    for method in [Method::POST, Method::DELETE] {
        assert_eq!(call(stage.api.address(), method, "/metrics").await.status(), 200);
    }
}
