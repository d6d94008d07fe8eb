//! The rule grammar as text: it reads what it writes, in JSON and in TOML, and says which field is wrong.

use std::collections::BTreeMap;

use chaos_proxy::{
    Delay, Effect, Expect, Fault, GrpcCode, GrpcStatus, HeaderIs, HoldThen, Http2Code, Malformed, Match, OrdinalRange,
    Part, Patch, Per, Phase, RetryAfter, Rule, RuleError, Schedule, Step, Then, TlsConfig, Toxic, Trickle,
    rules_from_json,
};
use proptest::prelude::*;

/// Numbers as people write them: up to three decimals. (serde_json may be off by one in the last of 17 digits.)
fn decimal(up_to: u32) -> impl Strategy<Value = f64> + Clone {
    (0..=up_to * 1000).prop_map(|n| f64::from(n) / 1000.0)
}

fn retry_after() -> impl Strategy<Value = Option<RetryAfter>> {
    proptest::option::of(prop_oneof![
        any::<i64>().prop_map(RetryAfter::Seconds),
        (-1000..1000_i64).prop_map(RetryAfter::HttpDateInS),
        "[a-z]{0,9}".prop_map(RetryAfter::Text),
    ])
}

fn effect() -> impl Strategy<Value = Effect> {
    let ms = decimal(1000);
    prop_oneof![
        Just(Effect::Reset),
        Just(Effect::Close),
        Just(Effect::Hang),
        (0..20_u32).prop_map(|n| Effect::RstStream { code: Http2Code(n) }),
        (0..20_u32, proptest::option::of(0..99_u32))
            .prop_map(|(n, last_stream)| Effect::GoAway { code: Http2Code(n), last_stream }),
        (0..17_u32, proptest::option::of("[ -~]{0,9}"), proptest::option::of(-1..99_i64)).prop_map(
            |(n, message, retry_pushback_ms)| Effect::GrpcStatus(GrpcStatus {
                message,
                retry_pushback_ms,
                ..GrpcCode::new(n).expect("a code").into()
            })
        ),
        ms.clone().prop_map(|ms| Effect::Delay(Delay::Ms(ms))),
        (ms.clone(), ms).prop_map(|(a, b)| Effect::Delay(Delay::Uniform { lo_ms: a.min(b), hi_ms: a.max(b) })),
        (1..1000_u64, any::<bool>()).prop_map(|(timeout_ms, reset)| Effect::Hold {
            timeout_ms,
            then: if reset { HoldThen::Reset } else { HoldThen::Pass }
        }),
        (prop_oneof![Just(200_u16), 400..=599_u16], "[a-z]{0,9}", proptest::option::of("[!-~]{1,9}"), retry_after())
            .prop_map(|(status, body, value, retry_after)| Effect::Reply {
                status,
                headers: value.map(|v| BTreeMap::from([("x-why".to_owned(), v)])).unwrap_or_default(),
                body,
                retry_after,
            }),
    ]
}

/// Where an effect may strike, once the connection is there.
fn phases(effect: &Effect) -> Vec<Phase> {
    use Phase::{Forwarded, Request, Response, ResponseBody, ResponseHead};
    match effect {
        Effect::Reply { .. } => vec![Request, Forwarded, ResponseHead, Response],
        Effect::Duplicate { .. } => vec![Request, Forwarded],
        Effect::Trickle(_) => vec![Request, ResponseHead, Response],
        Effect::PatchResponse(_) => vec![ResponseHead, Response],
        Effect::Malformed { .. } => vec![Request, Forwarded, Response],
        _ => vec![Request, Forwarded, ResponseHead, ResponseBody, Response],
    }
}

fn request_fault() -> impl Strategy<Value = Fault> {
    (any::<proptest::sample::Index>(), effect(), 0..1000_u64).prop_map(|(index, effect, after)| {
        let at = *index.get(&phases(&effect));
        Fault { at, after_bytes: (at == Phase::ResponseBody).then_some(after), effect }
    })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let step = prop_oneof![Just(Step::Pass), request_fault().prop_map(Step::Fault)];
    let steps = (proptest::collection::vec(step, 0..4), request_fault()).prop_map(|(mut steps, fault)| {
        steps.push(Step::Fault(fault));
        steps
    });
    let per = || {
        let plain = vec![Per::Key, Per::Link, Per::Conn, Per::Trace, Per::Path];
        prop_oneof![proptest::sample::select(plain), "[a-z]{1,6}".prop_map(Per::Header)]
    };
    let then = prop_oneof![Just(Then::Pass), Just(Then::RepeatLast), Just(Then::Cycle)];
    prop_oneof![
        Just(Schedule::Always),
        (1..9_u64, per()).prop_map(|(n, per)| Schedule::FailFirst { n, per }),
        (1..9_u64, per()).prop_map(|(n, per)| Schedule::Every { n, per }),
        (1..9_u64, per()).prop_map(|(n, per)| Schedule::Nth { n, per }),
        decimal(1).prop_map(|p| Schedule::Probability { p }),
        (steps, per(), then).prop_map(|(steps, per, then)| Schedule::Sequence { steps, per, then }),
    ]
}

fn matching() -> impl Strategy<Value = Match> {
    let text = || proptest::option::of("[A-Z]{1,6}");
    let header = (text(), "[a-z]{1,6}").prop_map(|(value, name)| HeaderIs { name, value });
    let ordinal =
        (1..5_u32, 0..5_u32).prop_map(|(from, more)| OrdinalRange { from: Some(from), to: Some(from + more) });
    (
        text(),
        proptest::option::of("/[a-z]{0,6}[*]?"),
        text(),
        text(),
        proptest::option::of(header),
        proptest::option::of(ordinal),
    )
        .prop_map(|(method, path, key, key_prefix, header, ordinal)| Match {
            method,
            path,
            key,
            key_prefix,
            header,
            ordinal,
            trace: "4bf92f3577b34da6a3ce929d0e0e4736".parse().ok(),
        })
}

fn expect() -> impl Strategy<Value = Option<Expect>> {
    let some = (proptest::option::of(0..9_u64), proptest::option::of(0..9_u64), 0..9_u64);
    proptest::option::of(some.prop_map(|(fired_at_least, fired_exactly, most)| Expect {
        fired_at_least,
        fired_exactly,
        in_flight_at_most: Some(most),
    }))
}

prop_compose! {
    fn rule()(
        id in "[a-z-]{1,12}", link in proptest::option::of("[a-z]{1,6}"), matching in matching(),
        schedule in schedule(), fault in request_fault(),
        uses in proptest::option::of(1..9_u64), ttl_ms in proptest::option::of(1..9_u64),
        scope in proptest::option::of("[a-z]{1,6}"), lease in proptest::option::of("[a-z]{1,6}"), expect in expect(),
    ) -> Rule {
        let fault = (!matches!(schedule, Schedule::Sequence { .. })).then_some(fault);
        Rule { id, link, matching, schedule, fault, uses, ttl_ms, scope, lease, expect }
    }
}

proptest! {
    // Proves that every rule which can be built is valid and survives JSON and TOML unchanged.
    #[test]
    fn rules_survive_text(rule in rule()) {
        prop_assert_eq!(rule.validate(), Ok(()));
        let json = serde_json::to_string(&[&rule]).expect("json");
        prop_assert_eq!(rules_from_json(&json).expect("read"), vec![rule.clone()], "{}", json);
        let text = toml::to_string(&rule).expect("toml");
        prop_assert_eq!(toml::from_str::<Rule>(&text).expect("read"), rule, "{}", text);
    }

    // Proves that no text makes the reader panic.
    #[test]
    fn any_text_is_survived(text: String) {
        let _either = rules_from_json(&text);
    }
}

// Proves that the examples of the README are valid: they are read from it.
#[test]
fn the_examples_of_the_readme_are_valid() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<_> = readme.split("```json\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(blocks.len() >= 3, "{} examples", blocks.len());
    for block in blocks {
        if block.starts_with("{ \"type\"") {
            serde_json::from_str(block)
                .map_err(|e| e.to_string())
                .and_then(|v| Toxic::from_json(v).map_err(|e| e.to_string()))
                .unwrap_or_else(|e| panic!("{e}\n{block}"));
            continue;
        }
        rules_from_json(block).unwrap_or_else(|e| panic!("{e}\n{block}"));
    }
    let blocks: Vec<_> = readme.split("```toml\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        if block.starts_with("[tls.") {
            let link: BTreeMap<String, TlsConfig> = toml::from_str(block).unwrap_or_else(|e| panic!("{e}\n{block}"));
            assert!(link["tls"].terminate.is_some() && link["tls"].originate.is_some());
            continue;
        }
        let rule: Rule = toml::from_str(block).unwrap_or_else(|e| panic!("{e}\n{block}"));
        rule.validate().expect("valid");
    }
}

/// Reads each text as one rule: it is refused, and what is behind it is part of the message.
fn named(cases: &[(String, &str)]) {
    for (text, expected) in cases {
        let error = rules_from_json(&format!("[{text}]")).expect_err("refused").to_string();
        assert!(error.contains(expected), "{text}\n gave: {error}\n wanted: {expected}");
    }
}

// Proves that each slip is refused with the name of its field.
#[test]
fn slips_are_named() {
    let fault = r#""fault":{"at":"request","effect":"close"}"#;
    named(&[
        (format!(r#"{{"id":"r","fualt":1,{fault}}}"#), "unknown field `fualt`"),
        (format!(r#"{{"id":"",{fault}}}"#), "`id` must be 1 to 200 bytes"),
        (r#"{"id":"r"}"#.into(), "`fault` is missing"),
        (r#"{"id":"r","expect":{}}"#.into(), "`expect` is empty"),
        (r#"{"id":"r","expect":{"fired_exactly":1}}"#.into(), "`expect.fired_exactly` cannot hold of a rule without"),
        (r#"{"id":"r","uses":1,"expect":{"in_flight_at_most":1}}"#.into(), "`uses` says which calls are struck"),
        (
            r#"{"id":"r","expect":{"in_flight_at_most":1},"fault":{"at":"connect","effect":"reset"}}"#.into(),
            "`expect.in_flight_at_most` counts requests",
        ),
        (format!(r#"{{"id":"r","schedule":{{"nth":{{"n":1,"per":{{"header":"a b"}}}}}},{fault}}}"#), "nth.per.header` must be"),
        (
            r#"{"id":"r","schedule":{"every":{"n":1,"per":"path"}},"fault":{"at":"connect","effect":"reset"}}"#.into(),
            "`schedule.every.per` must be left out at `connect`",
        ),
        (format!(r#"{{"id":"r","match":{{"pth":"/x"}},{fault}}}"#), "unknown field `pth`"),
        (format!(r#"{{"id":"r","match":{{"path":"x"}},{fault}}}"#), "`match.path` must begin with `/`"),
        (format!(r#"{{"id":"r","match":{{"path":"/a*b*"}},{fault}}}"#), "`match.path` may have one `*`"),
        (format!(r#"{{"id":"r","match":{{"method":"P ST"}},{fault}}}"#), "`match.method` must be"),
        (format!(r#"{{"id":"r","match":{{"ordinal":{{"from":0}}}},{fault}}}"#), "`match.ordinal.from` counts from 1"),
        (format!(r#"{{"id":"r","match":{{"ordinal":{{"from":3,"to":2}}}},{fault}}}"#), "`match.ordinal.to` must not"),
        (format!(r#"{{"id":"r","match":{{"trace":"12"}},{fault}}}"#), "trace id"),
        (format!(r#"{{"id":"r","schedule":{{"fail_first":{{"n":0}}}},{fault}}}"#), "`schedule.fail_first.n` must be"),
        (format!(r#"{{"id":"r","schedule":{{"probability":{{"p":1.5}}}},{fault}}}"#), "`schedule.probability.p` must be"),
        (format!(r#"{{"id":"r","schedule":{{"sometimes":{{"n":1}}}},{fault}}}"#), "unknown variant `sometimes`"),
        (format!(r#"{{"id":"r","uses":0,{fault}}}"#), "`uses` must be at least 1"),
        (format!(r#"{{"id":"r","ttl_ms":0,{fault}}}"#), "`ttl_ms` must be 1"),
        (r#"{"id":"r","fault":{"at":"response_body","effect":"close"}}"#.into(), "`fault.after_bytes` is missing"),
        (r#"{"id":"r","fault":{"at":"request","after_bytes":1,"effect":"close"}}"#.into(), "goes with"),
        (r#"{"id":"r","match":{"key":"k"},"fault":{"at":"connect","effect":"reset"}}"#.into(), "`match` must be left out"),
        (
            r#"{"id":"r","schedule":{"sequence":{"steps":["skip"]}}}"#.into(),
            "unknown step `skip`: write `pass` or a fault",
        ),
        (r#"{"id":"r","schedule":{"sequence":{"steps":["pass"]}}}"#.into(), "must have a fault among them"),
        (
            format!(r#"{{"id":"r","schedule":{{"sequence":{{"steps":[{{"at":"request","effect":"hang"}}]}}}},{fault}}}"#),
            "`fault` must be left out beside a sequence",
        ),
        (
            r#"{"id":"r","schedule":{"sequence":{"steps":[{"at":"request","effect":"hang"},{"at":"connect","effect":"reset"}]}}}"#
                .into(),
            "must strike all at `connect` or none",
        ),
        (
            r#"{"id":"r","schedule":{"sequence":{"steps":[{"at":"request","effect":"hnag"}]}}}"#.into(),
            "unknown variant `hnag`",
        ),
    ]);
}

// Proves the same of the fields of effects.
#[test]
fn slips_of_effects_are_named() {
    named(&[
        (r#"{"id":"r","fault":{"at":"request","effect":{"delay":{"ms":-1}}}}"#.into(), "`fault.effect.delay.ms` must be"),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"delay":{"uniform":{"lo_ms":2,"hi_ms":1}}}}}"#.into(),
            "`fault.effect.delay.uniform.hi_ms` must not be below",
        ),
        (r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":99}}}}"#.into(), "reply.status` must be 200"),
        (r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":204,"body":"x"}}}}"#.into(), "reply.body` cannot"),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":200,"headers":{"Content-Length":"1"}}}}}"#.into(),
            "is set by the proxy itself",
        ),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":200,"headers":{"x":"a\r\nb"}}}}}"#.into(),
            "must not have control characters",
        ),
        (r#"{"id":"r","fault":{"at":"request","effect":{"hold":{"timeout_ms":0}}}}"#.into(), "hold.timeout_ms` must be"),
        (r#"{"id":"r","fault":{"at":"request","effect":{"duplicate":{"times":0}}}}"#.into(), "duplicate.times` must be 1"),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"trickle":{"bytes":0,"every_ms":1}}}}"#.into(),
            "trickle.bytes` must be at least 1",
        ),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"trickle":{"bytes":1,"every_ms":-1}}}}"#.into(),
            "trickle.every_ms` must be",
        ),
        (r#"{"id":"r","fault":{"at":"response","effect":{"patch_response":{}}}}"#.into(), "patch_response` changes nothing"),
        (
            r#"{"id":"r","fault":{"at":"response","effect":{"patch_response":{"remove":["Content-Length"]}}}}"#.into(),
            "patch_response.remove.Content-Length` is set by the proxy",
        ),
        (
            r#"{"id":"r","fault":{"at":"response","effect":{"patch_response":{"status":204}}}}"#.into(),
            "patch_response.status` cannot be 204",
        ),
        (r#"{"id":"r","fault":{"at":"response","effect":{"malformed":{"kind":"odd"}}}}"#.into(), "unknown variant `odd`"),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":503,"headers":{"retry-after":"1"},"retry_after":{"seconds":1}}}}}"#
                .into(),
            "reply.retry_after` is among the header fields too",
        ),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":503,"retry_after":{"http_date_in_s":999999999999}}}}}"#
                .into(),
            "reply.retry_after.http_date_in_s` must be within ten years",
        ),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"reply":{"status":503,"retry_after":{"text":"a\nb"}}}}}"#.into(),
            "reply.retry_after.text` must not have control characters",
        ),
        (
            r#"{"id":"r","fault":{"at":"request","effect":{"delay":{"normal":{"mean_ms":1,"sd_ms":-1}}}}}"#.into(),
            "`fault.effect.delay.normal.sd_ms` must be",
        ),
    ]);
}

// Proves the table of phases and effects: each effect is valid exactly where it can happen, and a refusal says what can.
#[test]
fn combinations_that_mean_nothing_are_refused() {
    let plain = [
        Effect::Delay(Delay::Ms(1.0)),
        Effect::Reset,
        Effect::Close,
        Effect::Hang,
        Effect::Hold { timeout_ms: 1, then: HoldThen::Pass },
    ];
    let others = [
        Effect::status(503),
        Effect::duplicate(),
        Effect::Trickle(Trickle { bytes: 1, every_ms: 1.0, part: Part::All }),
        Effect::PatchResponse(Patch { status: Some(503), ..Patch::default() }),
        Effect::Malformed { kind: Malformed::Empty },
        Effect::RstStream { code: Http2Code::CANCEL },
    ];
    for effect in plain.iter().chain(&others) {
        for phase in Phase::ALL {
            let after_bytes = (phase == Phase::ResponseBody).then_some(1);
            let holds = if phase == Phase::Connect { plain.contains(effect) } else { phases(effect).contains(&phase) };
            let rule = Rule::new("r", Fault { at: phase, after_bytes, effect: effect.clone() });
            match rule.validate() {
                Ok(()) => assert!(holds, "{}", rule.what()),
                Err(error @ RuleError::BadCombination { .. }) => {
                    assert!(!holds, "{}", rule.what());
                    assert!(error.to_string().contains("delay, reset, close, hang, hold"), "{error}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
