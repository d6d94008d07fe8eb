//! What the log's lock guards.

use std::collections::VecDeque;
use std::sync::Arc;

use evidence::Record;
use tokio::sync::broadcast;

use super::follow::{Entry, SUBSCRIPTION_LIMIT};
use super::tally::Tally;
use super::weight::weight;
use super::{Depth, HISTORY, Page};

/// Notes of one code that are kept; each code says the same thing again after that.
const NOTES_PER_CODE: usize = 10;

/// The records and their counters.
#[derive(Debug)]
pub(super) struct Book {
    /// Limits: records and bytes.
    records: usize,
    bytes: usize,
    /// Cursor of the first record in `kept`.
    first: u64,
    kept: VecDeque<Arc<Record>>,
    /// Weight of `kept`.
    weight: usize,
    /// Sequence number of the next attempt.
    next_seq: u64,
    dropped: u64,
    notes: Vec<(&'static str, usize)>,
    pub(super) tally: Tally,
    /// There only while somebody subscribes: its ring is large.
    live: Option<broadcast::Sender<Entry>>,
    closed: bool,
}

impl Book {
    pub(super) fn new(records: usize, bytes: usize) -> Self {
        Self {
            records,
            bytes,
            first: 0,
            kept: VecDeque::new(),
            weight: 0,
            next_seq: 0,
            dropped: 0,
            notes: Vec::new(),
            tally: Tally::default(),
            live: None,
            closed: false,
        }
    }

    pub(super) fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    pub(super) fn page(&self, cursor: u64, limit: usize) -> Page {
        let skip = usize::try_from(cursor.saturating_sub(self.first)).unwrap_or(usize::MAX).min(self.kept.len());
        let end = skip.saturating_add(limit).min(self.kept.len());
        Page {
            records: self.kept.range(skip..end).cloned().collect(),
            first: self.first + skip as u64,
            next: self.first + end as u64,
            missed: self.first.saturating_sub(cursor),
        }
    }

    /// Takes the records before `cursor` out.
    pub(super) fn take_upto(&mut self, cursor: u64) -> VecDeque<Arc<Record>> {
        let n = usize::try_from(cursor.saturating_sub(self.first)).unwrap_or(usize::MAX).min(self.kept.len());
        let taken = if n == self.kept.len() { std::mem::take(&mut self.kept) } else { self.kept.drain(..n).collect() };
        self.first += n as u64;
        self.weight =
            if self.kept.is_empty() { 0 } else { self.weight - taken.iter().map(|r| weight(r)).sum::<usize>() };
        taken
    }

    /// Takes the records before `cursor` out, but for the last ones while there is room.
    pub(super) fn release_upto(&mut self, cursor: u64) -> VecDeque<Arc<Record>> {
        let roomy = self.weight <= self.bytes / 2;
        let keep = if roomy { HISTORY.min(self.records / 2) } else { 0 };
        self.take_upto(cursor.min(self.next().saturating_sub(keep as u64)))
    }

    pub(super) fn depth(&self) -> Depth {
        Depth {
            records: self.kept.len(),
            bytes: self.weight,
            dropped: self.dropped,
            first: self.first,
            next: self.next(),
        }
    }

    /// Whether another note of this code is wanted.
    pub(super) fn wants_note(&mut self, code: &'static str) -> bool {
        match self.notes.iter_mut().find(|(c, _)| *c == code) {
            Some((_, n)) if *n >= NOTES_PER_CODE => return false,
            Some((_, n)) => *n += 1,
            None => self.notes.push((code, 1)),
        }
        true
    }

    /// Subscribers get every record, also those for which the log itself has no room. They are told under the lock, so
    /// that they see the order of the log.
    pub(super) fn write(&mut self, mut record: Arc<Record>) {
        if let Some(Record::Attempt(attempt)) = Arc::get_mut(&mut record) {
            attempt.seq = self.next_seq;
            self.next_seq += 1;
        }
        self.tally.count(&record);
        let heavier = self.weight + weight(&record);
        let cursor = if self.kept.len() < self.records && heavier <= self.bytes {
            self.weight = heavier;
            self.kept.push_back(Arc::clone(&record));
            Some(self.next() - 1)
        } else {
            self.dropped += 1;
            None
        };
        if let Some(live) = &self.live
            && live.send(Entry { cursor, record }).is_err()
        {
            self.live = None; // Nobody subscribes any more.
        }
    }

    /// Receives what is written from now on; ended at once when nothing will be.
    pub(super) fn follow(&mut self) -> broadcast::Receiver<Entry> {
        if self.closed {
            return broadcast::Sender::new(1).subscribe();
        }
        self.live.get_or_insert_with(|| broadcast::Sender::new(SUBSCRIPTION_LIMIT)).subscribe()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.live = None;
    }
}
