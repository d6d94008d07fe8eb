//! The reply lost after the bank committed, end to end, as the event log shows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::kit::{Client, Ended, PATIENCE, attempts, bank, message_length, post, soon};
use chaos_proxy::{Effect, Fault, Match, OrdinalRange, Proxy, ProxyConfig, Rule, events_header, push_record};
use evidence::End;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A bank that commits each key once and replays its answer after that.
struct Bank {
    addr: std::net::SocketAddr,
    ledger: Arc<Mutex<HashMap<String, u32>>>,
}

impl Bank {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let addr = listener.local_addr().expect("addr");
        let ledger = Arc::<Mutex<HashMap<String, u32>>>::default();
        let rows = Arc::clone(&ledger);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let rows = Arc::clone(&rows);
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    while stream.read_buf(&mut bytes).await.is_ok_and(|n| n > 0) {
                        let Some(n) = message_length(&bytes) else { continue };
                        let text = String::from_utf8(bytes.drain(..n).collect()).expect("text");
                        let key =
                            text.lines().find_map(|l| l.strip_prefix("Idempotency-Key: ")).expect("key").to_owned();
                        let replayed = {
                            let mut rows = rows.lock().expect("lock");
                            let asked = rows.entry(key).or_default();
                            *asked += 1;
                            *asked > 1
                        };
                        let mark = if replayed { "idempotency-replayed: true\r\n" } else { "" };
                        let reply = format!("HTTP/1.1 201 Created\r\n{mark}content-length: 2\r\n\r\nok");
                        stream.write_all(reply.as_bytes()).await.expect("reply");
                    }
                });
            }
        });
        Self { addr, ledger }
    }
}

// Proves what the log of a lost reply says: the request arrived at the bank once, the bank's 201 was withheld, the
// client got a RST, the next attempt has the same key and the second ordinal, and gets the bank's replayed answer. The
// order of the moments is the order of the story.
#[tokio::test]
async fn the_log_tells_the_story_of_a_lost_reply() {
    let upstream = Bank::start().await;
    let proxy = Proxy::start(ProxyConfig::new([bank(upstream.addr)]).seed(7)).await.expect("start");
    let first = Match { ordinal: Some(OrdinalRange { from: None, to: Some(1) }), ..Match::default() };
    let rule = Rule::new("reply-lost", Fault::reply_lost(Effect::Reset)).link("bank").matching(first);
    let armed = proxy.arm(rule).expect("arm");

    let mut client = Client::to(&proxy, "bank").await;
    client.send(post("pay-1", "{\"amount\":100}")).await;
    assert_eq!(client.rest().await, (String::new(), Ended::Reset));
    let committed = upstream.ledger.lock().expect("lock").clone();
    assert_eq!(committed, HashMap::from([("pay-1".to_owned(), 1)]), "the bank has committed");

    let mut again = Client::to(&proxy, "bank").await;
    again.send(post("pay-1", "{\"amount\":100}")).await;
    let reply = again.reply().await;
    assert!(reply.starts_with("HTTP/1.1 201 ") && reply.contains("idempotency-replayed: true"), "{reply}");
    soon(proxy.settle(PATIENCE)).await.expect("settled");
    assert_eq!(armed.disarm().fired, 1);

    let log = attempts(&proxy.log());
    assert_eq!(log.len(), 2);
    let (lost, retry) = (&log[0], &log[1]);
    let struck = lost.fault.as_ref().expect("struck");
    assert_eq!((struck.rule.as_str(), struck.what.as_str()), ("reply-lost", "response/reset"));
    assert_eq!((lost.key.as_deref(), lost.ordinal, lost.reply.end), (Some("pay-1"), 1, End::Reset));
    assert_eq!((lost.upstream.status, lost.reply.status, lost.reply.first_byte), (Some(201), None, None));
    assert!(lost.upstream.copies.is_empty(), "the proxy asked the bank once");
    assert_eq!((retry.key.as_deref(), retry.ordinal, retry.reply.end), (Some("pay-1"), 2, End::Replied));
    assert_eq!((retry.upstream.status, retry.reply.status, &retry.fault), (Some(201), Some(201), &None));
    assert_eq!(lost.body.sha256, retry.body.sha256);
    let story = [
        Some(lost.arrived),
        lost.received,
        lost.upstream.sent,
        lost.upstream.answered,
        Some(lost.reply.ended),
        Some(retry.arrived),
        retry.upstream.sent,
        retry.upstream.answered,
        Some(retry.reply.ended),
    ];
    assert!(story.iter().all(Option::is_some) && story.is_sorted(), "{story:?}");

    // The same as a file shows it, line by line.
    let lines: Vec<String> = proxy.log().since(0).records.iter().map(|record| line(record)).collect();
    println!("{}", events_header(proxy.time(), 7));
    lines.iter().for_each(|line| println!("{line}"));
    let attempts = lines.iter().filter(|line| line.starts_with(r#"{"attempt":"#)).collect::<Vec<_>>();
    let shows = |text: &str| attempts.iter().filter(|line| line.contains(text)).count();
    assert_eq!((shows(r#""what":"response/reset""#), shows(r#""end":"reset""#), shows(r#""key":"pay-1""#)), (1, 1, 2));
}

fn line(record: &evidence::Record) -> String {
    let mut out = Vec::new();
    push_record(&mut out, record);
    String::from_utf8(out).expect("text").trim_end().to_owned()
}
