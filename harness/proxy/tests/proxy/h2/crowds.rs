//! Many streams at once: independence of order, limits, floods. Nothing may be left in flight.

use std::collections::BTreeMap;

use bytes::Bytes;
use chaos_proxy::{Effect, Fault, Match, Phase, Proxy, ProxyConfig, Rule, Schedule};
use evidence::End;
use h2::Reason;
use tokio::task::JoinSet;

use super::kit::{Bank, Client, RAW_START, post, whole};
use crate::kit::{PATIENCE, attempts, bank, connections, eventually, proxy, soon};

/// What became of each of 100 streams, by key: a status, or a code.
async fn crowd(bank_addr: std::net::SocketAddr, order: impl Iterator<Item = usize>) -> BTreeMap<String, String> {
    let proxy = Proxy::start(ProxyConfig::new([bank(bank_addr)]).seed(11)).await.expect("start");
    let rules = [
        Rule::new("lost", Fault::reply_lost(Effect::Reset)).schedule(Schedule::Probability { p: 0.2 }),
        Rule::new("down", Fault::status(503)).schedule(Schedule::Probability { p: 0.3 }),
    ];
    let _armed = proxy.arm_all(rules.into()).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let mut streams = JoinSet::new();
    for i in order {
        let key = format!("key-{i}");
        let response = client.post("/charges", &key, "x");
        streams.spawn(async move {
            let outcome = match whole(response).await {
                Ok(answer) => answer.status.to_string(),
                Err(e) => format!("{:?}", e.reason()),
            };
            (key, outcome)
        });
    }
    let outcomes = soon(streams.join_all()).await.into_iter().collect();
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!((proxy.in_flight("bank").expect("link"), attempts(&proxy.log()).len()), (0, 100));
    proxy.shutdown().await;
    outcomes
}

// Proves that a probability strikes the same keys in whatever order 100 concurrent streams come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn probability_is_independent_of_order() {
    let bank = Bank::start().await;
    let forward = crowd(bank.addr, 0..100).await;
    let backward = crowd(bank.addr, (0..100).rev()).await;
    assert_eq!(forward, backward);
    let count = |outcome: &str| forward.values().filter(|o| *o == outcome).count();
    let (answered, lost, down) = (count("201"), count("Some(INTERNAL_ERROR)"), count("503"));
    assert!(answered > 0 && lost > 0 && down > 0 && answered + lost + down == 100, "{answered} {lost} {down}");
}

// Proves that a flood of streams that are reset at once is bounded: it ends with ENHANCE_YOUR_CALM or is worked off, no
// more streams are live than the limit allows, each that was taken up has its record, and the link serves on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rapid_reset_is_bounded() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let mut most = 0;
    for _ in 0..3000 {
        let request = post("/charges", "flood").body(()).expect("request");
        let Ok((_response, mut stream)) = client.sender.send_request(request, false) else { break };
        stream.send_reset(Reason::CANCEL);
        most = most.max(proxy.in_flight("bank").expect("link"));
        tokio::task::yield_now().await;
    }
    assert!(most <= 512, "{most} were live");
    drop(client.sender);
    if let Err(e) = soon(client.driver).await.expect("driver") {
        assert_eq!(e.reason(), Some(Reason::ENHANCE_YOUR_CALM), "{e:?}");
    }
    proxy.settle(PATIENCE).await.expect("settled");
    eventually("the connection is recorded", || connections(&proxy.log()).len() == 1).await;
    let taken_up = attempts(&proxy.log()).len();
    assert_eq!(usize::try_from(connections(&proxy.log())[0].requests).expect("few"), taken_up);
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(whole(client.post("/charges", "after", "x")).await.expect("answer").status, 201);
}

// Proves that a flood that nobody takes up is ended: HEADERS and RST_STREAM in one write, so that the framing layer
// meets the reset before the stream is handed out.
#[tokio::test]
async fn resets_before_the_first_look_end_the_connection() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut flood = RAW_START.to_vec();
    for stream in (1..4000_u32).step_by(2) {
        flood.extend_from_slice(b"\x00\x00\x09\x01\x04");
        flood.extend_from_slice(&stream.to_be_bytes());
        flood.extend_from_slice(b"\x82\x86\x84\x41\x04bank");
        flood.extend_from_slice(b"\x00\x00\x04\x03\x00");
        flood.extend_from_slice(&stream.to_be_bytes());
        flood.extend_from_slice(&8_u32.to_be_bytes());
    }
    let mut client = crate::kit::Client::to(&proxy, "bank").await;
    // The proxy may have ended the connection before all of it is written.
    let _cut = tokio::io::AsyncWriteExt::write_all(&mut client.0, &flood).await;
    eventually("the connection is recorded", || connections(&proxy.log()).len() == 1).await;
    proxy.settle(PATIENCE).await.expect("settled");
    let connection = connections(&proxy.log()).remove(0);
    assert!(connection.requests < 2000, "{connection:?}");
    assert_eq!(attempts(&proxy.log()).len(), usize::try_from(connection.requests).expect("few"));
}

// Proves that CONTINUATION frames without end end the connection: the header list is bounded.
#[tokio::test]
async fn endless_continuations_end_the_connection() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = crate::kit::Client::to(&proxy, "bank").await;
    client.send(RAW_START).await.send(b"\x00\x00\x09\x01\x00\x00\x00\x00\x01\x82\x86\x84\x41\x04bank").await;
    // A field of 16 kB without indexing, again and again, and never END_HEADERS.
    let mut field = b"\x00\x01a\x7f\x80\x7d".to_vec();
    field.extend_from_slice(&[b'x'; 16_127]);
    let mut frame = u32::try_from(field.len()).expect("short").to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(b"\x09\x00\x00\x00\x00\x01");
    frame.extend_from_slice(&field);
    let (mut reader, mut writer) = client.0.split();
    let flood = async {
        while tokio::io::AsyncWriteExt::write_all(&mut writer, &frame).await.is_ok() {}
        std::future::pending::<()>().await;
    };
    let mut bytes = Vec::new();
    let ended = tokio::select! {
        ended = soon(tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut bytes)) => ended,
        () = flood => unreachable!("it never returns"),
    };
    assert!(ended.is_err() || bytes.ends_with(b"too_many_continuations"), "a GOAWAY says why: {bytes:?}");
    eventually("the connection is recorded", || connections(&proxy.log()).len() == 1).await;
    assert_eq!((attempts(&proxy.log()).len(), proxy.in_flight("bank").expect("link")), (0, 0));
}

// Proves that a header list over the limit is answered 431, is on record, and reaches nobody.
#[tokio::test]
async fn a_long_header_list_is_refused() {
    let upstream = Bank::start().await;
    let mut link = bank(upstream.addr);
    link.limits.head_bytes = 1000;
    let proxy = Proxy::start(ProxyConfig::new([link])).await.expect("start");
    let mut client = Client::to(&proxy, "bank").await;
    let long = post("/", "long").header("x-long", "x".repeat(1000)).body(()).expect("request");
    let (response, _stream) = client.sender.send_request(long, true).expect("stream");
    assert_eq!(whole(response).await.expect("answer").status, 431);
    assert_eq!(whole(client.post("/charges", "short", "x")).await.expect("answer").status, 201);
    proxy.settle(PATIENCE).await.expect("settled");
    let record = attempts(&proxy.log()).into_iter().find(|a| a.key.as_deref() == Some("long")).expect("record");
    assert_eq!((record.reply.end, upstream.seen().len()), (End::Malformed, 1));
}

// Proves that more streams than one connection may have are refused by the protocol, not queued without end, and that
// they pass once there is room.
#[tokio::test]
async fn streams_beyond_the_limit_wait_at_the_client() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let matching = Match { key_prefix: Some("held".into()), ..Match::default() };
    let gate = proxy.arm(Rule::new("gate", Fault::hold(3_600_000)).matching(matching)).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(whole(client.post("/charges", "settings-are-known", "x")).await.expect("answer").status, 201);
    let held: Vec<_> = (0..256).map(|i| client.post("/charges", &format!("held-{i}"), "x")).collect();
    gate.wait_held(256, PATIENCE).await.expect("held");
    let late = client.post("/charges", "late", Bytes::from_static(b"x"));
    gate.release(1);
    assert_eq!(whole(late).await.expect("answer").status, 201);
    gate.release_all();
    for response in held {
        assert_eq!(whole(response).await.expect("answer").status, 201);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let faults = attempts(&proxy.log()).iter().filter(|a| a.fault.is_some()).count();
    assert_eq!((faults, Phase::ALL.len()), (256, 6));
}
