//! The canary against a quiet echo, a slow one, a silent one and one that hangs up.

use std::net::SocketAddr;
use std::time::Duration;

use harness::canary::{Canary, EchoServer};
use harness::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// Starts a server on loopback that treats each of its connections with `serve`.
async fn server<F: Future<Output = ()> + Send + 'static>(
    serve: impl Fn(TcpStream) -> F + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let addr = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    addr
}

/// Longer than anything here takes on a busy machine; reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

async fn told(mut what: mpsc::Receiver<()>) {
    timeout(PATIENCE, what.recv()).await.expect("in time").expect("the server lives");
}

// Proves that the reading of a live echo is consistent: several samples, the quantile not above the maximum, the worst
// moment within the time in which the canary lived. No bound on the machine's own noise.
#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_echo_gives_a_consistent_reading() {
    let (echo, clock) = (EchoServer::start().await.expect("an echo"), Clock::start());
    let mut length = Duration::from_millis(100);
    let (from, reading) = loop {
        let from = clock.now();
        let canary = Canary::start(echo.addr(), clock, 2).await.expect("it accepts");
        sleep(length).await;
        let reading = canary.stop().await;
        if reading.samples > 4 {
            break (from, reading);
        }
        length *= 2;
        assert!(length < PATIENCE, "{reading:?}");
    };
    assert!(reading.p99_ns > 0 && reading.p99_ns <= reading.max_ns, "{reading:?}");
    assert!(reading.worst_at >= from && reading.worst_at <= clock.now(), "{reading:?}");
}

// Proves that lateness on the way is seen in full and not averaged away: one single answer is late by 150 ms, and the
// maximum shows at least that. A busy machine can only add to it.
#[tokio::test(flavor = "multi_thread")]
async fn one_late_answer_is_seen_in_full() {
    let late = Duration::from_millis(150);
    let (tell, done) = mpsc::channel(1);
    let addr = server(move |mut stream| {
        let tell = tell.clone();
        async move {
            let mut number = [0; 8];
            for turn in 0.. {
                if stream.read_exact(&mut number).await.is_err() {
                    return;
                }
                match turn {
                    3 => sleep(late).await,
                    6 => tell.send(()).await.unwrap_or_default(),
                    _ => {}
                }
                let _ = stream.write_all(&number).await;
            }
        }
    })
    .await;
    let canary = Canary::start(addr, Clock::start(), 1).await.expect("it accepts");
    told(done).await;
    let reading = canary.stop().await;
    assert!(reading.samples >= 6, "{reading:?}");
    assert!(Duration::from_nanos(reading.max_ns) >= late, "{reading:?}");
}

// Proves that a blocked runtime is seen: its only thread is kept busy for 150 ms in which no task can run.
#[tokio::test(flavor = "current_thread")]
async fn a_blocked_runtime_is_seen() {
    let echo = EchoServer::start().await.expect("an echo");
    let canary = Canary::start(echo.addr(), Clock::start(), 1).await.expect("it accepts");
    sleep(Duration::from_millis(50)).await;
    std::thread::sleep(Duration::from_millis(150));
    sleep(Duration::from_millis(50)).await;
    let reading = canary.stop().await;
    // A canary's sleep that began just before the block was due at most 20 ms later; the rest of the block is overshoot.
    assert!(reading.max_ns >= 130_000_000, "{reading:?}");
}

// Proves that blindness is not mistaken for silence: an echo that never comes back, and a connection that breaks, count
// with all the time since, though no answer was measured. The time is counted from the moment in which the server has
// the request, which was due before.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_never_comes_counts() {
    for hangs_up in [false, true] {
        let (tell, asked) = mpsc::channel(1);
        let addr = server(move |mut stream| {
            let tell = tell.clone();
            async move {
                let _ = stream.read_exact(&mut [0; 8]).await;
                let _ = tell.send(()).await;
                if !hangs_up {
                    std::future::pending().await
                }
            }
        })
        .await;
        let canary = Canary::start(addr, Clock::start(), 1).await.expect("it accepts");
        told(asked).await;
        let blind = Duration::from_millis(200);
        sleep(blind).await;
        let reading = canary.stop().await;
        assert_eq!(reading.samples, 1, "{reading:?}");
        assert!(Duration::from_nanos(reading.max_ns) >= blind, "{reading:?}");
    }
}

// Proves that a canary which cannot begin is an error at once, rather than a reading of nothing.
#[tokio::test]
async fn a_closed_address_is_an_error() {
    let addr = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
    let error = Canary::start(addr, Clock::start(), 2).await.expect_err("nobody listens");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
}
