//! Every combination of plain and TLS, and what goes over it.

use std::io::Write;
use std::sync::mpsc;

use chaos_proxy::{LinkConfig, Mode, Terminate};
use judge::evidence::End;

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
