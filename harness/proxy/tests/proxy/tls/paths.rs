//! Every combination of plain and TLS, and what goes over it.

use std::io::{Read, Write};
use std::sync::mpsc;

use chaos_proxy::{Direction, LinkConfig, Mode, Terminate, Toxic, ToxicKind};
use evidence::End;

use super::kit::{Ended, Stage, Upstream, collector, half_close, plain, serving, trusted};
use crate::kit::{PATIENCE, REPLY, attempts, post};

fn link(mode: Mode) -> LinkConfig {
    match mode {
        Mode::Http => LinkConfig::http("bank").key_header("Idempotency-Key"),
        Mode::Tcp => LinkConfig::tcp("bank"),
    }
}

// Proves that a request and its answer pass unchanged over each combination of TLS and plain, on HTTP and on byte links,
// and that HTTP links record them as without TLS.
#[test]
fn every_combination_passes_a_call() {
    for mode in [Mode::Http, Mode::Tcp] {
        for (terminates, originates) in [(true, false), (false, true), (true, true)] {
            let (upstream, link) = match originates {
                false => (Upstream::replying(None, REPLY), link(mode)),
                true => {
                    let (upstream, trust) = trusted(|config| Upstream::replying(Some(config), REPLY));
                    (upstream, link(mode).tls_originate(trust))
                }
            };
            let link = link.upstream(upstream.addr);
            let link = if terminates { link.tls_terminate(Terminate::new()) } else { link };
            let stage = Stage::with(link);
            let request = post("k-1", "four");
            let got = match terminates {
                true => stage.client("bank").send(&request).reply(),
                false => plain(stage.addr("bank")).send(&request).reply(),
            };
            assert_eq!(got, REPLY, "{mode:?} {terminates} {originates}");
            assert_eq!(upstream.seen(), [request], "{mode:?} {terminates} {originates}");
            stage.settle();
            let attempts = attempts(&stage.proxy.log());
            let ends = attempts.iter().map(|a| (a.reply.end, a.body.bytes, a.key.as_deref())).collect::<Vec<_>>();
            let expected = (End::Replied, 4, Some("k-1"));
            assert_eq!(ends, if mode == Mode::Http { vec![expected] } else { vec![] });
        }
    }
}

// Proves that megabytes pass byte for byte in both directions: over a byte link with half-closes that reach the other
// side as what they were, and over an HTTP link.
#[test]
fn megabytes_pass_both_ways() {
    let payload = (0..4 << 20).map(|n: u32| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect::<Vec<_>>();
    let ca = super::kit::Ca::new();
    let trust = chaos_proxy::Originate::new().ca(ca.pem());
    let (upstream, told) = collector(Some(serving(&ca.issue(&["127.0.0.1"]))));
    let both = link(Mode::Tcp).upstream(upstream.addr).tls_terminate(Terminate::new()).tls_originate(trust);
    let stage = Stage::with(both);
    let mut client = stage.client_as("bank", "localhost", super::kit::trusting(stage.roots())).expect("handshake");
    client.send(&payload);
    half_close(&mut client.0);
    let (echoed, end) = super::kit::rest(&mut client.0);
    let (got, upstream_end) = told.recv_timeout(PATIENCE).expect("the upstream's view");
    assert!(got == payload && echoed == payload, "{} and {} bytes", got.len(), echoed.len());
    assert_eq!((end, upstream_end), (Ended::Clean, Ended::Clean));

    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", payload.len());
    let reply = head + &"0123456789abcdef".repeat(payload.len() / 16);
    let (upstream, trust) = trusted(|config| Upstream::replying(Some(config), &reply));
    let both = link(Mode::Http).upstream(upstream.addr).tls_terminate(Terminate::new()).tls_originate(trust);
    let stage = Stage::with(both);
    let request = post("k", &"fedcba9876543210".repeat(payload.len() / 16));
    let mut client = stage.client("bank");
    client.send(&request);
    client.send(post("end", "").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
    assert!(client.rest() == (reply.repeat(2), Ended::Clean));
    assert!(upstream.seen()[0] == request);
}

// Proves that one TLS connection to the upstream carries all requests of a client's, although the upstream sends session
// tickets behind the handshake, and that one which the upstream has closed is not used again.
#[test]
fn a_kept_connection_survives_session_tickets() {
    let (upstream, trust) = trusted(|mut config| {
        config.send_tls13_tickets = 6;
        Upstream::replying(Some(config), REPLY)
    });
    let stage = Stage::with(link(Mode::Http).upstream(upstream.addr).tls_originate(trust));
    let mut client = plain(stage.addr("bank"));
    for n in 0..8 {
        assert_eq!(client.send(post(&format!("k-{n}"), "x")).reply(), REPLY);
    }
    assert_eq!((upstream.seen().len(), upstream.accepted()), (8, 1));

    let (tell, closed) = mpsc::channel();
    let (upstream, trust) = trusted(|config| {
        Upstream::serving(Some(config), move |mut peer| {
            while peer.request().is_some() {
                peer.write_all(REPLY.as_bytes()).expect("reply");
                peer.close();
                tell.send(()).expect("the test listens");
            }
        })
    });
    let stage = Stage::with(link(Mode::Http).upstream(upstream.addr).tls_originate(trust));
    let mut client = plain(stage.addr("bank"));
    for n in 0..3 {
        assert_eq!(client.send(post(&format!("k-{n}"), "x")).reply(), REPLY);
        closed.recv_timeout(PATIENCE).expect("closed");
    }
    assert_eq!(upstream.accepted(), 3);
}

// Proves that nothing is lost, doubled or left behind when toxics come and go while megabytes pass through TLS: each
// change interrupts writes wherever they are.
#[test]
fn toxics_that_come_and_go_keep_every_byte() {
    const PIECE: usize = 32 << 10;
    let payload = (0..2 << 20).map(|n: u32| n.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect::<Vec<_>>();
    let ca = super::kit::Ca::new();
    let (upstream, told) = collector(Some(serving(&ca.issue(&["127.0.0.1"]))));
    let both = link(Mode::Tcp).upstream(upstream.addr).tls_terminate(Terminate::new());
    let stage = Stage::with(both.tls_originate(chaos_proxy::Originate::new().ca(ca.pem())));
    let board = stage.proxy.toxics("bank").expect("link");
    let mut client = stage.client("bank");
    // One change with each piece, in turn to both directions, while the pieces before it are on their way.
    let change = |n: usize| {
        let direction = if n % 4 < 2 { Direction::Upstream } else { Direction::Downstream };
        if n.is_multiple_of(2) {
            let toxic = Toxic::new(ToxicKind::Latency { latency: 1, jitter: 1 }, direction).named("t");
            board.add(toxic).expect("added");
        } else {
            board.remove("t").expect("removed");
        }
    };
    for (n, piece) in payload.chunks(PIECE).enumerate() {
        client.send(piece);
        change(n);
    }
    half_close(&mut client.0);
    let mut echoed = vec![0; payload.len()];
    for (n, piece) in echoed.chunks_mut(PIECE).enumerate() {
        client.0.read_exact(piece).expect("a piece");
        change(n);
    }
    let (rest, end) = super::kit::rest(&mut client.0);
    let got = told.recv_timeout(PATIENCE).expect("the upstream's view");
    assert!(got.0 == payload && echoed == payload && rest.is_empty(), "{} and {} bytes", got.0.len(), rest.len());
    assert_eq!((end, got.1), (Ended::Clean, Ended::Clean));
}
