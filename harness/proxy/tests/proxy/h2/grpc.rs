//! gRPC statuses: what the bank said and what the client saw, both on record.

use chaos_proxy::{Effect, Fault, GrpcCode, GrpcStatus, Match, Phase, Proxy, Rule};
use evidence::{Attempt, End};

use super::kit::{Bank, Client, fields, message, whole};
use crate::kit::{Client as Raw, PATIENCE, Upstream, attempts, post, proxy};

fn unavailable(after_messages: bool) -> Effect {
    Effect::GrpcStatus(GrpcStatus {
        message: Some("bank l\u{e4}uft nicht".into()),
        retry_pushback_ms: Some(250),
        after_messages,
        ..GrpcCode::UNAVAILABLE.into()
    })
}

fn on(key: &str, fault: Fault) -> Rule {
    Rule::new(key, fault).matching(Match { key: Some(key.into()), ..Match::default() })
}

async fn record(proxy: &Proxy, key: &str) -> Attempt {
    proxy.settle(PATIENCE).await.expect("settled");
    attempts(&proxy.log()).into_iter().find(|a| a.key.as_deref() == Some(key)).expect("record")
}

// Proves that an untouched call passes with its status, which is on record for both sides.
#[tokio::test]
async fn a_status_passes() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let answer = whole(client.post("/grpc", "k", message(b"pay"))).await.expect("answer");
    assert_eq!((answer.body, answer.trailers), (message(b"paid"), Some(fields(&[("grpc-status", "0")]))));
    let record = record(&proxy, "k").await;
    assert_eq!((record.upstream.grpc_status, record.reply.grpc_status), (Some(0), Some(0)));
}

// Proves that a status alone is an answer of one head, at each phase before a message was passed, and that the bank's
// own OK is on record where it was asked.
#[tokio::test]
async fn a_status_alone_is_trailers_only() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for at in [Phase::Request, Phase::Forwarded, Phase::ResponseHead, Phase::Response] {
        let _armed = proxy.arm(on(at.word(), Fault::at(at, unavailable(false)))).expect("arm");
        let answer = whole(client.post("/grpc", at.word(), message(b"pay"))).await.expect("answer");
        assert_eq!((answer.status, answer.body.len(), answer.trailers), (200, 0, None), "{at:?}");
        let expected = fields(&[
            ("content-type", "application/grpc"),
            ("grpc-status", "14"),
            ("grpc-message", "bank l%C3%A4uft nicht"),
            ("grpc-retry-pushback-ms", "250"),
        ]);
        assert_eq!(answer.fields, expected);
        let record = record(&proxy, at.word()).await;
        assert_eq!(
            (record.reply.grpc_status, record.reply.status, record.reply.end),
            (Some(14), Some(200), End::Replied)
        );
        assert_eq!(record.upstream.grpc_status, (at != Phase::Request).then_some(0), "{at:?}: {record:?}");
        assert_eq!(record.fault.expect("struck").what, format!("{}/grpc_status UNAVAILABLE", at.word()));
    }
}

// Proves that the messages stay and the status is replaced: mid-stream by the number of bytes, and at the end.
#[tokio::test]
async fn a_status_follows_messages() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let whole_message = message(b"paid");
    let mid =
        Fault { at: Phase::ResponseBody, after_bytes: Some(whole_message.len() as u64), effect: unavailable(false) };
    let _mid = proxy.arm(on("mid", mid)).expect("arm");
    let _end = proxy.arm(on("end", Fault::reply_lost(unavailable(true)))).expect("arm");
    for key in ["mid", "end"] {
        let answer = whole(client.post("/grpc", key, message(b"pay"))).await.expect("answer");
        assert_eq!((answer.status, &answer.body), (200, &whole_message), "{key}");
        let trailers = answer.trailers.expect("trailers");
        assert_eq!((trailers["grpc-status"].as_bytes(), trailers.len()), (&b"14"[..], 3));
        let record = record(&proxy, key).await;
        assert_eq!((record.upstream.grpc_status, record.reply.grpc_status), (Some(0), Some(14)), "{record:?}");
        assert_eq!((record.reply.end, record.reply.status), (End::Replied, Some(200)));
    }
}

// Proves what the effects of HTTP/2 are on a connection of HTTP/1.1: a reply, RST and FIN.
#[tokio::test]
async fn on_http1_the_nearest_thing_happens() {
    use crate::kit::Ended;
    use chaos_proxy::Http2Code;
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let _status = proxy.arm(on("status", Fault::at(Phase::Request, unavailable(false)))).expect("arm");
    let rst = Effect::RstStream { code: Http2Code::CANCEL };
    let _rst = proxy.arm(on("rst", Fault::at(Phase::Request, rst))).expect("arm");
    let goaway = Effect::GoAway { code: Http2Code::NO_ERROR, last_stream: None };
    let _goaway = proxy.arm(on("goaway", Fault::at(Phase::Request, goaway))).expect("arm");
    let mut client = Raw::to(&proxy, "bank").await;
    let reply = client.send(post("status", "x")).await.reply().await;
    assert!(reply.starts_with("HTTP/1.1 200") && reply.contains("grpc-status: 14\r\n"), "{reply}");
    assert_eq!(client.send(post("goaway", "x")).await.rest().await, (String::new(), Ended::Fin));
    let mut client = Raw::to(&proxy, "bank").await;
    assert_eq!(client.send(post("rst", "x")).await.rest().await, (String::new(), Ended::Reset));
    assert_eq!(record(&proxy, "rst").await.reply.end, End::Reset);
    assert_eq!(record(&proxy, "goaway").await.reply.end, End::Cut);
}
