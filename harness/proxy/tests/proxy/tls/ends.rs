//! How connections end over TLS: with a word, without one, and by halves.

use std::io::Write;

use chaos_proxy::{LinkConfig, Terminate};
use evidence::End;

use super::kit::{Ended, Stage, Upstream, collector, half_close, plain, tls, trusted, trusting};
use crate::kit::{PATIENCE, attempts, notes, post};

/// An answer that lasts until the end of its connection.
const TO_END: &str = "HTTP/1.1 200 OK\r\n\r\nuntil the end";

// Proves that half-closes cross a byte link between TLS and plain in both directions: the upstream has read to the end
// before it answers, and the client has not ended when the answer comes.
#[test]
fn half_closes_pass_between_tls_and_plain() {
    let (upstream, told) = collector(None);
    let stage = Stage::with(LinkConfig::tcp("bank").upstream(upstream.addr).tls_terminate(Terminate::new()));
    let mut client = stage.client("bank");
    client.send("from TLS");
    half_close(&mut client.0);
    assert_eq!(client.rest(), ("from TLS".to_owned(), Ended::Clean));
    assert_eq!(told.recv_timeout(PATIENCE), Ok((b"from TLS".to_vec(), Ended::Clean)));

    let ca = super::kit::Ca::new();
    let (upstream, told) = collector(Some(super::kit::serving(&ca.issue(&["127.0.0.1"]))));
    let trust = chaos_proxy::Originate::new().ca(ca.pem());
    let stage = Stage::with(LinkConfig::tcp("bank").upstream(upstream.addr).tls_originate(trust));
    let mut client = plain(stage.addr("bank"));
    client.send("from plain").0.shutdown(std::net::Shutdown::Write).expect("FIN");
    assert_eq!(client.rest(), ("from plain".to_owned(), Ended::Clean));
    assert_eq!(told.recv_timeout(PATIENCE), Ok((b"from plain".to_vec(), Ended::Clean)));
}

// Proves that an end without a word stays one: an answer that lasts to the end of its connection, and the bytes of a
// byte link, end for the client as they ended for the proxy, and a note tells the answers apart.
#[test]
fn an_end_without_a_word_stays_one() {
    for says_so in [true, false] {
        let (upstream, trust) = trusted(|config| {
            Upstream::serving(Some(config), move |mut peer| {
                peer.request().expect("request");
                peer.write_all(TO_END.as_bytes()).expect("answer");
                if says_so { peer.close() } else { peer.drop_off() }
            })
        });
        let expected = (TO_END.to_owned(), if says_so { Ended::Clean } else { Ended::Truncated });
        let link = |link: LinkConfig| {
            let link = link.upstream(upstream.addr);
            Stage::with(link.tls_terminate(Terminate::new()).tls_originate(trust.clone()))
        };
        let stage = link(LinkConfig::http("bank"));
        assert_eq!(stage.client("bank").send(post("k", "")).rest(), expected);
        stage.settle();
        let log = stage.proxy.log();
        assert_eq!(attempts(&log)[0].reply.end, End::Replied);
        assert_eq!(notes(&log).iter().any(|n| n.code == "tls-truncated"), !says_so, "{says_so}");
        let stage = link(LinkConfig::tcp("bank"));
        assert_eq!(stage.client("bank").send(post("k", "")).rest(), expected);
    }
}

// Proves that a client that has left is seen at once, by its word and by its FIN, and that its answer is still awaited.
#[test]
fn a_client_that_leaves_is_seen() {
    for says_so in [true, false] {
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let gone = std::sync::Arc::new(std::sync::Mutex::new(gone));
        let upstream = Upstream::serving(None, move |mut peer| {
            peer.request().expect("request");
            gone.lock().expect("lock").recv_timeout(PATIENCE).expect("the client has left");
            peer.write_all(crate::kit::REPLY.as_bytes()).expect("answer");
        });
        let stage = Stage::with(LinkConfig::http("bank").upstream(upstream.addr).tls_terminate(Terminate::new()));
        let mut client = stage.client("bank");
        client.send(post("k", "x"));
        stage.runtime.block_on(stage.proxy.wait_arrivals("bank", 1, PATIENCE)).expect("arrived");
        if says_so {
            half_close(&mut client.0);
        } else {
            client.0.sock.shutdown(std::net::Shutdown::Write).expect("FIN");
        }
        let (rest, _) = client.rest();
        assert_eq!(rest, "");
        go.send(()).expect("the upstream waits");
        stage.settle();
        let attempt = attempts(&stage.proxy.log()).remove(0);
        assert_eq!((attempt.reply.end, attempt.upstream.status), (End::ClientLeft, Some(201)), "{says_so}");
    }
}

// Proves that a reader that stops for a while gets every byte and a clean end: what the kernel had no room for follows.
#[test]
fn a_slow_reader_gets_all() {
    const BYTES: usize = 8 << 20;
    let (upstream, trust) = trusted(|config| {
        Upstream::serving(Some(config), |mut peer| {
            peer.write_all(&vec![b'x'; BYTES]).expect("bytes");
            peer.close();
        })
    });
    let link = LinkConfig::tcp("bank").upstream(upstream.addr);
    let stage = Stage::with(link.tls_terminate(Terminate::new()).tls_originate(trust));
    let mut client = tls(stage.addr("bank"), "localhost", trusting(stage.roots())).expect("handshake");
    let log = stage.proxy.log();
    let mut first = [0; 1];
    std::io::Read::read_exact(&mut client, &mut first).expect("a byte");
    // The rest is more than the buffers between hold, so the proxy has to wait for us.
    let (rest, end) = super::kit::rest(&mut client);
    assert_eq!((first[0], rest.len(), end), (b'x', BYTES - 1, Ended::Clean));
    assert!(notes(&log).is_empty(), "{:?}", notes(&log));
}
