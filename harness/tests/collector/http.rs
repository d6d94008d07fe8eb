//! OTLP/HTTP in protobuf, and everything that is not quite it.

use harness::collector::code;
use judge::evidence::{At, SpanKind};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{ArrayValue, KeyValueList};
use opentelemetry_proto::tonic::trace::v1::{
    Span, Status, span::Event, span::SpanKind as ProtoKind, status::StatusCode,
};
use prost::Message;
use serde_json::json;

use crate::kit::*;

/// A span arrives with every field in place, its times on the run's axis, its values in their JSON form. Bound by equality.
#[tokio::test]
async fn a_span_arrives_whole() {
    let collector = start().await;
    let list = [Value::StringValue("a".to_owned()), Value::IntValue(-1)].map(|v| attribute("", v).value.expect("set"));
    let mut sent = span(1, 2, Some(3), ProtoKind::Client);
    sent.attributes = vec![
        attribute("text", Value::StringValue("é".to_owned())),
        attribute("flag", Value::BoolValue(true)),
        attribute("http.request.resend_count", Value::IntValue(2)),
        attribute("big", Value::IntValue(i64::MIN)),
        attribute("ratio", Value::DoubleValue(0.5)),
        attribute("nan", Value::DoubleValue(f64::NAN)),
        attribute("down", Value::DoubleValue(f64::NEG_INFINITY)),
        attribute("list", Value::ArrayValue(ArrayValue { values: list.to_vec() })),
        attribute("map", Value::KvlistValue(KeyValueList { values: vec![attribute("k", Value::BoolValue(false))] })),
        attribute("bytes", Value::BytesValue(vec![0xfb, 0xff])),
        attribute("twice", Value::IntValue(1)),
        attribute("twice", Value::IntValue(2)),
    ];
    sent.events = vec![Event {
        time_unix_nano: ORIGIN + 1_500,
        name: "breaker".to_owned(),
        attributes: vec![attribute("to", Value::StringValue("open".to_owned()))],
        ..Event::default()
    }];
    sent.status = Some(Status { code: StatusCode::Error as i32, message: String::new() });
    let answer = export(&collector, vec![sent]).await;
    assert_eq!(answer.partial_success, None, "nothing was rejected, so there is nothing to say");

    let spans = collector.spans();
    let [got] = spans.as_slice() else { panic!("one span: {spans:?}") };
    assert_eq!((got.trace, Some(got.span)), (context(1, 2).trace, Some(context(1, 2).parent)));
    assert_eq!(got.parent, Some(context(1, 3).parent));
    assert_eq!((got.service.as_str(), got.name.as_str(), got.kind), ("payments", "span 2", SpanKind::Client));
    assert_eq!((got.start, got.end, got.error), (At(1_000), At(2_000), true));
    let attributes = json!({
        "text": "é", "flag": true, "http.request.resend_count": 2, "big": i64::MIN, "ratio": 0.5, "nan": "NaN",
        "down": "-Infinity", "list": ["a", -1], "map": {"k": false}, "bytes": "+/8=", "twice": 2
    });
    assert_eq!(serde_json::to_value(&got.attributes).expect("JSON values"), attributes);
    assert_eq!(got.number("http.request.resend_count"), Some(2));
    let [event] = got.events.as_slice() else { panic!("one event: {:?}", got.events) };
    assert_eq!((event.at, event.name.as_str(), &event.attributes["to"]), (At(1_500), "breaker", &json!("open")));
}

/// gzip is unpacked, in one member or several, and the answer has the media type of the request, parameters or not.
#[tokio::test]
async fn gzip_is_unpacked() {
    let collector = start().await;
    let body = request(vec![span(1, 1, None, ProtoKind::Server)]).encode_to_vec();
    let (one, two) = body.split_at(body.len() / 2);
    for (n, packed) in [gzip(&body), [gzip(one), gzip(two)].concat()].into_iter().enumerate() {
        let headers = [("content-type", "Application/X-Protobuf; charset=x"), ("content-encoding", "gzip")];
        let response = post(&collector, "/v1/traces", &headers, packed).await;
        assert_eq!(response.status(), 200, "variant {n}");
        assert_eq!(response.headers()["content-type"], PROTOBUF);
    }
    let stats = collector.stats();
    assert_eq!((stats.requests, stats.spans, stats.duplicates), (2, 1, 1), "the second says the same again");
}

/// One identity is kept once: the same content again is an exporter's retry, other content is noted and the first stays.
#[tokio::test]
async fn an_identity_is_kept_once() {
    let collector = start().await;
    let first = span(1, 1, None, ProtoKind::Server);
    let mut other = first.clone();
    other.name = "another".to_owned();
    export(&collector, vec![first.clone(), first.clone(), span(2, 1, None, ProtoKind::Server)]).await;
    assert_eq!(note(&collector, code::CONFLICT), None);
    export(&collector, vec![other]).await;
    let stats = collector.stats();
    assert_eq!((stats.spans, stats.duplicates, stats.conflicts), (2, 1, 1), "same span id, two traces");
    assert_eq!(collector.spans()[0].name, first.name);
    assert!(note(&collector, code::CONFLICT).is_some());
}

/// A span that nothing could be joined to is rejected by partial success with the reason; its neighbours are kept.
#[tokio::test]
async fn malformed_identities_reject_their_span_alone() {
    let collector = start().await;
    let good = || span(1, 1, None, ProtoKind::Server);
    let bad: [fn(&mut Span); 6] = [
        |s| s.trace_id = vec![0; 16],
        |s| s.trace_id = vec![1; 15],
        |s| s.trace_id = Vec::new(),
        |s| s.span_id = vec![0; 8],
        |s| s.span_id = vec![1; 16],
        |s| s.parent_span_id = vec![1; 3],
    ];
    let mut spans = vec![good()];
    for spoil in bad {
        let mut span = good();
        spoil(&mut span);
        spans.push(span);
    }
    let mut zero_parent = span(1, 9, None, ProtoKind::Server);
    zero_parent.parent_span_id = vec![0; 8];
    spans.push(zero_parent);
    let partial = export(&collector, spans).await.partial_success.expect("six were rejected");
    assert_eq!(partial.rejected_spans, 6);
    assert!(partial.error_message.contains("16 zero bytes"), "{}", partial.error_message);
    let kept = collector.spans();
    assert_eq!(kept.iter().map(|s| s.parent).collect::<Vec<_>>(), [None, None], "a zero parent is no parent");
    assert_eq!(collector.stats().malformed, 6);
    assert!(note(&collector, code::MALFORMED).is_some_and(|t| t.contains("6 spans")));
}

/// What is not OTLP gets the status that OTLP and HTTP name for it, with a `google.rpc.Status` in the request's encoding.
#[tokio::test]
async fn refusals_say_what_to_do() {
    let collector = start().await;
    let proto = ("content-type", PROTOBUF);
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, &'a str);
    let cases: [Case<'_>; 6] = [
        ("/v1/traces", &[("content-type", "text/plain")], 415, "application/json"),
        ("/v1/traces", &[], 415, "application/x-protobuf"),
        ("/v1/traces", &[proto, ("content-encoding", "zstd")], 415, "use gzip"),
        ("/v1/traces", &[proto, ("content-encoding", "gzip")], 400, "not gzip"),
        ("/v1/traces", &[proto], 400, "cannot decode"),
        ("/v1/trace", &[proto], 404, "/v1/traces"),
    ];
    for (path, headers, status, advice) in cases {
        let response = post(&collector, path, headers, b"\x0a\xff\xff not a request".to_vec()).await;
        assert_eq!(response.status(), status, "{path} {headers:?}");
        let is_proto = headers.contains(&proto);
        assert_eq!(response.headers()["content-type"], if is_proto { PROTOBUF } else { JSON });
        let body = response.bytes().await.expect("a whole body");
        let (code, message) = rpc_status(&body, is_proto);
        assert!(code != 0 && message.contains(advice), "{path} {headers:?}: {code} {message}");
    }
    let get = client().get(format!("{}/v1/traces", collector.http_endpoint())).send().await.expect("an answer");
    assert_eq!((get.status().as_u16(), get.headers()["allow"].to_str().ok()), (405, Some("POST")));
    let stats = collector.stats();
    assert_eq!((stats.garbage_requests, stats.unknown_requests, stats.spans), (2, 5, 0));
    assert!(note(&collector, code::GARBAGE).is_some() && note(&collector, code::UNKNOWN).is_some());
}

fn rpc_status(body: &[u8], protobuf: bool) -> (i64, String) {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Status {
        #[prost(int32, tag = "1")]
        code: i32,
        #[prost(string, tag = "2")]
        message: String,
    }
    if protobuf {
        let status = Status::decode(body).expect("a google.rpc.Status");
        (status.code.into(), status.message)
    } else {
        let status: serde_json::Value = serde_json::from_slice(body).expect("JSON");
        (status["code"].as_i64().expect("a code"), status["message"].as_str().expect("a message").to_owned())
    }
}

/// A request cut off anywhere is answered 200 (where the rest happens to be a request) or 400, and nothing else is
/// stored than the span that was sent or a rejected part of it.
#[tokio::test]
async fn a_truncated_request_does_no_harm() {
    let collector = start().await;
    let mut whole = span(1, 2, Some(3), ProtoKind::Client);
    whole.attributes = vec![attribute("k", Value::StringValue("v".to_owned()))];
    let body = request(vec![whole]).encode_to_vec();
    let mut refused = 0;
    for cut in 0..body.len() {
        let response = post(&collector, "/v1/traces", &[("content-type", PROTOBUF)], body[..cut].to_vec()).await;
        match response.status().as_u16() {
            200 => {}
            400 => refused += 1,
            other => panic!("cut at {cut}: {other}"),
        }
    }
    // Lengths are written before what they count, so only the empty prefix is a request of its own.
    assert_eq!(refused, body.len() - 1);
    assert_eq!((collector.stats().spans, collector.stats().garbage_requests), (0, refused as u64));
}

/// Metrics and logs, which services export unasked, are taken with 200, counted, and leave nothing else behind.
#[tokio::test]
async fn metrics_and_logs_are_discarded() {
    let collector = start().await;
    for (path, media) in [("/v1/metrics", PROTOBUF), ("/v1/logs", JSON), ("/v1/logs", PROTOBUF)] {
        let response = post(&collector, path, &[("content-type", media)], b"{\"anything\":1}".to_vec()).await;
        assert_eq!((response.status().as_u16(), response.headers()["content-type"].to_str().ok()), (200, Some(media)));
    }
    let stats = collector.stats();
    assert_eq!((stats.metrics_discarded, stats.logs_discarded, stats.spans), (1, 2, 0));
    assert_eq!(collector.notes(), []);
}
