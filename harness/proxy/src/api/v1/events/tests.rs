//! The stream's edges that no socket can make certain: a reader that is too slow, and records drained away under it.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::filter::Filter;
use super::stream::{Feed, QUEUE};
use crate::clock::Clock;
use crate::log::tests::connection;
use crate::log::{Log, SUBSCRIPTION_LIMIT};

const HOUR: Duration = Duration::from_secs(3600);

fn write(log: &Log, numbers: std::ops::Range<u64>) {
    numbers.for_each(|conn| log.connection(connection(conn)));
}

fn feed(log: &Log, cursor: u64) -> (Feed, mpsc::Receiver<Bytes>) {
    let (out, pieces) = mpsc::channel(QUEUE);
    (Feed::new(log.clone(), Clock::new(Clock::base_now()), cursor, Filter::default(), out), pieces)
}

/// The lines until the stream ends.
async fn lines(mut pieces: mpsc::Receiver<Bytes>) -> Vec<Value> {
    let mut text = Vec::new();
    while let Some(piece) = pieces.recv().await {
        assert_eq!(piece.last(), Some(&b'\n'), "only whole lines are handed on");
        text.extend_from_slice(&piece);
    }
    let text = String::from_utf8(text).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn numbers(lines: &[Value]) -> Vec<u64> {
    lines.iter().filter_map(|line| line["connection"]["conn"].as_u64()).collect()
}

// Proves that a reader that takes nothing is cut off once it is further behind than a subscription may be; that its last
// line counts exactly what it did not get, and names the cursor from which the log still has it; and that the writer was
// never held up (all records are in the log before the reader takes its second piece).
#[tokio::test]
async fn a_slow_reader_is_cut_off_and_told() {
    let log = Log::new(usize::MAX, usize::MAX);
    let (feed, mut pieces) = feed(&log, 0);
    let feeding = tokio::spawn(feed.run(HOUR));
    write(&log, 0..1);
    let first = pieces.recv().await.expect("the first record");
    let total = 1 + SUBSCRIPTION_LIMIT as u64 * 2;
    write(&log, 1..total);
    assert_eq!(log.depth().next, total);
    let mut seen = numbers(&[serde_json::from_slice(&first).expect("a line")]);
    let lines = lines(pieces).await;
    feeding.await.expect("no panic").expect("the reader did not leave");
    seen.extend(numbers(&lines));
    let last = &lines.last().expect("a last line")["cut_off"];
    let cursor = last["cursor"].as_u64().expect("cursor");
    assert_eq!(seen, (0..cursor).collect::<Vec<_>>());
    assert_eq!((&last["missed"], &last["records"]), (&json!(total - cursor), &json!(cursor)));
    assert!(total - cursor >= SUBSCRIPTION_LIMIT as u64, "it was cut off too early, at {cursor} of {total}");
    assert_eq!(log.page(cursor, 1).missed, 0, "nothing is lost: the log still has the rest");
}

// Proves that a stream says how many records were drained away before it came to them, gives every later record once,
// also while others drain, and ends with the count when the log is closed.
#[tokio::test]
async fn a_stream_says_what_it_missed_and_how_it_ends() {
    let log = Log::new(usize::MAX, usize::MAX);
    write(&log, 0..5);
    assert_eq!(log.drain_upto(3), 3);
    let (feed, pieces) = feed(&log, 1);
    let (fed, lines) = tokio::join!(feed.run(HOUR), async {
        write(&log, 5..2_000);
        assert!(!log.drain().is_empty());
        tokio::task::yield_now().await;
        write(&log, 2_000..2_010);
        assert_eq!(log.drain().len(), 10);
        log.close();
        lines(pieces).await
    });
    fed.expect("the reader did not leave");
    let missed: u64 = lines.iter().filter_map(|line| line["missed"].as_u64()).sum();
    let got = numbers(&lines);
    let end = lines.last().expect("a last line");
    assert_eq!(end["end"], json!({ "records": got.len(), "dropped": 0 }));
    assert_eq!(missed + got.len() as u64, 2_009, "every record from cursor 1 on is given once or counted as missed");
    assert!(got.windows(2).all(|pair| pair[0] < pair[1]), "in order, none twice");
}

// Proves that a stream without records says at its own pace that it is alive, and where it is.
#[tokio::test]
async fn a_quiet_stream_beats() {
    let log = Log::new(10, usize::MAX);
    write(&log, 0..1);
    let (feed, mut pieces) = feed(&log, 1);
    let feeding = tokio::spawn(feed.run(Duration::from_millis(10)));
    for _ in 0..2 {
        let beat: Value = serde_json::from_slice(&pieces.recv().await.expect("a beat")).expect("JSON");
        assert_eq!((&beat["heartbeat"]["cursor"], &beat["heartbeat"]["dropped"]), (&json!(1), &json!(0)));
        assert!(beat["heartbeat"]["at"].as_u64().is_some());
    }
    drop(pieces);
    assert!(feeding.await.expect("no panic").is_err(), "it ends when its reader leaves");
}
