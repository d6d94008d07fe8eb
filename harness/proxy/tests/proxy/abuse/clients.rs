//! Clients that vanish: at every byte of what they send, by FIN and by RST.

use evidence::End;
use tokio::io::AsyncWriteExt;

use super::kit::{Floor, dial, quiet, resets};
use crate::kit::{Upstream, attempts, connections, eventually, post, proxy};

const CHUNKED: &str =
    "POST /c HTTP/1.1\r\nhost: bank\r\ntransfer-encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nt: 1\r\n\r\n";

// Proves that a client which leaves after any number of bytes leaves exactly one record of an attempt that it has left
// (none before its first byte), one of its connection, nothing for the upstream to answer, and no task.
#[tokio::test]
async fn a_client_may_vanish_at_every_byte() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let (mut begun, mut connected) = (0, 0);
    for request in [post("k", "0123456789"), CHUNKED.to_owned()] {
        for cut in 0..request.len() {
            for by_reset in [false, true] {
                let mut stream = dial(addr).await;
                stream.write_all(&request.as_bytes()[..cut]).await.expect("send");
                if by_reset {
                    resets(&stream);
                }
                drop(stream);
                connected += 1;
                begun += usize::from(cut > 0);
            }
        }
    }
    eventually("a record of each connection", || connections(&proxy.log()).len() == connected).await;
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.len(), begun);
    for attempt in &log {
        assert_eq!((attempt.reply.end, attempt.reply.status), (End::ClientLeft, None), "{attempt:?}");
        assert!(attempt.received.is_none() && attempt.upstream.sent.is_none(), "{attempt:?}");
    }
    assert!(upstream.seen().is_empty());
    assert!(connections(&proxy.log()).iter().all(|c| c.requests <= 1));
    floor.regained().await;
    proxy.shutdown().await;
}

// Proves that a client which leaves while its request waits, right after its last byte, never gets two records and never
// costs the upstream's answer its record: every whole request that was forwarded has a status.
#[tokio::test]
async fn a_client_may_vanish_right_behind_its_request() {
    let upstream = Upstream::start().await;
    let proxy = proxy(upstream.addr).await;
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    for round in 0..200 {
        let mut stream = dial(addr).await;
        stream.write_all(post("k", "x").as_bytes()).await.expect("send");
        if round % 2 == 0 {
            resets(&stream);
        }
        drop(stream);
    }
    eventually("a record of each connection", || connections(&proxy.log()).len() == 200).await;
    quiet(&proxy, "bank").await;
    let log = attempts(&proxy.log());
    assert_eq!(log.len(), 200);
    let forwarded = log.iter().filter(|a| a.upstream.sent.is_some()).count();
    assert_eq!(upstream.seen().len(), forwarded);
    for attempt in log {
        assert!(matches!(attempt.reply.end, End::ClientLeft | End::Replied), "{attempt:?}");
        assert_eq!(attempt.upstream.sent.is_some(), attempt.upstream.status == Some(201), "{attempt:?}");
    }
    floor.regained().await;
}
