//! OTLP's JSON encoding.

use judge::evidence::{At, SpanKind};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as ProtoKind;
use serde_json::{Value, json};

use crate::kit::*;

async fn post_json(to: &harness::collector::Collector, body: &Value) -> (u16, Value) {
    let response = post(to, "/v1/traces", &[("content-type", JSON)], body.to_string().into_bytes()).await;
    let status = response.status().as_u16();
    assert_eq!(response.headers()["content-type"], JSON);
    (status, response.json().await.expect("a JSON answer"))
}

fn document(spans: Value) -> Value {
    json!({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "payments"}}]},
        "scopeSpans": [{"scope": {"name": "lib", "version": "1"}, "spans": spans}]
    }]})
}

/// The shapes that OTLP shows: identities in hexadecimal of either case, times as text, kinds as integers, a scope with
/// attributes of its own. Bound by equality.
#[tokio::test]
async fn the_shapes_of_the_specification_are_read() {
    let collector = start().await;
    let body = document(json!([{
        "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174", "parentSpanId": "eee19b7ec3c1b173",
        "name": "I'm a server span", "startTimeUnixNano": (ORIGIN + 5).to_string(),
        "endTimeUnixNano": (ORIGIN + 6).to_string(), "kind": 2, "status": {"code": 2},
        "attributes": [{"key": "my.span.attr", "value": {"stringValue": "some value"}}],
        "events": [{"timeUnixNano": (ORIGIN + 7).to_string(), "name": "e"}]
    }]));
    assert_eq!(post_json(&collector, &body).await, (200, json!({})));
    let spans = collector.spans();
    let [span] = spans.as_slice() else { panic!("one span: {spans:?}") };
    assert_eq!(span.trace.to_string(), "5b8efff798038103d269b633813fc60c");
    assert_eq!(span.span.to_string(), "eee19b7ec3c1b174");
    assert_eq!(span.parent.map(|p| p.to_string()).as_deref(), Some("eee19b7ec3c1b173"));
    assert_eq!((span.kind, span.start, span.end, span.error), (SpanKind::Server, At(5), At(6), true));
    assert_eq!((span.service.as_str(), span.name.as_str()), ("payments", "I'm a server span"));
    assert_eq!(span.attributes["my.span.attr"], "some value");
    assert_eq!((span.events[0].at, span.events[0].name.as_str()), (At(7), "e"));
}

/// What the proto3 JSON mapping allows beyond that: numbers for 64-bit integers, text for 32-bit ones, `null` for any
/// default, names that nobody knows, words for floating-point values that JSON has no number for, names of enum values.
#[tokio::test]
async fn the_liberties_of_the_mapping_are_taken() {
    let collector = start().await;
    let values = json!([
        {"key": "text", "value": {"stringValue": ""}}, {"key": "int", "value": {"intValue": "-7"}},
        {"key": "num", "value": {"intValue": 7}}, {"key": "nan", "value": {"doubleValue": "NaN"}},
        {"key": "inf", "value": {"doubleValue": "-Infinity"}}, {"key": "whole", "value": {"doubleValue": 3}},
        {"key": "none", "value": {}}, {"key": "null", "value": null}, {"key": "new", "value": {"futureValue": 1}},
        {"key": "empty", "value": {"arrayValue": {}}}, {"key": "bytes", "value": {"bytesValue": "+/8="}},
        {"key": "map", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": false}}]}}}
    ]);
    let body = json!({"resourceSpans": [
        {"resource": null, "scopeSpans": null, "entityRefs": [1]},
        {"scopeSpans": [{"schemaUrl": "x", "spans": [{
            "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "parentSpanId": "",
            "traceState": null, "flags": "256", "name": null, "kind": "SPAN_KIND_CLIENT", "links": [{"traceId": "zz"}],
            "startTimeUnixNano": ORIGIN + 5, "endTimeUnixNano": null, "status": {"code": "STATUS_CODE_ERROR", "message": null},
            "futureField": {"deep": [1, 2, {}]}, "droppedAttributesCount": 7,
            "attributes": values
        }]}]}
    ]});
    assert_eq!(post_json(&collector, &body).await, (200, json!({})));
    let spans = collector.spans();
    let [span] = spans.as_slice() else { panic!("one span: {spans:?}") };
    assert_eq!((span.service.as_str(), span.name.as_str(), span.parent), ("unknown_service", "", None));
    assert_eq!((span.kind, span.start, span.end, span.error), (SpanKind::Client, At(5), At(0), true));
    let attributes = json!({
        "text": "", "int": -7, "num": 7, "nan": "NaN", "inf": "-Infinity", "whole": 3.0, "none": null, "null": null,
        "new": null, "empty": [], "bytes": "+/8=", "map": {"k": false}
    });
    assert_eq!(serde_json::to_value(&span.attributes).expect("JSON values"), attributes);
}

/// One span reads the same in both encodings, so that a check cannot depend on the exporter's choice: the JSON one is
/// counted as a duplicate of the protobuf one.
#[tokio::test]
async fn both_encodings_read_the_same() {
    let collector = start().await;
    export(&collector, vec![span(1, 2, Some(3), ProtoKind::Client)]).await;
    let hex = context(1, 2);
    let body = document(json!([{
        "traceId": hex.trace.to_string(), "spanId": hex.parent.to_string(), "parentSpanId": "0000000000000003",
        "name": "span 2", "kind": 3, "startTimeUnixNano": (ORIGIN + 1_000).to_string(),
        "endTimeUnixNano": (ORIGIN + 2_000).to_string()
    }]));
    post_json(&collector, &body).await;
    let stats = collector.stats();
    assert_eq!((stats.spans, stats.duplicates, stats.conflicts), (1, 1, 0));
}

/// An identity that is no hexadecimal rejects its span alone; the count is text, as 64-bit integers are in JSON.
#[tokio::test]
async fn a_bad_identity_rejects_its_span_alone() {
    let collector = start().await;
    let id = "5b8efff798038103d269b633813fc60c";
    let body = document(json!([
        {"traceId": id, "spanId": "eee19b7ec3c1b174"},
        {"traceId": "W47/95gDgQPSabYzgT/GDA==", "spanId": "eee19b7ec3c1b175"},
        {"traceId": id, "spanId": "eee19b7ec3c1b17"},
        {"traceId": id, "spanId": "eee19b7ec3c1b177", "parentSpanId": "zzzzzzzz"}
    ]));
    let (status, answer) = post_json(&collector, &body).await;
    assert_eq!((status, &answer["partialSuccess"]["rejectedSpans"]), (200, &json!("3")));
    let message = answer["partialSuccess"]["errorMessage"].as_str().expect("a message");
    assert!(message.contains("not hexadecimal"), "{message}");
    assert_eq!(collector.stats().spans, 1);
}

/// Documents that are no trace request are answered 400 with the place of the error, and the deepest nesting that a
/// parser could be led into is one of them.
#[tokio::test]
async fn other_documents_are_refused() {
    let collector = start().await;
    let deep = |open: &str, n| format!(r#"{{"resourceSpans":{}"#, open.repeat(n));
    let bodies = [
        String::new(),
        "[]".to_owned(),
        "{\"resourceSpans\": 1}".to_owned(),
        "{\"resourceSpans\": [".to_owned(),
        deep("[", 100_000),
        deep(r#"[{"resource":{"attributes":[{"value":{"arrayValue":{"values":"#, 20_000),
        document(json!([{"startTimeUnixNano": "soon"}])).to_string(),
        document(json!([{"startTimeUnixNano": "-1"}])).to_string(),
        document(json!([{"kind": "SERVER"}])).to_string(),
    ];
    for body in &bodies {
        let response = post(&collector, "/v1/traces", &[("content-type", JSON)], body.clone().into_bytes()).await;
        let shown: String = body.chars().take(60).collect();
        assert_eq!(response.status(), 400, "{shown}");
        let answer: Value = response.json().await.expect("a google.rpc.Status");
        assert_eq!(answer["code"], 3, "{shown}: {answer}");
    }
    assert_eq!(collector.stats().garbage_requests, bodies.len() as u64);
    assert_eq!(collector.spans(), []);
}
