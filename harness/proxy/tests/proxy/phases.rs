//! Every phase with every effect, as bytes at the client, as bytes at the upstream, and as the event that was recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kit::{Client, Ended, PATIENCE, REPLY, Upstream, attempts, connections, eventually, post, proxy, soon};
use chaos_proxy::{Delay, Effect, Fault, HoldThen, Phase, Rule, rules_from_json};
use evidence::{Attempt, ConnectionEnd, End};

/// What a client and the bank saw of one struck request, and its record.
struct Seen {
    client: String,
    end: Ended,
    upstream: Vec<String>,
    attempt: Attempt,
}

/// Sends one request through a proxy on which `fault` strikes everything. With `leaves`, the client closes once the
/// fault has struck.
async fn strike(fault: Fault, leaves: bool) -> Seen {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let armed = proxy.arm(Rule::new("rule", fault.clone())).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "hello").replace("host: bank", "host: bank\r\nconnection: close")).await;
    let (text, end) = if leaves {
        armed.wait_fired(1, PATIENCE).await.expect("fired");
        assert!(client.is_silent() || fault.at == Phase::ResponseBody, "{}", fault.what());
        drop(client);
        (String::new(), Ended::Open)
    } else {
        client.rest().await
    };
    proxy.settle(PATIENCE).await.expect("settled");
    let mut found = attempts(&proxy.log());
    assert_eq!((found.len(), armed.fired()), (1, 1), "{}", fault.what());
    let attempt = found.remove(0);
    assert_eq!(attempt.fault.as_ref().map(|f| f.what.clone()), Some(fault.what()));
    assert_eq!((attempt.key.as_deref(), attempt.ordinal, attempt.body.bytes), (Some("k"), 1, 5));
    assert!(attempt.arrived <= attempt.head && Some(attempt.head) <= attempt.received);
    assert!(attempt.received <= Some(attempt.reply.ended));
    Seen { client: text, end, upstream: upstream.seen(), attempt }
}

/// The HTTP phases, and whether the upstream is asked before the fault strikes.
const PHASES: [(Phase, bool); 5] = [
    (Phase::Request, false),
    (Phase::Forwarded, true),
    (Phase::ResponseHead, true),
    (Phase::ResponseBody, true),
    (Phase::Response, true),
];

fn at(phase: Phase, effect: Effect) -> Fault {
    let after_bytes = (phase == Phase::ResponseBody).then_some(4);
    Fault { at: phase, after_bytes, effect }
}

/// What the client gets before a fault at this phase ends the exchange.
fn before(phase: Phase) -> &'static str {
    if phase == Phase::ResponseBody { &REPLY[..REPLY.len() - 6] } else { "" }
}

// Proves that whatever ends the exchange for the client, the upstream got the request whole or not at all, as the phase
// says, and that its answer is on record also when the client never saw it.
fn upstream_is_as_the_phase_says(seen: &Seen, asked: bool, what: &str) {
    let upstream = &seen.attempt.upstream;
    if asked {
        assert_eq!(seen.upstream.len(), 1, "{what}");
        assert!(seen.upstream[0].ends_with("\r\n\r\nhello"), "{what}");
        assert_eq!((upstream.status, upstream.error.as_ref()), (Some(201), None), "{what}");
        assert!(upstream.sent.is_some() && upstream.sent <= upstream.answered, "{what}");
    } else {
        assert!(seen.upstream.is_empty(), "{what}");
        assert_eq!(*upstream, evidence::Upstream::default(), "{what}");
    }
}

// Proves RST and FIN at every phase: the client sees exactly the bytes of the phases before and the right kind of end.
#[tokio::test]
async fn reset_and_close_at_every_phase() {
    for (phase, asked) in PHASES {
        for (effect, client_end, end) in
            [(Effect::Reset, Ended::Reset, End::Reset), (Effect::Close, Ended::Fin, End::Cut)]
        {
            let fault = at(phase, effect);
            let what = fault.what();
            let seen = strike(fault, false).await;
            assert_eq!((seen.end, seen.attempt.reply.end), (client_end, end), "{what}");
            // RST may overtake bytes that the client has not read yet.
            let whole = end == End::Cut;
            assert!(before(phase).starts_with(&seen.client) && (!whole || seen.client == before(phase)), "{what}");
            assert_eq!(seen.attempt.reply.status, (phase == Phase::ResponseBody).then_some(201), "{what}");
            upstream_is_as_the_phase_says(&seen, asked, &what);
        }
    }
}

// Proves that a hang lasts until the client leaves, and that its end is the client's leaving.
#[tokio::test]
async fn hang_at_every_phase() {
    for (phase, asked) in PHASES {
        let fault = at(phase, Effect::Hang);
        let what = fault.what();
        let seen = strike(fault, true).await;
        assert_eq!(seen.attempt.reply.end, End::ClientLeft, "{what}");
        upstream_is_as_the_phase_says(&seen, asked, &what);
    }
}

// Proves that the proxy's own reply replaces the upstream's at every phase that allows it, byte for byte.
#[tokio::test]
async fn reply_at_every_phase() {
    for (phase, asked) in PHASES.into_iter().filter(|(phase, _)| *phase != Phase::ResponseBody) {
        let headers = BTreeMap::from([("Retry-After".to_owned(), "2".to_owned())]);
        let fault = at(phase, Effect::Reply { status: 503, headers, body: "busy".to_owned(), retry_after: None });
        let what = fault.what();
        assert!(what.ends_with("/reply 503"));
        let seen = strike(fault, false).await;
        let expected =
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\ncontent-length: 4\r\nconnection: close\r\n\r\nbusy";
        assert_eq!((seen.client.as_str(), seen.end), (expected, Ended::Fin), "{what}");
        let reply = &seen.attempt.reply;
        assert_eq!((reply.end, reply.status, reply.retry_after.as_deref()), (End::Replied, Some(503), Some("2")));
        assert!(reply.first_byte.is_some_and(|first| first <= reply.ended), "{what}");
        upstream_is_as_the_phase_says(&seen, asked, &what);
    }
}

// Proves that a delay at every phase is at least as long as asked, is measured, and changes no byte.
#[tokio::test]
async fn delay_at_every_phase() {
    for (phase, asked) in PHASES {
        for ms in [0.25, 20.0] {
            let fault = at(phase, Effect::Delay(Delay::Ms(ms)));
            let what = fault.what();
            let seen = strike(fault, false).await;
            assert_eq!((seen.client.as_str(), seen.attempt.reply.end), (REPLY, End::Replied), "{what}");
            let struck = seen.attempt.fault.clone().expect("struck");
            let requested = (ms * 1e6) as u64;
            assert_eq!(struck.delay_requested_ns, Some(requested), "{what}");
            assert!(struck.delay_injected_ns >= Some(requested), "{what}");
            let total = seen.attempt.reply.ended.since(seen.attempt.arrived);
            assert!(total >= Duration::from_nanos(requested), "{what}: {total:?}");
            upstream_is_as_the_phase_says(&seen, true, &what);
            assert!(asked || seen.attempt.upstream.sent > seen.attempt.received, "{what}");
        }
    }
}

// Proves that a hold whose time is over passes or resets, as the rule says, at every phase.
#[tokio::test]
async fn hold_times_out_at_every_phase() {
    for (phase, asked) in PHASES {
        let seen = strike(at(phase, Effect::Hold { timeout_ms: 5, then: HoldThen::Pass }), false).await;
        assert_eq!((seen.client.as_str(), seen.attempt.reply.end), (REPLY, End::Replied), "{phase:?}");
        let struck = seen.attempt.fault.clone().expect("struck");
        let waited = struck.released.expect("released").since(struck.held.expect("held"));
        assert!(waited >= Duration::from_millis(5), "{phase:?}: {waited:?}");
        upstream_is_as_the_phase_says(&seen, true, "hold");

        let seen = strike(at(phase, Effect::Hold { timeout_ms: 5, then: HoldThen::Reset }), false).await;
        assert_eq!((seen.end, seen.attempt.reply.end), (Ended::Reset, End::Reset), "{phase:?}");
        upstream_is_as_the_phase_says(&seen, asked, "hold then reset");
    }
}

// Proves the effects at `connect`: the client sees an end without a byte, the bank sees nothing, and the connection's
// record carries the fault, with no attempt beside it.
#[tokio::test]
async fn connections_are_refused_cut_and_hung() {
    for (effect, client_end, end) in [
        (Effect::Reset, Ended::Reset, ConnectionEnd::ResetByFault),
        (Effect::Close, Ended::Fin, ConnectionEnd::CutByFault),
        (Effect::Hang, Ended::Open, ConnectionEnd::ByClient),
    ] {
        let upstream = Upstream::start().await;
        let proxy = proxy(upstream.addr).await;
        let armed = proxy.arm(Rule::new("rule", Fault::at(Phase::Connect, effect.clone()))).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        armed.wait_fired(1, PATIENCE).await.expect("fired");
        if client_end == Ended::Open {
            client.send(post("k", "hello")).await;
            assert!(client.is_silent());
            drop(client);
        } else {
            assert_eq!(client.rest().await, (String::new(), client_end));
            drop(client);
        }
        let log = proxy.log();
        eventually("the connection's record", || connections(&log).len() == 1).await;
        let connection = connections(&log).remove(0);
        assert_eq!((connection.end, connection.requests), (end, 0));
        assert_eq!(connection.fault.map(|f| f.what), Some(Fault::at(Phase::Connect, effect).what()));
        assert!(attempts(&log).is_empty() && upstream.seen().is_empty());
    }
}

// Proves that a delay and a hold at `connect` let the connection go on untouched afterwards.
#[tokio::test]
async fn connections_are_delayed_and_held() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let delay = proxy.arm(Rule::new("slow", Fault::at(Phase::Connect, Effect::Delay(Delay::Ms(10.0))))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("a", "")).await;
    assert_eq!(client.reply().await, REPLY);
    assert_eq!(delay.disarm().fired, 1);
    let hold = Fault::at(Phase::Connect, Effect::Hold { timeout_ms: 60_000, then: HoldThen::Reset });
    let hold = proxy.arm(Rule::new("hold", hold)).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("b", "")).await;
    let held = hold.wait_held(1, PATIENCE).await.expect("held");
    assert_eq!((held[0].link.as_str(), held[0].ordinal, held[0].key.as_deref()), ("bank", 0, None));
    assert_eq!(proxy.arrivals("bank").expect("link"), 1, "the held one has not been read");
    assert_eq!(hold.release_all(), 1);
    assert_eq!(client.reply().await, REPLY);
}

// Proves that a connection kept alive does not smuggle requests past a rule on connections: it is ended when idle, and
// the next call needs a new one.
#[tokio::test]
async fn idle_connections_are_retired_by_rules_on_connections() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("a", "")).await;
    assert_eq!(client.reply().await, REPLY);
    let armed = proxy.arm(Rule::new("down", Fault::refuse())).expect("arm");
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    drop(client);
    assert_eq!(Client::to(&proxy, "bank").await.rest().await, (String::new(), Ended::Reset));
    assert_eq!(armed.disarm().fired, 1);
    let log = proxy.log();
    eventually("both records", || connections(&log).len() == 2).await;
    let retired = connections(&log).into_iter().find(|c| c.requests == 1).expect("the retired one");
    assert_eq!((retired.end, retired.fault), (ConnectionEnd::CutByFault, None));
}

// Proves that a cut in the body strikes only when the reply would go on behind it.
#[tokio::test]
async fn a_cut_behind_the_last_byte_does_not_strike() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    for (bytes, whole) in [(0, false), (1, false), (9, false), (10, true), (11, true)] {
        let armed = proxy.arm(Rule::new("cut", Fault::cut_mid_body(bytes))).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "")).await;
        if whole {
            assert_eq!(client.reply().await, REPLY);
        } else {
            let expected = &REPLY[..REPLY.len() - 10 + bytes as usize];
            assert_eq!(client.rest().await, (expected.to_owned(), Ended::Fin));
        }
        soon(proxy.settle(PATIENCE)).await.expect("settled");
        assert_eq!(armed.disarm().fired, u64::from(!whole), "{bytes} bytes");
    }
}

// Proves that a gRPC status in the middle of a body cuts the connection where it is HTTP/1.1: no second head stands in
// the body of the first, and the record says what the client saw.
#[tokio::test]
async fn a_grpc_status_in_a_body_is_a_cut() {
    let rule = r#"[{"id":"g","fault":{"at":"response_body","after_bytes":4,"effect":{"grpc_status":{"code":14}}}}]"#;
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let _armed = proxy.arm_all(rules_from_json(rule).expect("a rule")).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "")).await;
    assert_eq!(client.rest().await, (REPLY[..REPLY.len() - 6].to_owned(), Ended::Fin));
    soon(proxy.settle(PATIENCE)).await.expect("settled");
    let log = attempts(&proxy.log());
    assert_eq!((log[0].reply.end, log[0].reply.grpc_status), (End::Cut, None));
}

// Proves that a cut counts payload, not framing: within a chunk and between two, the client gets exactly so many bytes
// of payload and an answer that is visibly not over.
#[tokio::test]
async fn a_cut_in_chunks_counts_payload() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let upstream = Upstream::replying(format!("{head}4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n")).await;
    let proxy = proxy(upstream.addr).await;
    for (bytes, passed) in
        [(0, ""), (2, "4\r\nab"), (4, "4\r\nabcd"), (5, "4\r\nabcd\r\n2\r\ne"), (6, "4\r\nabcd\r\n2\r\nef")]
    {
        let _armed = proxy.arm(Rule::new("cut", Fault::cut_mid_body(bytes))).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "")).await;
        assert_eq!(client.rest().await, (format!("{head}{passed}"), Ended::Fin), "{bytes} bytes");
    }
}

// Proves that a request which crosses the end of its retired connection does not vanish unnoticed: it has no record, so
// a note spoils the verdict.
#[tokio::test]
async fn a_request_that_crosses_a_retirement_is_noted() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("a", "")).await;
    assert_eq!(client.reply().await, REPLY);
    let _armed = proxy.arm(Rule::new("down", Fault::refuse())).expect("arm");
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    client.send(post("b", "")).await;
    drop(client);
    let log = proxy.log();
    eventually("the note", || crate::kit::notes(&log).iter().any(|n| n.code == "crossed-retirement")).await;
    assert_eq!(crate::kit::notes(&log)[0].weight, evidence::NoteWeight::Spoils);
    assert_eq!((attempts(&log).len(), upstream.seen().len()), (1, 1));
}

// Proves that after a reply from the proxy the same connection carries the next request, in each phase, and that a late
// answer of the upstream never turns up in it.
#[tokio::test]
async fn a_reply_leaves_the_connection_in_step() {
    for (phase, _) in PHASES.into_iter().filter(|(phase, _)| *phase != Phase::ResponseBody) {
        let upstream = Upstream::start().await;
        let proxy = proxy(upstream.addr).await;
        let armed = proxy.arm(Rule::new("busy", at(phase, Effect::status(503))).uses(1)).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("a", "x")).await;
        assert!(client.reply().await.starts_with("HTTP/1.1 503 "), "{phase:?}");
        client.send(post("b", "y")).await;
        assert_eq!(client.reply().await, REPLY, "{phase:?}");
        assert_eq!(armed.disarm().fired, 1);
    }
}
