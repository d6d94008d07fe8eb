//! Effects that change what goes on: slow, patched, doubled and malformed, on streams.

use bytes::BytesMut;
use chaos_proxy::{Effect, Fault, Match, Phase, Proxy, Rule};
use evidence::{Attempt, End};

use super::kit::{Bank, Client, RAW_START, fields, raw_get, rest, whole};
use crate::kit::{Client as Raw, PATIENCE, attempts, proxy, soon};

fn on(key: &str, at: Phase, effect: &str) -> Rule {
    let effect: Effect = serde_json::from_str(effect).unwrap_or_else(|e| panic!("{effect}: {e}"));
    Rule::new(key, Fault::at(at, effect)).matching(Match { key: Some(key.into()), ..Match::default() })
}

async fn record(proxy: &Proxy, key: &str) -> Attempt {
    proxy.settle(PATIENCE).await.expect("settled");
    attempts(&proxy.log()).into_iter().find(|a| a.key.as_deref() == Some(key)).expect("record")
}

// Proves that slow delivery changes nothing but time, in both directions, and that no wait is short. Trailers stay.
#[tokio::test]
async fn slow_delivery_gives_everything() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let slow = r#"{"trickle":{"bytes":2,"every_ms":3,"part":"body"}}"#;
    for at in [Phase::Request, Phase::ResponseHead, Phase::Response] {
        let _armed = proxy.arm(on(at.word(), at, slow)).expect("arm");
        let answer = whole(client.post("/grpc", at.word(), "12345678")).await.expect("answer");
        assert_eq!(answer.trailers, Some(fields(&[("grpc-status", "0")])));
        assert_eq!((answer.status, answer.body.ends_with(b"paid")), (200, true));
        let struck = record(&proxy, at.word()).await.fault.expect("struck");
        // Eight bytes up are four pieces, nine bytes down are five.
        let waits = if at == Phase::Request { 3 } else { 4 };
        assert_eq!(struck.delay_requested_ns, Some(waits * 3_000_000), "{at:?}");
        assert!(struck.delay_injected_ns >= struck.delay_requested_ns, "{struck:?}");
    }
    assert!(bank.seen().iter().all(|seen| seen.body == "12345678"));
    let head = on("head", Phase::ResponseHead, r#"{"trickle":{"bytes":50,"every_ms":1,"part":"head"}}"#);
    let _armed = proxy.arm(head).expect("arm");
    assert_eq!(whole(client.post("/charges", "head", "x")).await.expect("answer").status, 201);
    let struck = record(&proxy, "head").await.fault.expect("struck");
    assert!(struck.delay_injected_ns >= Some(1_000_000), "{struck:?}");
}

// Proves that a patch changes the head alone, and that both statuses are on record.
#[tokio::test]
async fn heads_are_patched() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let patch =
        r#"{"patch_response":{"status":503,"set":{"x-new":"1"},"remove":["X-Bank"],"retry_after":{"seconds":9}}}"#;
    for at in [Phase::ResponseHead, Phase::Response] {
        let _armed = proxy.arm(on(at.word(), at, patch)).expect("arm");
        let answer = whole(client.post("/charges", at.word(), "x")).await.expect("answer");
        assert_eq!((answer.status, &answer.body[..]), (503, &b"0123456789"[..]));
        assert_eq!(
            (answer.fields["x-new"].as_bytes(), answer.fields["retry-after"].as_bytes()),
            (&b"1"[..], &b"9"[..])
        );
        assert!(!answer.fields.contains_key("x-bank"));
        let record = record(&proxy, at.word()).await;
        assert_eq!((record.upstream.status, record.reply.status), (Some(201), Some(503)));
        assert_eq!((record.reply.retry_after.as_deref(), record.reply.end), (Some("9"), End::Replied));
    }
}

// Proves that a doubled request reaches the bank again with its body and key, that the client gets one answer, and that
// each further delivery is on record.
#[tokio::test]
async fn requests_are_delivered_again() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for (i, at) in [Phase::Request, Phase::Forwarded].into_iter().enumerate() {
        let _armed = proxy.arm(on(at.word(), at, r#"{"duplicate":{"times":2}}"#)).expect("arm");
        let answer = whole(client.post("/charges", at.word(), "pay")).await.expect("answer");
        assert_eq!(answer.status, 201);
        let record = record(&proxy, at.word()).await;
        assert_eq!(record.upstream.copies.len(), 2, "{record:?}");
        for copy in &record.upstream.copies {
            assert_eq!((copy.status, copy.error.as_deref()), (Some(201), None));
            assert!(copy.sent.is_some() && copy.answered >= copy.sent);
        }
        let seen = bank.seen();
        assert_eq!(seen.len(), 3 * (i + 1));
        let doubled = seen.iter().filter(|s| s.key.as_deref() == Some(at.word()) && s.body == "pay");
        assert_eq!(doubled.count(), 3);
    }
}

// Proves what each malformed answer is to a client of HTTP/2: never a whole answer, a breach of the protocol that the
// framing layer names, and always the end of the connection.
#[tokio::test]
async fn malformed_answers_are_malformed() {
    let kinds = [
        ("empty", None),
        ("random_data_then_close", None),
        ("garbage_head", None),
        ("bad_chunk", Some(201)),
        ("truncated_body", Some(201)),
        ("wrong_length", Some(201)),
    ];
    for (kind, status) in kinds {
        let bank = Bank::start().await;
        let proxy = proxy(bank.addr).await;
        let effect = format!(r#"{{"malformed":{{"kind":"{kind}"}}}}"#);
        let _armed = proxy.arm(on(kind, Phase::Response, &effect)).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        let error = malformed(client.post("/charges", kind, "x")).await;
        assert_eq!(error.reason().is_some(), kind != "empty", "{kind}: {error:?}");
        let _ended = soon(client.driver).await.expect("driver");
        let record = record(&proxy, kind).await;
        assert_eq!(
            (record.upstream.status, record.reply.status, record.reply.end),
            (Some(201), status, End::Cut),
            "{kind}"
        );
        assert_eq!(record.fault.expect("struck").what, format!("response/malformed {kind}"));
    }
}

async fn malformed(response: h2::client::ResponseFuture) -> h2::Error {
    match soon(response).await {
        Err(error) => error,
        Ok(response) => rest(response.into_body(), &mut BytesMut::new()).await.expect_err("no whole answer"),
    }
}

// Proves the bytes of the simplest malformed answers: where a frame would begin there is noise, or nothing.
#[tokio::test]
async fn noise_stands_where_a_frame_would() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    for kind in ["empty", "random_data_then_close"] {
        let effect: Effect = serde_json::from_str(&format!(r#"{{"malformed":{{"kind":"{kind}"}}}}"#)).expect("effect");
        let _armed = proxy.arm(Rule::new(kind, Fault::at(Phase::Request, effect))).expect("arm");
        let mut client = Raw::to(&proxy, "bank").await;
        client.send([RAW_START, &raw_get(1)].concat()).await;
        let mut bytes = Vec::new();
        soon(tokio::io::AsyncReadExt::read_to_end(&mut client.0, &mut bytes)).await.expect("FIN");
        let has_noise = bytes.len().checked_sub(65).is_some_and(|n| bytes[n] == 0xff);
        assert_eq!(has_noise, kind != "empty", "{bytes:?}");
    }
    assert!(bank.seen().is_empty());
}
