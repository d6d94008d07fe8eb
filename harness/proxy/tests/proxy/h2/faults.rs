//! Each effect on a stream, at the phases where it means something.

use bytes::{Bytes, BytesMut};
use chaos_proxy::{Effect, Fault, Http2Code, Match, Phase, Proxy, Rule, Schedule};
use evidence::{Attempt, ConnectionEnd, End};
use h2::Reason;

use super::kit::{Bank, Client, RAW_START, code, fields, raw_get, rest, scripted, whole};
use crate::kit::{Client as Raw, Ended, PATIENCE, attempts, bank, connections, eventually, proxy, soon};

/// A rule for one key alone.
fn on(key: &str, fault: Fault) -> Rule {
    Rule::new("fault", fault).matching(Match { key: Some(key.into()), ..Match::default() })
}

fn of(proxy: &Proxy, key: &str) -> Attempt {
    attempts(&proxy.log()).into_iter().find(|a| a.key.as_deref() == Some(key)).expect("record")
}

// Proves that the reply of a rule is a whole answer at every phase that allows one, and that the bank was asked exactly
// where the phase says so.
#[tokio::test]
async fn replies_are_given_at_each_phase() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let phases = [Phase::Request, Phase::Forwarded, Phase::ResponseHead, Phase::Response];
    for (i, at) in phases.into_iter().enumerate() {
        let effect = r#"{"reply":{"status":503,"headers":{"Retry-After":"7","Keep-Alive":"x"},"body":"down"}}"#;
        let effect: Effect = serde_json::from_str(effect).expect("effect");
        let armed = proxy.arm(on(at.word(), Fault::at(at, effect))).expect("arm");
        let answer = whole(client.post("/charges", at.word(), "x")).await.expect("answer");
        assert_eq!((answer.status, &answer.body[..]), (503, &b"down"[..]), "{at:?}");
        assert_eq!(answer.fields, fields(&[("retry-after", "7"), ("content-length", "4")]));
        proxy.settle(PATIENCE).await.expect("settled");
        let record = of(&proxy, at.word());
        assert_eq!((record.reply.status, record.reply.end), (Some(503), End::Replied));
        assert_eq!(record.reply.retry_after.as_deref(), Some("7"));
        assert_eq!(record.upstream.status, (at != Phase::Request).then_some(201), "{at:?}");
        assert_eq!(record.upstream.answered.is_some(), at != Phase::Request);
        assert_eq!((bank.seen().len(), armed.fired()), (i, 1));
    }
}

// Proves the witness's case on a stream: the bank answered in full, the client got RST_STREAM with the rule's code, and
// the next attempt on the same connection is answered.
#[tokio::test]
async fn a_reply_is_lost_after_the_bank_answered() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let cases = [
        (Effect::Reset, Reason::INTERNAL_ERROR, "response/reset"),
        (
            Effect::RstStream { code: Http2Code::REFUSED_STREAM },
            Reason::REFUSED_STREAM,
            "response/rst_stream REFUSED_STREAM",
        ),
        (Effect::RstStream { code: Http2Code(4000) }, Reason::from(4000), "response/rst_stream 4000"),
    ];
    for (effect, expected, what) in cases {
        let armed = proxy.arm(on(what, Fault::reply_lost(effect)).schedule(Schedule::fail_first(1))).expect("arm");
        assert_eq!(code(client.post("/charges", what, "x")).await, Some(expected));
        assert_eq!(whole(client.post("/charges", what, "x")).await.expect("answer").status, 201);
        proxy.settle(PATIENCE).await.expect("settled");
        let record = of(&proxy, what);
        assert_eq!((record.upstream.status, record.reply.status, record.reply.end), (Some(201), None, End::Reset));
        assert!(record.upstream.answered.is_some_and(|at| at <= record.reply.ended), "{record:?}");
        assert_eq!(record.fault.expect("struck").what, what);
        drop(armed);
    }
    assert_eq!(bank.seen().len(), 6);
}

// Proves that the bytes before a cut in the body arrive, all of them and no more, and then the reset.
#[tokio::test]
async fn a_body_is_cut_at_its_byte() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for after in [0, 1, 5000, 900_000] {
        let key = format!("after-{after}");
        let fault = Fault { at: Phase::ResponseBody, after_bytes: Some(after), effect: Effect::Reset };
        let _armed = proxy.arm(on(&key, fault)).expect("arm");
        let body = soon(client.post("/big", &key, "x")).await.expect("head").into_body();
        let mut got = BytesMut::new();
        let error = rest(body, &mut got).await.expect_err("cut");
        assert_eq!((got.len() as u64, error.reason()), (after, Some(Reason::INTERNAL_ERROR)));
        proxy.settle(PATIENCE).await.expect("settled");
        let record = of(&proxy, &key);
        assert_eq!((record.upstream.status, record.reply.status, record.reply.end), (Some(200), Some(200), End::Reset));
        assert!(record.upstream.answered.is_some(), "the answer is read to its end: {record:?}");
    }
}

// Proves what a cut connection means: FIN without GOAWAY, every stream on it ends at that moment and is recorded so,
// only the struck one names the fault, and what had been handed over before arrived.
#[tokio::test]
async fn a_cut_ends_every_stream_of_the_connection() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let gate = proxy.arm(on("held", Fault::hold(3_600_000))).expect("arm");
    let _lost = proxy.arm(
        Rule::new("cut", Fault::reply_lost(Effect::Close))
            .matching(Match { key: Some("cut".into()), ..Match::default() }),
    );
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(whole(client.post("/charges", "before", "x")).await.expect("answer").status, 201);
    let held = client.post("/charges", "held", "x");
    gate.wait_held(1, PATIENCE).await.expect("held");
    let (half, mut open) = client.open("/charges", "half");
    open.send_data(Bytes::from_static(b"x"), false).expect("data");
    proxy.wait_arrivals("bank", 3, PATIENCE).await.expect("arrived");
    let cut = client.post("/charges", "cut", "x");
    for response in [held, half, cut] {
        let error = whole(response).await.expect_err("cut");
        assert!(!error.is_go_away() && !error.is_reset(), "FIN alone: {error:?}");
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let record = of(&proxy, "cut");
    assert_eq!((record.reply.end, record.upstream.status), (End::Cut, Some(201)));
    assert_eq!(record.fault.expect("struck").what, "response/close");
    for key in ["held", "half"] {
        let other = of(&proxy, key);
        assert_eq!((other.reply.end, other.reply.ended), (End::Cut, record.reply.ended), "{other:?}");
        assert_ne!(other.fault.map(|f| f.what).as_deref(), Some("response/close"));
    }
    assert_eq!(of(&proxy, "before").reply.end, End::Replied);
    eventually("the connection is recorded", || !connections(&proxy.log()).is_empty()).await;
    let connection = connections(&proxy.log()).remove(0);
    assert_eq!(
        (connection.end, connection.closed, connection.requests),
        (ConnectionEnd::CutByFault, record.reply.ended, 4)
    );
    assert_eq!(bank.seen().len(), 2, "neither the held nor the half request reached the bank");
}

// Proves the bytes of a GOAWAY: its code and last stream are the rule's, and FIN follows.
#[tokio::test]
async fn goaway_is_sent_with_its_code_and_last_stream() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    for (last_stream, expected) in [(Some(0), 0_u32), (None, 1)] {
        let effect = Effect::GoAway { code: Http2Code::ENHANCE_YOUR_CALM, last_stream };
        let _armed = proxy.arm(Rule::new("away", Fault::at(Phase::Request, effect))).expect("arm");
        let mut client = Raw::to(&proxy, "bank").await;
        client.send([RAW_START, &raw_get(1)].concat()).await;
        let mut bytes = Vec::new();
        soon(tokio::io::AsyncReadExt::read_to_end(&mut client.0, &mut bytes)).await.expect("FIN");
        let goaway = &bytes[bytes.len() - 17..];
        assert_eq!(&goaway[..9], &[0, 0, 8, 7, 0, 0, 0, 0, 0], "a GOAWAY is last: {bytes:?}");
        assert_eq!((&goaway[9..13], &goaway[13..]), (&expected.to_be_bytes()[..], &11_u32.to_be_bytes()[..]));
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let records = attempts(&proxy.log());
    assert!(records.iter().all(|r| r.reply.end == End::Cut && r.method == "GET" && r.path == "/"), "{records:?}");
    assert!(bank.seen().is_empty());
    let mut client = Client::to(&proxy, "bank").await;
    let effect = Effect::GoAway { code: Http2Code::NO_ERROR, last_stream: Some(0) };
    let _armed = proxy.arm(Rule::new("again", Fault::at(Phase::Request, effect))).expect("arm");
    let error = whole(client.post("/charges", "k", "x")).await.expect_err("sent away");
    assert!(error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR), "{error:?}");
}

// Proves that a delay and a hold of a whole answer give it back unchanged, and that the delay is never short.
#[tokio::test]
async fn waits_give_the_answer_back() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for at in [Phase::Request, Phase::Forwarded, Phase::ResponseHead, Phase::Response] {
        let plain = whole(client.post("/grpc", "plain", "body")).await.expect("answer");
        let delay: Effect = serde_json::from_str(r#"{"delay":{"ms":20}}"#).expect("effect");
        let armed = proxy.arm(on(at.word(), Fault::at(at, delay))).expect("arm");
        let delayed = whole(client.post("/grpc", at.word(), "body")).await.expect("answer");
        assert_eq!((&delayed.body, &delayed.trailers), (&plain.body, &plain.trailers), "{at:?}");
        proxy.settle(PATIENCE).await.expect("settled");
        let struck = of(&proxy, at.word()).fault.expect("struck");
        assert!(struck.delay_injected_ns >= Some(20_000_000), "{struck:?}");
        drop(armed);
    }
    assert!(bank.seen().iter().all(|seen| seen.body == "body"));
}

// Proves that a stream that hangs stays silent beside others, until its client cancels it, and that the answer the bank
// gave meanwhile is on record.
#[tokio::test]
async fn a_hang_lasts_until_the_client_cancels() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for (at, status) in [(Phase::Request, None), (Phase::Response, Some(201))] {
        let armed = proxy.arm(on(at.word(), Fault::at(at, Effect::Hang))).expect("arm");
        let (response, mut stream) = client.open("/charges", at.word());
        stream.send_data(Bytes::from_static(b"x"), true).expect("body");
        armed.wait_fired(1, PATIENCE).await.expect("struck");
        assert_eq!(whole(client.post("/charges", "other", "x")).await.expect("answer").status, 201);
        assert_eq!(proxy.in_flight("bank").expect("link"), 1);
        stream.send_reset(Reason::CANCEL);
        drop(response);
        proxy.settle(PATIENCE).await.expect("settled");
        let record = of(&proxy, at.word());
        assert_eq!((record.reply.end, record.upstream.status), (End::ClientLeft, status));
    }
}

// Proves that faults over connections strike before the preface, and that arming one ends an idle connection with
// GOAWAY, so that the next call meets the rule.
#[tokio::test]
async fn connections_are_struck_and_retired() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut idle = Client::to(&proxy, "bank").await;
    assert_eq!(whole(idle.post("/charges", "k", "x")).await.expect("answer").status, 201);
    let armed = proxy.arm(Rule::new("refuse", Fault::refuse())).expect("arm");
    soon(idle.driver).await.expect("driver").expect("GOAWAY without an error");
    let mut refused = Raw::to(&proxy, "bank").await;
    assert_eq!(refused.rest().await.1, Ended::Reset);
    drop(armed);
    eventually("both are recorded", || connections(&proxy.log()).len() == 2).await;
    let ends: Vec<_> = connections(&proxy.log()).iter().map(|c| (c.requests, c.end)).collect();
    assert!(
        ends.contains(&(1, ConnectionEnd::CutByFault)) && ends.contains(&(0, ConnectionEnd::ResetByFault)),
        "{ends:?}"
    );
}

// Proves that a stream in progress is not cut by an arming that retires its connection.
#[tokio::test]
async fn retiring_waits_for_streams() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let gate = proxy.arm(on("held", Fault::hold(3_600_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let held = client.post("/charges", "held", "x");
    gate.wait_held(1, PATIENCE).await.expect("held");
    let _refuse = proxy.arm(Rule::new("refuse", Fault::refuse())).expect("arm");
    assert_eq!(gate.release(1), 1);
    assert_eq!(whole(held).await.expect("answer").status, 201);
    soon(client.driver).await.expect("driver").expect("GOAWAY without an error");
}

// Proves the limits on what a fault withholds: a longer request is answered 413 and a longer answer is a failure of the
// upstream, each on its own stream.
#[tokio::test]
async fn what_is_withheld_is_bounded() {
    let upstream = Bank::start().await;
    let mut link = bank(upstream.addr);
    link.limits.withheld_bytes = 1000;
    let proxy = Proxy::start(chaos_proxy::ProxyConfig::new([link])).await.expect("start");
    let _request = proxy.arm(on("long", Fault::hold(3_600_000))).expect("arm");
    let wait = Rule::new("wait", Fault::at(Phase::Response, serde_json::from_str(r#"{"delay":{"ms":1}}"#).expect("e")));
    let wait = wait.matching(Match { key: Some("answer".into()), ..Match::default() });
    let _response = proxy.arm(wait).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let answer = whole(client.post("/charges", "long", vec![0; 1001])).await.expect("answer");
    assert_eq!((answer.status, of(&proxy, "long").reply.end), (413, End::Malformed));
    assert_eq!(code(client.post("/big", "answer", "x")).await, Some(Reason::INTERNAL_ERROR));
    proxy.settle(PATIENCE).await.expect("settled");
    let record = of(&proxy, "answer");
    assert!(record.upstream.error.as_ref().is_some_and(|e| e.contains("longer than 1000 bytes")), "{record:?}");
    assert_eq!(whole(client.post("/charges", "after", "x")).await.expect("answer").status, 201);
}

// Proves that `expect: 100-continue` is answered by the proxy where a fault needs the body before the bank is asked.
#[tokio::test]
async fn a_body_that_waits_for_100_is_asked_for() {
    let upstream = scripted(|mut request, mut respond| async move {
        let mut body = BytesMut::new();
        while let Some(piece) = request.body_mut().data().await {
            body.extend_from_slice(&piece.expect("data"));
        }
        assert_eq!(body, "late");
        respond.send_response(http::Response::new(()), true).expect("head");
    })
    .await;
    let proxy = proxy(upstream).await;
    let gate = proxy.arm(Rule::new("gate", Fault::hold(3_600_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let request = super::kit::post("/", "k").header("expect", "100-continue").body(()).expect("request");
    let (mut response, mut stream) = client.sender.send_request(request, false).expect("stream");
    let interim = soon(std::future::poll_fn(|cx| response.poll_informational(cx))).await.expect("one").expect("head");
    assert_eq!(interim.status(), 100);
    stream.send_data(Bytes::from_static(b"late"), true).expect("body");
    gate.wait_held(1, PATIENCE).await.expect("held");
    gate.release_all();
    assert_eq!(whole(response).await.expect("answer").status, 200);
}
