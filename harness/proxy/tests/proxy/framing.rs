//! HTTP/1.1 as it really comes: chunks, trailers, interim answers, pipelines, noise, and upstreams that break off.

use std::time::Duration;

use crate::kit::{
    Client, Ended, Manner, PATIENCE, REPLY, Upstream, attempts, bank, connections, eventually, notes, post, proxy, soon,
};
use chaos_proxy::{Fault, Limits, LinkConfig, Proxy, ProxyConfig, Rule};
use evidence::{ConnectionEnd, End};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const CHUNKED: &str = "POST /charges HTTP/1.1\r\nIdempotency-Key: k\r\nTransfer-Encoding: chunked\r\nTrailer: x-t\r\n\r\n\
                       3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nx-t: 1\r\n\r\n";

// Proves that a chunked request is passed byte for byte, and that its digest is that of the payload: the same payload
// with a content-length has the same one.
#[tokio::test]
async fn chunked_requests_are_passed_and_digested() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    client.send(CHUNKED).await;
    assert_eq!(client.reply().await, REPLY);
    client.send(post("k", "hello")).await;
    assert_eq!(client.reply().await, REPLY);
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(upstream.seen(), [CHUNKED.to_owned(), post("k", "hello")]);
    let log = attempts(&proxy.log());
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    for (attempt, declared) in log.iter().zip([None, Some(5)]) {
        assert_eq!((attempt.body.bytes, attempt.body.declared), (5, declared));
        assert_eq!(attempt.body.sha256.as_deref(), Some(hello));
    }
    assert_eq!((log[0].conn, log[1].ordinal), (log[1].conn, 2));
    assert!(log[0].reply.ended <= log[1].arrived, "an idle connection's next request begins with its first byte");
}

// Proves that the same request is understood when every byte comes alone.
#[tokio::test]
async fn requests_may_come_in_single_bytes() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    for byte in CHUNKED.as_bytes() {
        client.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.reply().await, REPLY);
    assert_eq!(upstream.seen(), [CHUNKED]);
}

// Proves that pipelined requests are answered in their order, each recorded, on one connection to the bank.
#[tokio::test]
async fn pipelined_requests_are_served_in_order() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let calls = ["a", "b", "c"].map(|key| post(key, key));
    client.send(calls.concat()).await;
    for _ in 0..3 {
        assert_eq!(client.reply().await, REPLY);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(upstream.seen(), calls);
    let keys: Vec<_> = attempts(&proxy.log()).into_iter().filter_map(|a| a.key).collect();
    assert_eq!(keys, ["a", "b", "c"]);
}

// Proves the replies whose length is not in a content-length: each is passed as it came, and the connection goes on
// exactly when the reply's end can be told from its bytes.
#[tokio::test]
async fn replies_are_framed_as_they_are() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\nx-t: 1\r\n\r\n";
    for (reply, method, goes_on) in [
        (chunked, "GET", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", "POST", true),
        ("HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", "GET", true),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", "HEAD", true),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "GET", false),
        ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab", "GET", false),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nab", "GET", false),
    ] {
        let manner = Manner { reply: reply.into(), close: !goes_on, reset: false };
        let upstream = Upstream::with(manner).await;
        let proxy = proxy(upstream.addr).await;
        let mut client = Client::to(&proxy, "bank").await;
        let rounds = if goes_on { 2 } else { 1 };
        for _ in 0..rounds {
            client.send(format!("{method} /x HTTP/1.1\r\n\r\n")).await;
            let mut bytes = vec![0; reply.len()];
            soon(client.0.read_exact(&mut bytes)).await.expect("the reply");
            assert_eq!(String::from_utf8_lossy(&bytes), reply);
        }
        if goes_on {
            assert!(client.is_silent(), "{reply:?}");
        } else {
            assert_eq!(client.rest().await, (String::new(), Ended::Fin), "{reply:?}");
        }
        drop(client);
        proxy.settle(PATIENCE).await.expect("settled");
        let log = attempts(&proxy.log());
        assert_eq!(log.len(), rounds);
        assert!(log.iter().all(|a| a.reply.end == End::Replied && a.upstream.answered.is_some()), "{log:?}");
        assert_eq!(upstream.seen().len(), rounds);
    }
}

/// An upstream that asks for the body with an interim answer and takes it only then.
async fn asking_upstream() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while !bytes.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                        return;
                    }
                    bytes.truncate(bytes.windows(4).position(|w| w == b"\r\n\r\n").map_or(bytes.len(), |n| n + 4));
                }
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.expect("interim");
                let mut body = [0; 5];
                // Bytes that came with the head were cut off above only when the proxy had read ahead.
                if stream.read_exact(&mut body).await.is_ok() {
                    stream.write_all(REPLY.as_bytes()).await.expect("reply");
                }
            });
        }
    });
    addr
}

// Proves that a client which waits for permission gets exactly one, from the upstream when the request is passed on as
// it comes, and from the proxy when a fault needs the request whole first.
#[tokio::test]
async fn permission_to_send_a_body_is_given_once() {
    let proxy = proxy(asking_upstream().await).await;
    let head = "POST /charges HTTP/1.1\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 5\r\n\r\n";
    let interim = "HTTP/1.1 100 Continue\r\n\r\n";
    let mut client = Client::to(&proxy, "bank").await;
    client.send(head).await;
    assert_eq!(client.reply().await, interim);
    client.send("hello").await;
    assert_eq!(client.rest().await, (REPLY.to_owned(), Ended::Fin));

    let upstream = Upstream::start().await;
    proxy.set_upstream("bank", upstream.addr).expect("set");
    let armed = proxy.arm(Rule::new("hold", Fault::hold(3_600_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(head).await;
    assert_eq!(client.reply().await, interim);
    assert!(armed.held().is_empty(), "a request is held when it is whole");
    client.send("hello").await;
    armed.wait_held(1, PATIENCE).await.expect("held");
    armed.release_all();
    assert_eq!(client.rest().await, (REPLY.to_owned(), Ended::Fin));
    assert_eq!(upstream.seen(), [format!("{head}hello")]);
}

// Proves that an upstream which answers before it has read the request gets its answer through.
#[tokio::test]
async fn an_early_answer_is_passed_on() {
    let reply = "HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n";
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let proxy = proxy(listener.local_addr().expect("addr")).await;
    let upstream = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accept");
        stream.write_all(reply.as_bytes()).await.expect("reply");
        stream.read_to_end(&mut Vec::new()).await.ok();
    });
    let mut client = Client::to(&proxy, "bank").await;
    client.send("POST / HTTP/1.1\r\ncontent-length: 1000000\r\n\r\nonly the start").await;
    assert_eq!(client.reply().await, reply);
    assert_eq!(client.rest().await.1, Ended::Fin);
    drop(client);
    soon(upstream).await.expect("the proxy has let go of the upstream");
    proxy.settle(PATIENCE).await.expect("settled");
    let attempt = attempts(&proxy.log()).remove(0);
    assert_eq!((attempt.reply.end, attempt.reply.status, attempt.received), (End::Replied, Some(413), None));
    assert_eq!(attempt.upstream.sent, None);
}

// Proves that noise is answered 400 and recorded, whatever it is, that the refusal reaches the client although much of
// the noise was never read, and that the proxy serves the next client as before.
#[tokio::test]
async fn noise_is_refused() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let flood = "x".repeat(1 << 20);
    let noises: Vec<Vec<u8>> = vec![
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"GET /\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_vec(),
        b"\0\0\0\0".to_vec(),
        flood.clone().into_bytes(),
        [b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n".to_vec(), flood.into_bytes()].concat(),
    ];
    let count = noises.len();
    for noise in noises {
        let mut client = Client::to(&proxy, "bank").await;
        // The proxy may end the connection before all is written.
        let _cut = client.0.write_all(&noise).await;
        let (text, end) = client.rest().await;
        let shown = String::from_utf8_lossy(&noise[..noise.len().min(40)]).into_owned();
        assert!(text.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{shown:?} got {text:?} {end:?}");
        assert!(text.contains("chaos-proxy: "), "{text}");
    }
    proxy.settle(PATIENCE).await.expect("settled");
    let log = proxy.log();
    eventually("all records", || attempts(&log).len() == count).await;
    assert!(attempts(&log).iter().all(|a| a.reply.end == End::Malformed && a.reply.status == Some(400)));
    assert!(notes(&log).iter().any(|n| n.code == "malformed-request"));
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "x")).await;
    assert_eq!((client.reply().await.as_str(), upstream.seen().len()), (REPLY, 1));
}

// Proves the limits of a head: one of a megabyte is refused with 431 before it is read whole, and one that drips is
// refused with 408 when its time is over.
#[tokio::test]
async fn heads_are_bounded_in_size_and_time() {
    let upstream = Upstream::start().await;
    let limits = Limits { head_time: Duration::from_millis(50), ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let mut client = Client::to(&proxy, "bank").await;
    let huge = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    let _cut = client.0.write_all(huge.as_bytes()).await;
    let (text, end) = client.rest().await;
    assert!(text.starts_with("HTTP/1.1 431 "), "{text:?} {end:?}");
    let mut client = Client::to(&proxy, "bank").await;
    client.send("GET / HTTP/1.1\r\nx: ").await;
    let (text, _) = client.rest().await;
    assert!(text.starts_with("HTTP/1.1 408 "), "{text:?}");
    assert!(upstream.seen().is_empty());
}

// Proves that a body which is too long to be withheld is refused rather than held in part.
#[tokio::test]
async fn withheld_bodies_are_bounded() {
    let upstream = Upstream::replying("HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\nabcdefghijkl").await;
    let limits = Limits { withheld_bytes: 8, ..Limits::default() };
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr).limits(limits)])).await.expect("start");
    let armed = proxy.arm(Rule::new("hold", Fault::hold(3_600_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "123456789")).await;
    assert!(client.rest().await.0.starts_with("HTTP/1.1 413 "));
    assert_eq!(armed.disarm().fired, 0);
    let hold = chaos_proxy::Effect::Hold { timeout_ms: 3_600_000, then: chaos_proxy::HoldThen::Pass };
    let armed = proxy.arm(Rule::new("late", Fault::reply_lost(hold))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "1")).await;
    assert_eq!(client.rest().await, (String::new(), Ended::Fin));
    proxy.settle(PATIENCE).await.expect("settled");
    let last = attempts(&proxy.log()).pop().expect("record");
    assert_eq!((last.reply.end, armed.fired()), (End::UpstreamFailed, 0));
    assert!(last.upstream.error.is_some_and(|e| e.contains("longer than 8 bytes")));
}

// Proves that an answer that breaks off anywhere, with FIN or RST, is passed on as far as it came, is recorded as the
// upstream's failure, and is never asked for again.
#[tokio::test]
async fn answers_may_break_off_anywhere() {
    let head = REPLY.len() - 10;
    for cut in 0..REPLY.len() {
        for reset in [false, true] {
            let manner = Manner { reply: REPLY.as_bytes()[..cut].to_vec(), close: true, reset };
            let upstream = Upstream::with(manner).await;
            let proxy = proxy(upstream.addr).await;
            let mut client = Client::to(&proxy, "bank").await;
            client.send(post("k", "x")).await;
            let (text, end) = client.rest().await;
            let expected = if cut < head { "" } else { &REPLY[..cut] };
            let whole = !reset;
            assert!(expected.starts_with(&text) && (!whole || text == expected), "{cut} {reset}: {text:?}");
            assert_eq!(end, if reset { Ended::Reset } else { Ended::Fin }, "{cut} {reset}");
            drop(client);
            let log = proxy.log();
            eventually("both records", || !attempts(&log).is_empty() && !connections(&log).is_empty()).await;
            let attempt = attempts(&log).remove(0);
            assert_eq!((attempt.reply.end, attempt.upstream.answered), (End::UpstreamFailed, None), "{cut} {reset}");
            assert!(attempt.upstream.error.is_some() && attempt.upstream.sent.is_some());
            assert_eq!(connections(&log)[0].end, ConnectionEnd::ByUpstream);
            assert_eq!(upstream.seen().len(), 1, "asked once");
        }
    }
}

// Proves that a bank which closes its connection after each answer, without saying so, costs no request: the kept
// connection is looked at before it is used, and nothing is sent twice.
#[tokio::test]
async fn a_closed_kept_connection_is_not_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let proxy = proxy(listener.local_addr().expect("addr")).await;
    let (closed, mut closes) = tokio::sync::mpsc::unbounded_channel();
    let upstream = tokio::spawn(async move {
        for _ in 0..3 {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut bytes = Vec::new();
            while crate::kit::message_length(&bytes).is_none() {
                stream.read_buf(&mut bytes).await.expect("read");
            }
            stream.write_all(REPLY.as_bytes()).await.expect("reply");
            drop(stream);
            closed.send(()).expect("the test listens");
        }
    });
    let mut client = Client::to(&proxy, "bank").await;
    for key in ["a", "b", "c"] {
        client.send(post(key, "x")).await;
        assert_eq!(client.reply().await, REPLY);
        soon(closes.recv()).await.expect("closed");
    }
    soon(upstream).await.expect("three connections, three requests");
}

// Proves that a link without an upstream, and one whose upstream is not there, fail as a refused dial looks, say why on
// record, and work once the upstream is set.
#[tokio::test]
async fn an_upstream_may_come_later() {
    let proxy = Proxy::start(ProxyConfig::new([LinkConfig::http("bank")])).await.expect("start");
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("bind").local_addr().expect("addr");
    for why in ["no upstream is set", "dial 127.0.0.1"] {
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "x")).await;
        assert_eq!(client.rest().await, (String::new(), Ended::Reset));
        proxy.settle(PATIENCE).await.expect("settled");
        let attempt = attempts(&proxy.log()).pop().expect("record");
        assert_eq!((attempt.reply.end, attempt.upstream.sent), (End::UpstreamFailed, None));
        assert!(attempt.upstream.error.as_ref().is_some_and(|e| e.starts_with(why)), "{attempt:?}");
        proxy.set_upstream("bank", gone).expect("set");
    }
    let upstream = Upstream::start().await;
    proxy.set_upstream("bank", upstream.addr).expect("set");
    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("k", "x")).await;
    assert_eq!(client.reply().await, REPLY);
    // A kept connection leads to the old place; the next request must not use it.
    let other = Upstream::start().await;
    proxy.set_upstream("bank", other.addr).expect("set");
    client.send(post("k", "y")).await;
    assert_eq!((client.reply().await.as_str(), other.seen().len()), (REPLY, 1));
    assert!(proxy.set_upstream("bank", "no-port").is_err() && proxy.set_upstream("bnak", gone).is_err());
}

// Proves that a connection that leaves HTTP by an upgrade becomes a pipe for bytes, in both directions.
#[tokio::test]
async fn an_upgrade_becomes_a_pipe() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let proxy = proxy(listener.local_addr().expect("addr")).await;
    let switching = "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\n\r\n";
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("accept");
        let mut bytes = Vec::new();
        while crate::kit::message_length(&bytes).is_none() {
            stream.read_buf(&mut bytes).await.expect("read");
        }
        stream.write_all(switching.as_bytes()).await.expect("switch");
        let (mut from, mut to) = stream.split();
        tokio::io::copy(&mut from, &mut to).await.expect("echo");
    });
    let mut client = Client::to(&proxy, "bank").await;
    client.send("GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n").await;
    assert_eq!(client.reply().await, switching);
    client.send("\0not http\u{ff}").await;
    client.0.shutdown().await.expect("half close");
    let (echoed, end) = client.rest().await;
    assert_eq!((echoed.as_str(), end), ("\0not http\u{ff}", Ended::Fin));
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(&proxy.log())[0].reply.status, Some(101));
}
