//! Ends that no rule made: of the upstream, of the client, of the proxy.

use std::sync::Arc;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use chaos_proxy::{Fault, Match, Rule};
use evidence::{ConnectionEnd, End};
use h2::Reason;
use http::Response;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};

use super::kit::{Bank, Client, RAW_START, code, raw_get, rest, scripted, whole};
use crate::kit::{PATIENCE, attempts, connections, eventually, proxy, soon};

// Proves that the upstream's RST_STREAM reaches the client with its code, before an answer and in its middle, and leaves
// other streams alone.
#[tokio::test]
async fn a_reset_of_the_upstream_is_passed_on() {
    let upstream = scripted(|request, mut respond| async move {
        match request.uri().path() {
            "/early" => respond.send_reset(Reason::ENHANCE_YOUR_CALM),
            "/late" => {
                let mut stream = respond.send_response(Response::new(()), false).expect("head");
                stream.send_data(Bytes::from_static(b"part"), false).expect("data");
                // The framing layer drops what it has not written when it resets: let the proxy read it first.
                tokio::task::yield_now().await;
                drop(stream);
            }
            _ => drop(respond.send_response(Response::new(()), true).expect("head")),
        }
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    assert_eq!(code(client.post("/early", "early", "x")).await, Some(Reason::ENHANCE_YOUR_CALM));
    let body = soon(client.post("/late", "late", "x")).await.expect("head").into_body();
    let mut got = BytesMut::new();
    assert_eq!(rest(body, &mut got).await.expect_err("reset").reason(), Some(Reason::CANCEL));
    assert_eq!(got, "part");
    assert_eq!(whole(client.post("/", "fine", "x")).await.expect("answer").status, 200);
    proxy.settle(PATIENCE).await.expect("settled");
    for record in attempts(&proxy.log()).iter().take(2) {
        assert_eq!(record.reply.end, End::UpstreamFailed, "{record:?}");
        assert!(record.upstream.error.is_some());
    }
}

// Proves that the client's RST_STREAM reaches the upstream with its code, and that the attempt is on record as one whose
// client left.
#[tokio::test]
async fn a_reset_of_the_client_is_passed_on() {
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let (reset, mut resets) = mpsc::unbounded_channel();
    let upstream = scripted(move |request, mut respond| {
        let (arrived, reset) = (arrived.clone(), reset.clone());
        async move {
            arrived.send(request.uri().path().to_owned()).expect("the test listens");
            let code = std::future::poll_fn(|cx| respond.poll_reset(cx)).await.expect("a reset");
            reset.send(code).expect("the test listens");
        }
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    let (_response, mut stream) = client.open("/charges", "k");
    stream.send_data(Bytes::from_static(b"x"), true).expect("body");
    assert_eq!(soon(arrivals.recv()).await.as_deref(), Some("/charges"));
    stream.send_reset(Reason::NO_ERROR);
    assert_eq!(soon(resets.recv()).await, Some(Reason::NO_ERROR));
    proxy.settle(PATIENCE).await.expect("settled");
    let record = attempts(&proxy.log()).remove(0);
    assert_eq!(record.reply.end, End::ClientLeft);
    assert!(
        record.upstream.error.as_ref().is_some_and(|e| e.contains("RST_STREAM (NO_ERROR) was passed on")),
        "{record:?}"
    );
}

// Proves that a client that closes its connection does not take back what was sent: each answer is awaited and recorded,
// and the record says that the client left.
#[tokio::test]
async fn a_client_that_leaves_takes_nothing_back() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let upstream = scripted(move |mut request, mut respond| {
        let (wait, arrived) = (Arc::clone(&wait), arrived.clone());
        async move {
            while request.body_mut().data().await.is_some() {}
            let go = wait.notified();
            tokio::pin!(go);
            go.as_mut().enable();
            arrived.send(()).expect("the test listens");
            go.await;
            respond.send_response(Response::builder().status(201).body(()).expect("head"), true).expect("head");
        }
    })
    .await;
    let proxy = proxy(upstream).await;
    let mut client = Client::to(&proxy, "bank").await;
    let _responses = [client.post("/", "a", "x"), client.post("/", "b", "x")];
    for _ in 0..2 {
        soon(arrivals.recv()).await.expect("arrived");
    }
    client.driver.abort();
    eventually("the connection is recorded", || !connections(&proxy.log()).is_empty()).await;
    assert_eq!(proxy.in_flight("bank").expect("link"), 2);
    go.notify_waiters();
    proxy.settle(PATIENCE).await.expect("settled");
    for record in attempts(&proxy.log()) {
        assert_eq!((record.reply.end, record.upstream.status), (End::ClientLeft, Some(201)), "{record:?}");
        assert!(record.upstream.answered.is_some_and(|at| at > record.reply.ended));
    }
    assert_eq!(connections(&proxy.log())[0].end, ConnectionEnd::ByClient);
}

/// An upstream that sends a head and four bytes of body, and then FIN or RST.
async fn dying(is_reset: bool) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("accept");
        let handle = socket2::SockRef::from(&stream).try_clone().expect("clone");
        let mut connection = h2::server::handshake(stream).await.expect("handshake");
        let (_request, mut respond) = connection.accept().await.expect("one").expect("stream");
        let mut body = respond.send_response(Response::new(()), false).expect("head");
        body.send_data(Bytes::from_static(b"part"), false).expect("data");
        // One look of the framing layer writes what it has.
        std::future::poll_fn(|cx| Poll::Ready(connection.poll_closed(cx).is_ready())).await;
        if is_reset {
            handle.set_linger(Some(std::time::Duration::ZERO)).expect("linger");
        } else {
            handle.shutdown(std::net::Shutdown::Write).expect("fin");
            std::future::pending::<()>().await;
        }
    });
    addr
}

// Proves that an upstream that dies in the middle of an answer is passed on as what it was, FIN as FIN (behind all that
// it had sent) and RST as RST, and that each stream of the connection says so.
#[tokio::test]
async fn an_upstream_that_dies_takes_the_connection_with_it() {
    for is_reset in [false, true] {
        let proxy = proxy(dying(is_reset).await).await;
        let matching = Match { key: Some("held".into()), ..Match::default() };
        let gate = proxy.arm(Rule::new("gate", Fault::hold(3_600_000)).matching(matching)).expect("arm");
        let mut client = Client::to(&proxy, "bank").await;
        let held = client.post("/", "held", "x");
        gate.wait_held(1, PATIENCE).await.expect("held");
        let dying = client.post("/", "dying", "x");
        if is_reset {
            // What RST overtakes is lost.
            whole(dying).await.expect_err("cut");
            let error = soon(client.driver).await.expect("driver").expect_err("RST");
            assert!(error.get_io().is_some_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset), "{error:?}");
        } else {
            let mut got = BytesMut::new();
            rest(soon(dying).await.expect("head").into_body(), &mut got).await.expect_err("cut");
            assert_eq!(got, "part");
            let end = soon(client.driver).await.expect("driver");
            assert!(!end.is_err_and(|e| e.get_io().is_some_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)));
        }
        whole(held).await.expect_err("gone with it");
        proxy.settle(PATIENCE).await.expect("settled");
        let records = attempts(&proxy.log());
        assert_eq!(records.len(), 2);
        for record in &records {
            assert_eq!(record.reply.end, End::UpstreamFailed, "{record:?}");
            assert!(record.upstream.error.is_some(), "{record:?}");
        }
        eventually("the connection is recorded", || !connections(&proxy.log()).is_empty()).await;
        assert_eq!(connections(&proxy.log())[0].end, ConnectionEnd::ByUpstream);
    }
}

// Proves that a refused dial is RST, as on HTTP/1.1.
#[tokio::test]
async fn a_refused_dial_is_a_reset() {
    let free = TcpListener::bind("127.0.0.1:0").await.expect("bind").local_addr().expect("addr");
    let proxy = proxy(free).await;
    let mut client = Client::to(&proxy, "bank").await;
    let error = whole(client.post("/", "k", "x")).await.expect_err("refused");
    assert!(error.get_io().is_some_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset), "{error:?}");
    proxy.settle(PATIENCE).await.expect("settled");
    let record = attempts(&proxy.log()).remove(0);
    assert_eq!((record.reply.end, record.upstream.sent), (End::UpstreamFailed, None));
}

// Proves that an upstream that goes away in order (GOAWAY without an error) is dialled again for the next stream on the
// same client connection, and that a stream it did not take is refused so that the client may try again: once asked,
// never asked twice by the proxy.
#[tokio::test]
async fn an_upstream_that_goes_away_is_dialled_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    let (dialled, mut dials) = mpsc::unbounded_channel();
    let upstream = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("accept");
            dialled.send(()).expect("the test listens");
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.expect("handshake");
                let (_, mut respond) = connection.accept().await.expect("one").expect("stream");
                respond.send_response(Response::new(()), true).expect("head");
                connection.graceful_shutdown();
                while connection.accept().await.is_some() {}
            });
        }
    });
    let proxy = proxy(addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    let mut answered = 0;
    for i in 0..4 {
        match whole(client.post("/", &format!("k{i}"), "x")).await {
            Ok(answer) => {
                assert_eq!(answer.status, 200);
                answered += 1;
            }
            Err(e) => assert_eq!(e.reason(), Some(Reason::REFUSED_STREAM), "{e:?}"),
        }
    }
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(&proxy.log()).len(), 4);
    let mut connections = 0;
    while dials.try_recv().is_ok() {
        connections += 1;
    }
    assert!(answered >= 2 && connections >= answered, "{answered} answers over {connections} connections");
    upstream.abort();
}

// Proves that a GOAWAY with an error is passed on with its code.
#[tokio::test]
async fn a_goaway_with_an_error_is_passed_on() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    let upstream = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("accept");
        let mut connection = h2::server::handshake(stream).await.expect("handshake");
        let _stream = connection.accept().await.expect("one").expect("stream");
        connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        while connection.accept().await.is_some() {}
    });
    let proxy = proxy(addr).await;
    let mut client = Client::to(&proxy, "bank").await;
    whole(client.post("/", "k", "x")).await.expect_err("sent away");
    let error = soon(client.driver).await.expect("driver").expect_err("sent away");
    assert!(error.is_go_away() && error.is_remote(), "{error:?}");
    assert_eq!(error.reason(), Some(Reason::ENHANCE_YOUR_CALM));
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(&proxy.log())[0].reply.end, End::UpstreamFailed);
    soon(upstream).await.expect("upstream");
}

// Proves that streams in progress at a shutdown are recorded once each, as unfinished, and that nothing is left.
#[tokio::test]
async fn a_shutdown_records_every_stream() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let gate = proxy.arm(Rule::new("gate", Fault::hold(3_600_000))).expect("arm");
    let mut client = Client::to(&proxy, "bank").await;
    let _held: Vec<_> = (0..5).map(|i| client.post("/", &format!("k{i}"), "x")).collect();
    gate.wait_held(5, PATIENCE).await.expect("held");
    let log = proxy.log();
    soon(proxy.shutdown()).await;
    let records = attempts(&log);
    assert_eq!(records.len(), 5);
    assert!(records.iter().all(|r| r.reply.end == End::Unfinished), "{records:?}");
    assert_eq!(connections(&log)[0].end, ConnectionEnd::ByShutdown);
}

// Proves that requests whose client closes right behind them are on record: none is lost between two reads.
#[tokio::test]
async fn requests_before_a_fin_are_on_record() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    for round in 1..=20 {
        let mut client = crate::kit::Client::to(&proxy, "bank").await;
        client.send([RAW_START, &raw_get(1), &raw_get(3), &raw_get(5)].concat()).await;
        tokio::io::AsyncWriteExt::shutdown(&mut client.0).await.expect("FIN");
        soon(client.0.read_to_end(&mut Vec::new())).await.expect("FIN");
        assert_eq!(proxy.arrivals("bank").expect("link"), 3 * round);
    }
    proxy.settle(PATIENCE).await.expect("settled");
    assert_eq!(attempts(&proxy.log()).len(), 60);
}

// Proves that bytes that are no HTTP/2 behind a preface end the connection and nothing else.
#[tokio::test]
async fn noise_behind_a_preface_ends_the_connection() {
    let bank = Bank::start().await;
    let proxy = proxy(bank.addr).await;
    let mut client = crate::kit::Client::to(&proxy, "bank").await;
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.send([0xff; 64]).await;
    let mut bytes = Vec::new();
    soon(client.0.read_to_end(&mut bytes)).await.expect("FIN");
    assert_eq!(bytes[bytes.len() - 17 + 3], 7, "a GOAWAY is last");
    eventually("the connection is recorded", || connections(&proxy.log()).len() == 1).await;
    assert_eq!((attempts(&proxy.log()).len(), proxy.in_flight("bank").expect("link")), (0, 0));
}
