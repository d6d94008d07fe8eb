//! Peers that do not speak TLS, stop in the middle of a handshake, or never begin one.

use std::io::Write;
use std::time::Duration;

use chaos_proxy::{Limits, LinkConfig, Originate, Terminate};
use evidence::{ConnectionEnd, End};

use super::kit::{Ca, Ended, Stage, Upstream, plain, trusting};
use crate::kit::{PATIENCE, REPLY, attempts, connections, notes, post};

/// So short that a test can wait for it, and met by nobody who is expected to succeed.
const SHORT: Limits = Limits { handshake_time: Duration::from_millis(50), ..LIMITS };
const LIMITS: Limits = Limits {
    connections: 64,
    head_bytes: 64 << 10,
    head_time: PATIENCE,
    withheld_bytes: 8 << 20,
    dial_time: PATIENCE,
    handshake_time: PATIENCE,
    late_answer_time: PATIENCE,
    linger_time: PATIENCE,
};

fn terminating(limits: Limits) -> Stage {
    Stage::with(LinkConfig::http("bank").upstream("127.0.0.1:9").limits(limits).tls_terminate(Terminate::new()))
}

// Proves that what is not TLS gets FIN, and before it an alert or nothing, that it is on record with what it looks like and what would do,
// and that the link goes on.
#[test]
fn what_is_not_tls_is_named() {
    for (garbage, word) in [
        (&b"GET / HTTP/1.1\r\nhost: bank\r\n\r\n"[..], "not TLS"),
        (&[0; 600], "not TLS"),
        (&[0x16, 3, 1, 0, 4, 9, 9, 9, 9], "cannot be read as TLS"),
    ] {
        let stage = terminating(LIMITS);
        let mut client = plain(stage.addr("bank"));
        client.0.write_all(garbage).expect("send");
        let (alert, end) = super::kit::rest(&mut client.0);
        // A record of type 21 (alert), level 2 (fatal).
        let is_fatal = (alert.first(), alert.get(5)) == (Some(&21), Some(&2));
        assert!((alert.is_empty() || is_fatal) && end == Ended::Clean, "{alert:?}");
        drop(client);
        let text = stage.note("tls-handshake-failed");
        assert!(text.contains(word), "{text}");
        let log = stage.proxy.log();
        stage.eventually("the record", || connections(&log).len() == 1);
        assert!(stage.client_as("bank", "localhost", trusting(stage.roots())).is_ok());
    }
}

// Proves that a handshake that never begins or stops in its middle is ended when its time is over, and that one which
// the client ends itself is on record only when it had begun.
#[test]
fn handshakes_are_bounded_in_time() {
    for begun in [&b""[..], &[0x16, 3, 1, 2, 0, 1]] {
        let stage = terminating(SHORT);
        let mut client = plain(stage.addr("bank"));
        client.0.write_all(begun).expect("send");
        assert_eq!(client.rest(), (String::new(), Ended::Clean));
        assert!(stage.note("tls-handshake-failed").contains("not over within 50ms"));

        let stage = terminating(LIMITS);
        let mut client = plain(stage.addr("bank"));
        client.0.write_all(begun).expect("send");
        drop(client);
        let log = stage.proxy.log();
        stage.eventually("the record", || connections(&log).len() == 1);
        assert_eq!(connections(&log)[0].end, ConnectionEnd::ByClient);
        let noted = notes(&log).iter().any(|n| n.text.contains("in the middle of the handshake"));
        assert_eq!(noted, !begun.is_empty());
    }
}

// Proves that an upstream that is plain, that says nothing, or that closes at once has failed as a refused dial has, and
// that the record says which.
#[test]
fn an_upstream_without_a_handshake_has_failed() {
    let plain_upstream = || Upstream::serving(None, |mut peer| drop(peer.write_all(b"220 plain speech\r\n")));
    let silent = || {
        Upstream::serving(None, |mut peer| {
            super::kit::rest(&mut peer);
        })
    };
    let closing = || Upstream::serving(None, |mut peer| peer.close());
    let cases: [(&dyn Fn() -> Upstream, Limits, &str); 3] = [
        (&plain_upstream, LIMITS, "what came is not TLS"),
        (&silent, SHORT, "not over within 50ms"),
        (&closing, LIMITS, "closed the connection"),
    ];
    for (make, limits, word) in cases {
        let upstream = make();
        let link = LinkConfig::http("bank").upstream(upstream.addr).limits(limits);
        let stage = Stage::with(link.tls_originate(Originate::new().ca(Ca::new().pem())));
        let mut client = plain(stage.addr("bank"));
        client.send(post("k", "x"));
        assert_eq!(client.rest(), (String::new(), Ended::Reset), "{word}");
        stage.settle();
        let attempt = attempts(&stage.proxy.log()).remove(0);
        let why = attempt.upstream.error.expect("why");
        assert_eq!(attempt.reply.end, End::UpstreamFailed);
        assert!(why.contains("TLS handshake") && why.contains(word), "{why}");
    }
}

// Proves that connections of every fate give their descriptors back: after many of each, the proxy as a program has as
// many open as before.
#[cfg(target_os = "linux")]
#[test]
fn no_descriptor_is_kept() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let upstream = Upstream::replying(None, REPLY);
    let ca = std::env::temp_dir().join(format!("chaos-proxy-ca-{}.pem", std::process::id()));
    let mut program = Command::new(env!("CARGO_BIN_EXE_chaos-proxy"))
        .arg("--link")
        .arg(format!("bank=https://127.0.0.1:0->http://{}", upstream.addr))
        .arg("--ca-out")
        .arg(&ca)
        .stdout(Stdio::piped())
        .spawn()
        .expect("run");
    let mut line = String::new();
    let mut out = BufReader::new(program.stdout.take().expect("stdout"));
    while !line.starts_with("link bank ") {
        line.clear();
        assert!(out.read_line(&mut line).expect("a line") > 0, "it says where it listens");
    }
    let addr = line.split_whitespace().nth(3).expect("address").parse().expect("address");
    let roots = super::kit::roots(&std::fs::read_to_string(&ca).expect("CA"));
    let open = || std::fs::read_dir(format!("/proc/{}/fd", program.id())).expect("descriptors").count();
    let stranger = Ca::new().roots();
    let round = || {
        let mut client = super::kit::Client(super::kit::tls(addr, "localhost", trusting(roots.clone())).expect("TLS"));
        assert_eq!(client.send(post("k", "")).reply(), REPLY);
        assert!(super::kit::tls(addr, "localhost", trusting(stranger.clone())).is_err());
        plain(addr).0.write_all(b"garbage without end").expect("send");
        drop(plain(addr));
    };
    round();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    // All connections of a round are over when nothing but the program's own descriptors is left.
    let floor = std::cell::Cell::new(usize::MAX);
    let settled = || {
        let now = open();
        let fell = now < floor.get();
        floor.set(now.min(floor.get()));
        !fell
    };
    runtime.block_on(crate::kit::eventually("a floor", settled));
    for _ in 0..25 {
        round();
    }
    runtime.block_on(crate::kit::eventually("the floor again", || open() <= floor.get()));
    program.kill().expect("kill");
    program.wait().expect("ended");
    std::fs::remove_file(ca).expect("remove");
}
