//! Faults as OpenTelemetry spans, as a collector gets them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use chaos_proxy::{ApiOptions, Effect, Fault, OtlpConfig, OtlpError, OtlpStats, Proxy, ProxyConfig, Rule, Schedule};
use evidence::Record;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::Stage;
use crate::kit::{Client, attempts, eventually, message_length, notes};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A collector that keeps each request as it came, and answers each with the next of its statuses (then 200).
struct Collecting {
    addr: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Collecting {
    async fn start(statuses: &'static [u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let addr = listener.local_addr().expect("addr");
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut statuses = statuses.iter();
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                while message_length(&bytes).is_none() {
                    if stream.read_buf(&mut bytes).await.expect("read") == 0 {
                        break;
                    }
                }
                log.lock().expect("lock").push(String::from_utf8(bytes).expect("text"));
                let status = statuses.next().copied().unwrap_or(200);
                let reply = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
                stream.write_all(reply.as_bytes()).await.expect("reply");
            }
        });
        Self { addr, seen }
    }

    fn config(&self) -> OtlpConfig {
        OtlpConfig::new(format!("http://{}/", self.addr)).header("x-key", "secret").service("chaos-of-bank")
    }

    /// The requests' bodies.
    fn bodies(&self) -> Vec<Value> {
        let seen = self.seen.lock().expect("lock");
        let body = |request: &String| serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1);
        seen.iter().map(|request| body(request).expect("JSON")).collect()
    }

    /// All spans.
    fn spans(&self) -> Vec<Value> {
        let of = |body: &Value| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone();
        self.bodies().iter().flat_map(of).collect()
    }
}

/// Attributes as key and value; an integer has to be written as text.
fn attributes(of: &Value) -> BTreeMap<String, String> {
    let attribute = |kv: &Value| {
        let value = kv["value"].as_object().expect("a value").values().next().expect("one");
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (kv["key"].as_str().expect("a key").to_owned(), text)
    };
    of["attributes"].as_array().expect("attributes").iter().map(attribute).collect()
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found: Vec<_> = spans.iter().filter(|span| span["name"] == name).collect();
    assert_eq!(found.len(), 1, "{name} among {spans:#?}");
    found[0]
}

async fn traced(stage: &Stage, key: &str) {
    let mut client = Client::to(&stage.proxy, "bank").await;
    let request = crate::kit::post(key, "x");
    let request = request.replace("host: bank", &format!("host: bank\r\ntraceparent: 00-{TRACE}-{CALLER}-01"));
    client.send(request.replace("content-length", "connection: close\r\ncontent-length")).await;
    client.rest().await;
    stage.proxy.settle(crate::kit::PATIENCE).await.expect("settled");
}

// Proves what a collector gets of a reply that was lost after the upstream had answered: a span under the caller's span
// and trace, with the withheld status, at the wall-clock times of the record, linked to the window of the rule, which is
// a span of its own with both epochs; and nothing of the calls that no rule struck. All of it is there when `shutdown`
// returns.
#[tokio::test]
async fn a_struck_request_is_a_span_under_its_caller() {
    let collector = Collecting::start(&[]).await;
    let otlp = collector.config();
    let stage = Stage::with(|config| config.otlp(Some(otlp)), ApiOptions::default()).await;
    let lost = Rule::new("lost", Fault::reply_lost(Effect::Reset)).schedule(Schedule::fail_first(1));
    let armed = stage.proxy.arm(lost).expect("arm");
    let epoch = armed.epoch();
    traced(&stage, "k").await;
    traced(&stage, "k").await;
    let window = armed.disarm();
    let open = stage.proxy.arm(Rule::new("open", Fault::hang())).expect("arm");
    let Stage { proxy, .. } = stage;
    let (log, time) = (proxy.log(), proxy.time());
    proxy.shutdown().await;
    drop(open);
    let spans = collector.spans();
    assert_eq!(spans.len(), 3, "{spans:#?}");
    let record = &attempts(&log)[0];
    let span = named(&spans, "fault response/reset");
    assert_eq!((&span["traceId"], &span["parentSpanId"]), (&json!(TRACE), &json!(CALLER)));
    assert_eq!((&span["kind"], &span["status"]["code"]), (&json!(2), &json!(2)));
    assert_eq!(span["startTimeUnixNano"], time.to_wall(record.arrived).to_string());
    assert_eq!(span["endTimeUnixNano"], time.to_wall(record.reply.ended).to_string());
    let said = attributes(span);
    for (key, value) in [
        ("chaos.rule", "lost"),
        ("chaos.what", "response/reset"),
        ("chaos.phase", "response"),
        ("chaos.link", "bank"),
        ("chaos.conn", "0"),
        ("chaos.key", "k"),
        ("chaos.ordinal", "1"),
        ("chaos.seed", "7"),
        ("chaos.epoch", &epoch.to_string()),
        ("chaos.outcome", "reset"),
        ("chaos.withheld_status", "201"),
        ("http.request.method", "POST"),
        ("url.path", "/charges"),
    ] {
        assert_eq!(said.get(key).map(String::as_str), Some(value), "{key}");
    }
    assert!(!said.contains_key("http.response.status_code"), "the client got none");
    let in_force = named(&spans, "rule lost in force");
    assert_eq!(span["links"], json!([{ "traceId": in_force["traceId"], "spanId": in_force["spanId"] }]));
    assert_eq!(in_force["startTimeUnixNano"], time.to_wall(window.applied).to_string());
    assert_eq!(in_force["endTimeUnixNano"], time.to_wall(window.healed).to_string());
    let said = attributes(in_force);
    assert_eq!(
        (said["chaos.epoch"].clone(), said["chaos.epoch.disarmed"].clone()),
        (epoch.to_string(), (epoch + 1).to_string())
    );
    assert_eq!(said["chaos.fired"], "1");
    let to_the_end = attributes(named(&spans, "rule open in force"));
    assert_eq!(to_the_end["chaos.fired"], "0", "what nobody disarmed ends with the proxy");
    let resource = attributes(&collector.bodies()[0]["resourceSpans"][0]["resource"]);
    assert_eq!(resource["service.name"], "chaos-of-bank");
    let first = collector.seen.lock().expect("lock")[0].clone();
    assert!(first.starts_with("POST /v1/traces HTTP/1.1\r\n") && first.contains("x-key: secret\r\n"), "{first}");
    assert!(first.contains("content-type: application/json\r\n"), "{first}");
}

// Proves that a delay is told as it was asked for and as it was measured, and that a call without a trace gets one of
// its own: identities are of the right length, not zero, and differ.
#[tokio::test]
async fn a_call_without_a_trace_gets_its_own() {
    let collector = Collecting::start(&[]).await;
    let otlp = collector.config();
    let stage = Stage::with(|config| config.otlp(Some(otlp)), ApiOptions::default()).await;
    let slow = Fault::at(chaos_proxy::Phase::Request, Effect::Delay(chaos_proxy::Delay::Ms(3.0)));
    let armed = stage.proxy.arm(Rule::new("slow", slow)).expect("arm");
    stage.pay(0..2).await;
    drop(armed);
    let Stage { proxy, .. } = stage;
    proxy.shutdown().await;
    let spans = collector.spans();
    let mut ids: Vec<_> = spans.iter().map(|span| (span["traceId"].clone(), span["spanId"].clone())).collect();
    assert_eq!(ids.len(), 3);
    for (trace, span) in &ids {
        let (trace, span) = (trace.as_str().expect("text"), span.as_str().expect("text"));
        assert!(trace.len() == 32 && span.len() == 16 && !trace.trim_start_matches('0').is_empty(), "{trace} {span}");
    }
    ids.sort_by_key(|id| format!("{id:?}"));
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let said = attributes(spans.iter().find(|span| span["kind"] == 2).expect("a request"));
    assert_eq!(said["chaos.delay.requested_ns"], "3000000");
    assert!(said["chaos.delay.injected_ns"].parse::<u64>().expect("a number") >= 3_000_000);
    assert_eq!(said["http.response.status_code"], "201");
    assert!(!said.contains_key("chaos.withheld_status"), "nothing was withheld");
}

// Proves that a collector that is busy is asked again and gets the same spans, that one that refuses is not, and that
// one that is not there costs the proxy nothing but notes: each span is counted as sent or as failed, and every request
// was served.
#[tokio::test]
async fn a_collector_that_fails_disturbs_nothing() {
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("bind").local_addr().expect("addr");
    let (busy, refusing) = (Collecting::start(&[503]).await, Collecting::start(&[400; 4]).await);
    let nowhere = OtlpConfig::new(format!("http://{gone}"));
    for (otlp, sent, failed) in [(busy.config(), 2, 0), (refusing.config(), 0, 2), (nowhere, 0, 2)] {
        let stage = Stage::with(|config| config.otlp(Some(otlp)), ApiOptions::default()).await;
        let armed = stage.proxy.arm(Rule::new("busy", Fault::status(503))).expect("arm");
        stage.pay(0..1).await;
        drop(armed);
        let proxy = &stage.proxy;
        let over = |stats: OtlpStats| stats.sent + stats.failed == 2;
        eventually("every span is accounted for", || proxy.otlp_stats().is_some_and(over)).await;
        let stats = proxy.otlp_stats().expect("stats");
        assert_eq!((stats.sent, stats.failed, stats.dropped, stats.waiting), (sent, failed, 0, 0));
        let told = notes(&proxy.log()).iter().filter(|note| note.code == "otlp-failed").count();
        assert!(told >= 1, "a failure leaves a note");
        assert_eq!(attempts(&proxy.log())[0].reply.status, Some(503));
        assert!(proxy.log().since(0).records.iter().any(|r| matches!(r.as_ref(), Record::Edge(_))));
    }
    let asked = busy.bodies();
    assert_eq!(asked[0], asked[1], "the same spans again");
    let mut asked = refusing.bodies();
    let all = asked.len();
    asked.dedup();
    assert_eq!(asked.len(), all, "none is asked for twice");
}

// Proves which endpoints and environments are understood, and that the rest is refused with what would do.
#[tokio::test]
async fn endpoints_come_from_flags_and_environment() {
    let of = |endpoint: Option<&str>, vars: &[(&str, &str)]| {
        let var = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        OtlpConfig::from_env(endpoint, var)
    };
    let url = |config: Result<Option<OtlpConfig>, OtlpError>| config.expect("usable").map(|c| c.traces_url);
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel:4318/");
    assert_eq!(url(of(None, &[])), None);
    assert_eq!(url(of(None, &[base])).as_deref(), Some("http://otel:4318/v1/traces"));
    assert_eq!(url(of(Some("http://mine:1"), &[base])).as_deref(), Some("http://mine:1/v1/traces"));
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://otel:1/as-is");
    assert_eq!(url(of(None, &[base, traces])).as_deref(), Some("http://otel:1/as-is"));
    assert_eq!(url(of(None, &[base, ("OTEL_SDK_DISABLED", "true")])), None);
    let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, other = c ");
    let config = of(None, &[base, headers, ("OTEL_SERVICE_NAME", "mine")]).expect("usable").expect("one");
    assert_eq!(config.service, "mine");
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(config.headers, [pair("api-key", "a b"), pair("other", "c")]);
    assert_eq!(of(None, &[base, ("OTEL_EXPORTER_OTLP_HEADERS", "odd")]), Err(OtlpError::Header("odd".to_owned())));
    let grpc = of(None, &[base, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]).expect_err("another protocol");
    assert!(grpc.to_string().contains("http/json"), "{grpc}");
    for (endpoint, expected) in
        [("https://otel:4318", "TLS is not spoken"), ("ftp://otel", "begin with http://"), ("otel:4318", "is no URL")]
    {
        let config = ProxyConfig::new([]).otlp(Some(OtlpConfig::new(endpoint)));
        let refused = Proxy::start(config).await.expect_err("refused").to_string();
        assert!(refused.contains(expected) && refused.contains("write it as http://host:4318"), "{refused}");
    }
}
