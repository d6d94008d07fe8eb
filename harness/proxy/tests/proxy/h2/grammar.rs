//! The effects of HTTP/2 and gRPC as text.

use chaos_proxy::{Effect, Fault, GrpcCode, GrpcStatus, Http2Code, Phase, Rule, rules_from_json};

fn effect(at: &str, effect: &str) -> Result<Effect, String> {
    let text = format!(r#"[{{"id":"r","fault":{{"at":"{at}","effect":{effect}}}}}]"#);
    let mut rules = rules_from_json(&text).map_err(|e| e.to_string())?;
    Ok(rules.remove(0).fault.expect("fault").effect)
}

// Proves that codes may be written by name and by number, are written back by name where they have one, and stand in
// the event log's words.
#[test]
fn codes_have_names_and_numbers() {
    let cases = [
        (
            r#"{"rst_stream":{"code":"REFUSED_STREAM"}}"#,
            r#"{"rst_stream":{"code":7}}"#,
            "request/rst_stream REFUSED_STREAM",
        ),
        (
            r#"{"goaway":{"code":"NO_ERROR","last_stream":3}}"#,
            r#"{"goaway":{"code":0,"last_stream":3}}"#,
            "request/goaway NO_ERROR",
        ),
        (
            r#"{"grpc_status":{"code":"UNAVAILABLE","message":"m"}}"#,
            r#"{"grpc_status":{"code":14,"message":"m"}}"#,
            "request/grpc_status UNAVAILABLE",
        ),
    ];
    for (by_name, by_number, what) in cases {
        let read = effect("request", by_name).expect("by name");
        assert_eq!(effect("request", by_number).as_ref(), Ok(&read));
        assert_eq!(serde_json::to_string(&read).expect("json"), by_name);
        assert_eq!(Fault::at(Phase::Request, read).what(), what);
    }
    let unnamed = effect("request", r#"{"rst_stream":{"code":4000}}"#).expect("a code without a name");
    assert_eq!(serde_json::to_string(&unnamed).expect("json"), r#"{"rst_stream":{"code":4000}}"#);
    assert_eq!(unnamed, Effect::RstStream { code: Http2Code(4000) });
}

// Proves that each slip is refused with the name of its field or of what would do.
#[test]
fn slips_are_named() {
    let cases = [
        ("request", r#"{"rst_stream":{"code":"CANCELED"}}"#, "unknown HTTP/2 error code `CANCELED`"),
        ("request", r#"{"rst_stream":{"code":-1}}"#, "a code: its name"),
        ("request", r#"{"rst_stream":{}}"#, "missing field `code`"),
        ("request", r#"{"goaway":{"code":0,"last_stream":2147483648}}"#, "`fault.effect.goaway.last_stream` must be"),
        ("request", r#"{"grpc_status":{"code":17}}"#, "gRPC status 17 is not one of 0 to 16"),
        ("request", r#"{"grpc_status":{"code":"CANCELED"}}"#, "unknown gRPC status `CANCELED`"),
        (
            "request",
            r#"{"grpc_status":{"code":14,"retry_pushback_ms":-2}}"#,
            "`fault.effect.grpc_status.retry_pushback_ms`",
        ),
        (
            "request",
            r#"{"grpc_status":{"code":14,"after_messages":true}}"#,
            "`fault.effect.grpc_status.after_messages` goes",
        ),
        ("connect", r#"{"grpc_status":{"code":14}}"#, "grpc_status"),
        ("connect", r#"{"rst_stream":{"code":7}}"#, "rst_stream"),
    ];
    for (at, text, expected) in cases {
        let error = effect(at, text).expect_err("refused");
        assert!(error.contains(expected), "{text}\n gave: {error}\n wanted: {expected}");
    }
    let long = GrpcStatus { message: Some("m".repeat(4097)), ..GrpcCode::UNAVAILABLE.into() };
    let error = Rule::new("r", Fault::at(Phase::Request, Effect::GrpcStatus(long))).validate().expect_err("refused");
    assert!(error.to_string().contains("`fault.effect.grpc_status.message` must not be longer"), "{error}");
}
