//! The chaos proxy's own export, end to end: what it struck arrives here and joins the caller's trace.

use chaos_proxy::{Effect, Fault, LinkConfig, OtlpConfig, Proxy, ProxyConfig, Rule, Schedule};
use judge::evidence::{Record, SpanKind};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::kit::*;

/// An upstream that answers each connection's request, which has no body, with 201.
async fn upstream() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") && stream.read_buf(&mut bytes).await.is_ok_and(|n| n > 0) {}
            let reply = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            // An error says that the proxy has left; the test sees that by its records.
            let _left = stream.write_all(reply).await;
        }
    });
    address
}

/// The proxy's spans are taken whole by this collector (nothing is rejected), a struck request joins its caller's trace
/// and span with the withheld status and the moments of the proxy's record, and the rule's window is there beside it.
/// Bound by equality with the proxy's log; both run on one time axis.
#[tokio::test]
async fn faults_join_the_callers_trace() {
    let mut collector = start().await;
    let link = LinkConfig::http("bank").upstream(upstream().await).key_header("Idempotency-Key");
    let otlp = OtlpConfig::new(collector.http_endpoint());
    let proxy = Proxy::start(ProxyConfig::new([link]).time(TIME).seed(7).otlp(Some(otlp))).await.expect("start");
    let lost = Rule::new("lost", Fault::reply_lost(Effect::Reset)).schedule(Schedule::fail_first(1));
    let armed = proxy.arm(lost).expect("arm");
    let caller = context(1, 2);
    for _ in 0..2 {
        let mut client = TcpStream::connect(proxy.link_addr("bank").expect("link")).await.expect("connect");
        let request = format!(
            "POST /charges HTTP/1.1\r\nhost: bank\r\nIdempotency-Key: k\r\ntraceparent: {}\r\n\r\n",
            caller.to_traceparent()
        );
        client.write_all(request.as_bytes()).await.expect("send");
        // The first ends in a reset, the second in a reply.
        let _end = client.read_to_end(&mut Vec::new()).await;
    }
    let log = proxy.log();
    let window = armed.disarm();
    proxy.shutdown().await;
    let records = log.since(0).records;
    let attempt = records.iter().find_map(|r| if let Record::Attempt(a) = r.as_ref() { Some(a) } else { None });
    let attempt = attempt.expect("an attempt");
    let spans = collector.spans();
    assert_eq!(spans.len(), 2, "{spans:?}");
    let struck = spans.iter().find(|span| span.kind == SpanKind::Server).expect("the struck request");
    assert_eq!((struck.trace, struck.parent), (caller.trace, Some(caller.parent)));
    assert_eq!((struck.start, struck.end, struck.error), (attempt.arrived, attempt.reply.ended, true));
    assert_eq!((struck.service.as_str(), struck.name.as_str()), ("chaos-proxy", "fault response/reset"));
    assert_eq!((&struck.attributes["chaos.rule"], &struck.attributes["chaos.key"]), (&json!("lost"), &json!("k")));
    let number = |name| struck.number(name);
    assert_eq!((number("chaos.withheld_status"), number("chaos.ordinal")), (Some(201), Some(1)));
    let in_force = spans.iter().find(|span| span.kind == SpanKind::Internal).expect("the window");
    assert_eq!((in_force.start, in_force.end), (window.applied, window.healed));
    assert_eq!(in_force.number("chaos.fired"), Some(1));
    collector.shutdown().await;
}
