//! The log's bounds, pages and waits.

use super::*;
use evidence::{ConnectionEnd, EdgeChange, FaultKind};

/// A record that differs by its number only.
pub(crate) fn connection(conn: u64) -> Connection {
    Connection {
        link: "bank".to_owned(),
        conn,
        accepted: At(1),
        closed: At(2),
        requests: 0,
        bytes_in: 0,
        bytes_out: 0,
        end: ConnectionEnd::ByClient,
        fault: None,
    }
}

fn numbers(page: &Page) -> Vec<u64> {
    let number = |r: &Arc<Record>| if let Record::Connection(c) = r.as_ref() { c.conn } else { panic!("{r:?}") };
    page.records.iter().map(number).collect()
}

// Proves that pages follow one another without gap or repetition, also when records are drained between them, and that
// what was drained before it was read is counted as missed.
#[test]
fn pages_meet_and_say_what_was_drained() {
    let log = Log::new(100, usize::MAX);
    (0..10).for_each(|n| log.connection(connection(n)));
    let page = log.page(0, 4);
    assert_eq!((numbers(&page), page.first, page.next, page.missed), (vec![0, 1, 2, 3], 0, 4, 0));
    assert_eq!(log.drain_upto(page.next), 4);
    let page = log.page(page.next, 3);
    assert_eq!((numbers(&page), page.first, page.next, page.missed), (vec![4, 5, 6], 4, 7, 0));
    assert_eq!(log.drain_upto(9), 5);
    let page = log.page(page.next, 3);
    assert_eq!((numbers(&page), page.first, page.next, page.missed), (vec![9], 9, 10, 2));
    assert_eq!(log.drain_upto(3), 0, "an old cursor drains nothing");
    assert_eq!(log.drain_upto(u64::MAX), 1);
    let page = log.page(10, 3);
    assert_eq!((page.records.len(), page.first, page.next, page.missed), (0, 10, 10, 0));
    assert_eq!((log.page(12, 3).first, log.page(12, 3).next), (10, 10), "a cursor from the future comes back");
}

// Proves the limit in bytes: a log of room for exactly two records of this weight drops the third, counts it, and has
// room again once one is drained; the weight returns to zero.
#[test]
fn bytes_are_bounded() {
    let one = {
        let probe = Log::new(1, usize::MAX);
        probe.connection(connection(0));
        probe.depth().bytes
    };
    assert!(one > size_of::<Connection>());
    let log = Log::new(100, 2 * one);
    (0..3).for_each(|n| log.connection(connection(n)));
    let depth = Depth { records: 2, bytes: 2 * one, dropped: 1, first: 0, next: 2 };
    assert_eq!(log.depth(), depth);
    assert_eq!(log.drain_upto(1), 1);
    log.connection(connection(3));
    assert_eq!(log.depth(), Depth { first: 1, next: 3, ..depth });
    assert_eq!(numbers(&log.page(0, 9)), [1, 3]);
    assert_eq!(log.drain().len(), 2);
    assert_eq!((log.depth().bytes, log.dropped()), (0, 1));
}

// Proves that every text of a record weighs: each field in turn made longer by 1,000 bytes makes it 1,000 heavier.
#[test]
fn texts_weigh() {
    let heavy = |edge: FaultEdge| weight::weight(&Record::Edge(edge));
    let edge = FaultEdge {
        at: At(0),
        change: EdgeChange::Armed,
        kind: FaultKind::Rule,
        rule: "r".into(),
        link: "l".into(),
        what: "w".into(),
        epoch: 1,
        scope: Some("s".into()),
        since: None,
        fired: None,
    };
    let long = || "x".repeat(1001);
    let base = heavy(edge.clone());
    for longer in [
        FaultEdge { rule: long(), ..edge.clone() },
        FaultEdge { link: long(), ..edge.clone() },
        FaultEdge { what: long(), ..edge.clone() },
        FaultEdge { scope: Some(long()), ..edge.clone() },
    ] {
        assert_eq!(heavy(longer), base + 1000);
    }
}

// Proves that a waiting reader gets a record that is written while it waits, and an empty page when the log is closed:
// neither wait reaches its limit of an hour.
#[tokio::test]
async fn a_long_poll_wakes() {
    let log = Log::new(10, usize::MAX);
    let hour = Duration::from_secs(3600);
    let waiting = || {
        let log = log.clone();
        tokio::spawn(async move { log.wait_since(log.depth().next, 5, hour).await })
    };
    let reader = waiting();
    while log.shared.waiting.load(Ordering::Acquire) == 0 {
        tokio::task::yield_now().await;
    }
    log.connection(connection(7));
    assert_eq!(numbers(&reader.await.expect("page")), [7]);
    assert_eq!(log.shared.waiting.load(Ordering::Acquire), 0);
    let reader = waiting();
    tokio::task::yield_now().await;
    log.close();
    assert_eq!(reader.await.expect("page").records.len(), 0);
    assert!(log.subscribe().recv().await.is_none());
}

// Proves that a subscription ends when the log is closed, and only after everything that was written before; and that
// its ring is given back once nobody listens.
#[tokio::test]
async fn a_subscription_gets_everything_and_ends() {
    let log = Log::new(0, usize::MAX);
    let mut live = log.subscribe();
    log.connection(connection(1));
    log.connection(connection(2));
    log.close();
    for n in [1, 2] {
        let event = live.recv().await;
        assert!(matches!(event, Some(Event::Record(r)) if matches!(r.as_ref(), Record::Connection(c) if c.conn == n)));
    }
    assert!(live.recv().await.is_none());
    assert_eq!(log.dropped(), 2, "a subscription does not make up for the log's own loss");
}

// Proves that names beyond the limit are counted together: the counters' memory is bounded.
#[test]
fn counters_are_bounded() {
    let log = Log::new(0, 0);
    let total = tally::MAX_COUNTED as u64 + 5;
    (0..total).for_each(|n| log.connection(Connection { link: format!("l{n}"), ..connection(n) }));
    let tally = log.tally();
    assert_eq!(tally.links.len(), tally::MAX_COUNTED + 1);
    assert_eq!(tally.links[tally::OTHERS].connections, [("by_client", 5)]);
}

// Proves that a reader who releases what it has read leaves others a history, but never fills the log by that: of five
// written records three stay in a log for six, and none in one whose bytes are more than half spent.
#[test]
fn a_release_leaves_a_history() {
    let log = Log::new(6, usize::MAX);
    (0..5).for_each(|n| log.connection(connection(n)));
    log.release_upto(5);
    assert_eq!(numbers(&log.page(0, 9)), [2, 3, 4]);
    log.release_upto(1);
    assert_eq!(log.len(), 3, "what was not read stays");
    let tight = Log::new(6, log.depth().bytes + 1);
    (0..3).for_each(|n| tight.connection(connection(n)));
    tight.release_upto(2);
    assert_eq!(numbers(&tight.page(0, 9)), [2]);
}
