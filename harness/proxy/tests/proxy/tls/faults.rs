//! Faults on links that speak TLS with their clients: each strikes at its phase, as on plain links.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use chaos_proxy::{Effect, Fault, HoldThen, LinkConfig, Phase, Rule, Terminate};
use evidence::{ConnectionEnd, End};

use super::kit::{Ended, Stage, Upstream, plain, trusted, trusting};
use crate::kit::{PATIENCE, REPLY, attempts, connections, post};

/// A link with TLS on both sides.
fn both() -> (Upstream, Stage) {
    let (upstream, trust) = trusted(|config| Upstream::replying(Some(config), REPLY));
    let link = LinkConfig::http("bank").upstream(upstream.addr).key_header("Idempotency-Key");
    (upstream, Stage::with(link.tls_terminate(Terminate::new()).tls_originate(trust)))
}

/// Strikes behind `after` bytes of the answer's body.
fn body(after: u64, effect: Effect) -> Fault {
    Fault { effect, ..Fault::cut_mid_body(after) }
}

// Proves for each phase behind the handshake and each way to end an exchange what the client gets of the answer and how
// its connection ends, and whether the upstream had the request.
#[test]
fn each_phase_strikes_within_tls() {
    let head = REPLY.find("0123456789").expect("body");
    let cases = [
        (Fault::at(Phase::Request, Effect::Reset), "", Ended::Reset, 0, End::Reset),
        (Fault::at(Phase::Request, Effect::Close), "", Ended::Clean, 0, End::Cut),
        (Fault::at(Phase::Forwarded, Effect::Reset), "", Ended::Reset, 1, End::Reset),
        (Fault::at(Phase::ResponseHead, Effect::Reset), "", Ended::Reset, 1, End::Reset),
        (Fault::at(Phase::ResponseHead, Effect::Close), "", Ended::Clean, 1, End::Cut),
        (body(4, Effect::Close), &REPLY[..head + 4], Ended::Clean, 1, End::Cut),
        (body(4, Effect::Reset), &REPLY[..head + 4], Ended::Reset, 1, End::Reset),
        (Fault::reply_lost(Effect::Reset), "", Ended::Reset, 1, End::Reset),
        (Fault::reply_lost(Effect::Close), "", Ended::Clean, 1, End::Cut),
    ];
    for (fault, got, ended, arrivals, end) in cases {
        let (upstream, stage) = both();
        let case = format!("{fault:?}");
        let armed = stage.proxy.arm(Rule::new("fault", fault)).expect("arm");
        let mut client = stage.client("bank");
        client.send(post("k", "four"));
        let (rest, seen) = client.rest();
        // What the kernel had not delivered goes with a RST.
        let whole = ended != Ended::Reset || rest.is_empty();
        assert!(if whole { rest == got } else { got.starts_with(&rest) }, "{case}: {rest}");
        assert_eq!(seen, ended, "{case}");
        stage.settle();
        let attempt = attempts(&stage.proxy.log()).remove(0);
        assert_eq!((attempt.reply.end, upstream.seen().len(), armed.fired()), (end, arrivals, 1), "{case}");
    }
}

// Proves that a reply from a fault is a reply within TLS, that the connection goes on behind it, and that a held call
// waits and then runs through.
#[test]
fn replies_and_holds_keep_the_connection() {
    let (upstream, stage) = both();
    let mut client = stage.client("bank");
    let reply = Effect::Reply { status: 503, headers: BTreeMap::new(), body: "later".to_owned(), retry_after: None };
    let armed = stage.proxy.arm(Rule::new("503", Fault::at(Phase::Request, reply))).expect("arm");
    assert!(client.send(post("k", "")).reply().starts_with("HTTP/1.1 503 "));
    armed.disarm();
    let gate = stage.proxy.arm(Rule::new("gate", Fault::hold(3_600_000))).expect("arm");
    client.send(post("k", ""));
    stage.runtime.block_on(gate.wait_held(1, PATIENCE)).expect("held");
    assert_eq!(upstream.seen().len(), 0);
    gate.release_all();
    assert_eq!(client.reply(), REPLY);
    stage.settle();
    let ordinals = attempts(&stage.proxy.log()).iter().map(|a| (a.conn, a.ordinal)).collect::<Vec<_>>();
    assert_eq!(ordinals, [(0, 1), (0, 2)]);
}

// Proves that faults at `connect` strike before a byte of the handshake: it is reset, closed or left without an answer.
#[test]
fn faults_at_connect_strike_before_the_handshake() {
    for (effect, kind, end) in [
        (Effect::Reset, ErrorKind::ConnectionReset, ConnectionEnd::ResetByFault),
        (Effect::Close, ErrorKind::UnexpectedEof, ConnectionEnd::CutByFault),
    ] {
        let (_upstream, stage) = both();
        let armed = stage.proxy.arm(Rule::new("fault", Fault::at(Phase::Connect, effect))).expect("arm");
        let failed = stage.client_as("bank", "localhost", trusting(stage.roots())).err().expect("no handshake");
        assert_eq!((failed.kind(), armed.fired()), (kind, 1), "{failed}");
        let log = stage.proxy.log();
        stage.eventually("the record", || connections(&log).len() == 1);
        assert_eq!(connections(&log)[0].end, end);
    }
    let (_upstream, stage) = both();
    let armed = stage.proxy.arm(Rule::new("stall", Fault::at(Phase::Connect, Effect::Hang))).expect("arm");
    let mut hello = rustls::ClientConnection::new(
        std::sync::Arc::new(trusting(stage.roots())),
        rustls::pki_types::ServerName::try_from("localhost").expect("name"),
    )
    .expect("client");
    let mut client = plain(stage.addr("bank"));
    hello.write_tls(&mut client.0).expect("ClientHello");
    stage.eventually("the stall", || armed.fired() == 1);
    client.0.set_nonblocking(true).expect("nonblocking");
    let silence = std::io::Read::read(&mut client.0, &mut [0]).map_err(|e| e.kind());
    assert_eq!(silence, Err(ErrorKind::WouldBlock));
    drop(client);
    let log = stage.proxy.log();
    stage.eventually("the record", || connections(&log).len() == 1);
    assert_eq!(connections(&log)[0].end, ConnectionEnd::ByClient);
}

// Proves that a connection that is held before its handshake shakes hands once it is let go, with what it sent meanwhile,
// on links that watch the client and on those that do not.
#[test]
fn a_held_handshake_goes_on() {
    for http in [true, false] {
        let upstream = Upstream::replying(None, REPLY);
        let link = if http { LinkConfig::http("bank") } else { LinkConfig::tcp("bank") };
        let stage = Stage::with(link.upstream(upstream.addr).tls_terminate(Terminate::new()));
        let hold = Fault::at(Phase::Connect, Effect::Hold { timeout_ms: 3_600_000, then: HoldThen::Pass });
        let gate = stage.proxy.arm(Rule::new("gate", hold)).expect("arm");
        let (addr, config) = (stage.addr("bank"), trusting(stage.roots()));
        let shaking = std::thread::spawn(move || super::kit::tls(addr, "localhost", config));
        stage.runtime.block_on(gate.wait_held(1, PATIENCE)).expect("held");
        gate.release_all();
        let client = shaking.join().expect("joined").expect("handshake");
        assert_eq!(super::kit::Client(client).send(post("k", "")).reply(), REPLY, "{http}");
    }
}
