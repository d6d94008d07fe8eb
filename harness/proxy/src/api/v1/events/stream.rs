//! The log as a stream of lines. It is fed by a task of its own through a bounded queue: a reader that is too slow is cut
//! off with a line that says so, and the proxy never waits for it.

use std::time::Duration;

use bytes::Bytes;
use evidence::Record;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

use super::filter::{FILTERS, Filter};
use crate::api::v1::query::Query;
use crate::api::{Api, Reply, Request};
use crate::clock::Clock;
use crate::log::lines::{events_end, events_header, push_record, push_value};
use crate::log::{Entry, Log, Subscription};

/// Records that are taken from the log at once.
const PAGE: usize = 512;
/// Bytes that are gathered before they are handed on.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces that may wait for the reader's connection.
pub(super) const QUEUE: usize = 4;
/// How often a line says that the stream is alive, unless the caller says otherwise; milliseconds.
const HEARTBEAT_MS: u64 = 5_000;

pub(super) fn get(api: &Api, request: &Request) -> Result<Reply, Reply> {
    let names: Vec<_> = ["cursor", "heartbeat_ms"].into_iter().chain(FILTERS).collect();
    let query = Query::of(request, &names)?;
    let cursor = query.number("cursor", Some(0), 0, u64::MAX)?;
    let heartbeat = query.number("heartbeat_ms", Some(HEARTBEAT_MS), 10, 3_600_000)?;
    let (out, pieces) = mpsc::channel(QUEUE);
    let core = &api.core;
    let mut feed = Feed::new(core.log.clone(), core.clock, cursor, Filter::of(&query)?, out);
    push_value(&mut feed.lines, &events_header(core.clock.base(), core.seed));
    tokio::spawn(async move {
        // An error says that the reader has left.
        let _left = feed.run(Duration::from_millis(heartbeat)).await;
    });
    Ok(Reply::stream("application/x-ndjson", pieces))
}

/// The reader has left.
#[derive(Debug)]
pub(super) struct Left;

/// Feeds one stream.
pub(super) struct Feed {
    log: Log,
    clock: Clock,
    filter: Filter,
    out: mpsc::Sender<Bytes>,
    /// The cursor behind the last record that was taken from the log.
    cursor: u64,
    /// Whole lines that were not yet handed on.
    pub(super) lines: Vec<u8>,
    /// Records written to this stream.
    records: u64,
}

impl Feed {
    pub(super) fn new(log: Log, clock: Clock, cursor: u64, filter: Filter, out: mpsc::Sender<Bytes>) -> Self {
        Self { log, clock, filter, out, cursor, lines: Vec::new(), records: 0 }
    }

    /// What is in the log, then what comes, until the log is closed, the reader is too slow, or it leaves.
    pub(super) async fn run(mut self, heartbeat: Duration) -> Result<(), Left> {
        self.flush().await?;
        // A long log is read before anything is queued for this reader, so that only what comes can lag.
        self.catch_up().await?;
        let live = self.log.subscribe();
        self.catch_up().await?;
        let mut beat = tokio::time::interval(heartbeat);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let last = self.follow(live, beat).await?;
        push_value(&mut self.lines, &last);
        self.flush().await
    }

    /// Passes what comes; returns the last line.
    async fn follow(&mut self, mut live: Subscription, mut beat: Interval) -> Result<Value, Left> {
        loop {
            let mut next = tokio::select! {
                next = live.next() => next,
                _ = beat.tick() => {
                    self.heartbeat();
                    self.flush().await?;
                    continue;
                }
                () = self.out.closed() => return Err(Left),
            };
            loop {
                match next {
                    Ok(entry) => self.pass(&entry),
                    Err(RecvError::Lagged(lost)) => return Ok(self.cut_off(lost)),
                    Err(RecvError::Closed) => return Ok(events_end(self.records, self.log.dropped())),
                }
                match live.next_now() {
                    Some(waiting) if self.lines.len() < PIECE_BYTES => next = waiting,
                    Some(waiting) => {
                        self.flush().await?;
                        next = waiting;
                    }
                    None => break,
                }
            }
            self.flush().await?;
        }
    }

    fn pass(&mut self, entry: &Entry) {
        match entry.cursor {
            // It was read from the log already.
            Some(cursor) if cursor < self.cursor => return,
            Some(cursor) => self.cursor = cursor + 1,
            // The log had no room for it; this reader still gets it.
            None => {}
        }
        self.write(&entry.record);
    }

    /// Passes what the log has from the cursor on.
    async fn catch_up(&mut self) -> Result<(), Left> {
        loop {
            let page = self.log.page(self.cursor, PAGE);
            if page.missed > 0 {
                push_value(&mut self.lines, &json!({ "missed": page.missed }));
            }
            self.cursor = page.next;
            page.records.iter().for_each(|record| self.write(record));
            self.flush().await?;
            if page.records.is_empty() {
                return Ok(());
            }
        }
    }

    fn write(&mut self, record: &Record) {
        if self.filter.takes(record) {
            push_record(&mut self.lines, record);
            self.records += 1;
        }
    }

    fn heartbeat(&mut self) {
        let beat = json!({ "at": self.clock.now(), "cursor": self.cursor, "dropped": self.log.dropped() });
        push_value(&mut self.lines, &json!({ "heartbeat": beat }));
    }

    /// What the log still has of it can be read from that cursor on.
    fn cut_off(&self, lost: u64) -> Value {
        let missed = self.log.depth().next.saturating_sub(self.cursor).max(lost);
        json!({ "cut_off": { "records": self.records, "missed": missed, "cursor": self.cursor } })
    }

    /// Hands the lines on; waits for the reader, but nothing waits for this.
    async fn flush(&mut self) -> Result<(), Left> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.lines));
        self.out.send(piece).await.map_err(|_| Left)
    }
}
