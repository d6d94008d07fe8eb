//! Upstreams that die: at every byte of their answer, by FIN and by RST.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use evidence::End;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::kit::{Floor, dial, quiet, resets};
use crate::kit::{Client, Ended, attempts, message_length, post, proxy};

/// How the next connection is treated: these bytes, then FIN or RST.
#[derive(Clone, Default)]
struct Death {
    says: Vec<u8>,
    by_reset: bool,
}

/// An upstream that reads one request of each connection and then dies as it was told.
async fn dying(death: Arc<Mutex<Death>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let death = death.lock().expect("lock").clone();
            let mut request = Vec::new();
            while message_length(&request).is_none() {
                if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            // The proxy may have gone first.
            let _gone = stream.write_all(&death.says).await;
            if death.by_reset {
                resets(&stream);
            }
        }
    });
    addr
}

/// An answer and how its end is told.
struct Answer {
    text: &'static str,
    /// It lasts until the connection ends.
    to_end: bool,
}

const ANSWERS: [Answer; 5] = [
    Answer { text: "HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\n0123456789", to_end: false },
    Answer { text: "HTTP/1.1 201 Created\r\nconnection: close\r\ncontent-length: 10\r\n\r\n0123456789", to_end: false },
    Answer {
        text: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nabcd\r\n2;x\r\nef\r\n0\r\nt: 1\r\n\r\n",
        to_end: false,
    },
    Answer {
        text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        to_end: false,
    },
    Answer { text: "HTTP/1.1 200 OK\r\n\r\nuntil the end", to_end: true },
];

// Proves that an upstream which dies after any number of bytes is passed on as what it was, FIN as FIN and RST as RST,
// behind a true beginning of its answer that never looks whole; that it is one attempt, sent whole and failed; and that
// no task stays behind.
#[tokio::test]
async fn an_upstream_may_die_at_every_byte() {
    let death = Arc::<Mutex<Death>>::default();
    let proxy = proxy(dying(Arc::clone(&death)).await).await;
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let mut expected = Vec::new();
    for answer in ANSWERS {
        let head = answer.text.rfind("HTTP/1.1").and_then(|at| answer.text[at..].find("\r\n\r\n").map(|n| at + n + 4));
        let head = head.expect("a head");
        for cut in 0..answer.text.len() {
            for by_reset in [false, true] {
                let says = answer.text.as_bytes()[..cut].to_vec();
                *death.lock().expect("lock") = Death { says, by_reset };
                let mut client = Client(dial(addr).await);
                client.send(post("k", "x")).await;
                let (text, end) = client.rest().await;
                let whole = answer.to_end && !by_reset && cut >= head;
                let context = format!("{cut} bytes of {:?}, reset {by_reset}: {text:?}", answer.text);
                assert!(answer.text[..cut].starts_with(&text), "{context}");
                assert_eq!(end, if by_reset { Ended::Reset } else { Ended::Fin }, "{context}");
                // What came before a FIN is all there; a RST may overtake it.
                if !by_reset && cut >= head {
                    assert_eq!(text.len(), cut, "{context}");
                }
                expected.push((if whole { End::Replied } else { End::UpstreamFailed }, whole));
            }
        }
    }
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.len(), expected.len());
    for (attempt, (end, whole)) in log.iter().zip(expected) {
        assert_eq!((attempt.reply.end, attempt.upstream.error.is_none()), (end, whole), "{attempt:?}");
        assert!(attempt.received.is_some() && attempt.upstream.sent.is_some(), "{attempt:?}");
        assert_eq!(attempt.upstream.answered.is_some(), whole, "{attempt:?}");
    }
    floor.regained().await;
    proxy.shutdown().await;
}

// Proves that an upstream which goes away before, or while, it is asked fails each call by itself: with nothing
// listening every call is a RST and a record; when it is back the next call succeeds.
#[tokio::test]
async fn an_upstream_may_be_gone_and_come_back() {
    let death = Arc::new(Mutex::new(Death { says: ANSWERS[0].text.into(), by_reset: false }));
    let proxy = proxy(dying(death).await).await;
    let floor = Floor::here();
    let alive = proxy.link_status("bank").expect("link").upstream.expect("upstream");
    let gone = TcpListener::bind("127.0.0.1:0").await.and_then(|l| l.local_addr()).expect("a free port");
    for round in 0..50 {
        let is_gone = round % 2 == 0;
        let upstream = if is_gone { gone.to_string() } else { alive.clone() };
        proxy.set_upstream("bank", upstream).expect("set");
        let mut client = Client::to(&proxy, "bank").await;
        client.send(post("k", "x")).await;
        if is_gone {
            assert_eq!(client.rest().await, (String::new(), Ended::Reset));
        } else {
            assert_eq!(client.reply().await, ANSWERS[0].text);
        }
    }
    quiet(&proxy, "bank").await;
    let ends: Vec<_> = attempts(&proxy.log()).iter().map(|a| a.reply.end).collect();
    assert_eq!(ends, [End::UpstreamFailed, End::Replied].repeat(25));
    floor.regained().await;
}
