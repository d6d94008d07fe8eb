//! The event log: bounded in records and in bytes, with a drop counter that a verdict must look at.
//!
//! Writers take one lock for the time of a push. Readers clone references, a page at a time, and are never waited for.

mod book;
mod follow;
pub(crate) mod lines;
mod tally;
mod weight;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evidence::{At, Attempt, Connection, FaultEdge, Note, NoteWeight, Record};
use tokio::sync::Notify;

use crate::sync::{locked, until};
use book::Book;
pub(crate) use follow::Entry;
pub use follow::{Event, SUBSCRIPTION_LIMIT, Subscription};
pub(crate) use tally::{Tally, end_word};

/// The most records that [`Log::page`] gives at once.
pub const MAX_PAGE: usize = 10_000;

/// Records that [`Log::release_upto`] leaves to other readers at most.
pub const HISTORY: usize = 16_384;

/// A handle of a proxy's event log. Clones share the log, which outlives the proxy.
#[derive(Debug, Clone)]
pub struct Log {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    book: Mutex<Book>,
    grown: Notify,
    /// How many wait for `grown`: nobody is told when there is nobody to tell.
    waiting: AtomicUsize,
}

/// Records from a cursor on.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The records, in the order they were written.
    pub records: Vec<Arc<Record>>,
    /// The cursor of the first of them.
    pub first: u64,
    /// The cursor behind the last of them.
    pub next: u64,
    /// Records between the asked cursor and the first returned that were drained by someone else.
    pub missed: u64,
}

/// How full a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Records kept now.
    pub records: usize,
    /// Their weight in bytes of memory, closely estimated.
    pub bytes: usize,
    /// Records dropped because there was no room, from the start.
    pub dropped: u64,
    /// The cursor of the oldest record kept.
    pub first: u64,
    /// The cursor behind the newest.
    pub next: u64,
}

impl Log {
    pub(crate) fn new(records: usize, bytes: usize) -> Self {
        let book = Mutex::new(Book::new(records, bytes));
        Self { shared: Arc::new(Shared { book, grown: Notify::new(), waiting: AtomicUsize::new(0) }) }
    }

    /// All records from `cursor` on; 0 is the beginning, and [`Page::next`] is the cursor to ask with again. For long
    /// logs use [`Log::page`].
    #[must_use]
    pub fn since(&self, cursor: u64) -> Page {
        locked(&self.shared.book).page(cursor, usize::MAX)
    }

    /// At most `limit` records from `cursor` on (and at most [`MAX_PAGE`]). Costs what the page costs, however long the
    /// log is.
    #[must_use]
    pub fn page(&self, cursor: u64, limit: usize) -> Page {
        locked(&self.shared.book).page(cursor, limit.min(MAX_PAGE))
    }

    /// Like [`Log::page`], but waits up to `within` for the first record when there is none yet. An empty page says that
    /// the time is over, or that the proxy is.
    pub async fn wait_since(&self, cursor: u64, limit: usize, within: Duration) -> Page {
        let page = self.page(cursor, limit);
        if !page.records.is_empty() || within.is_zero() {
            return page;
        }
        let _counted = Waiting::at(&self.shared.waiting);
        let there = || {
            let book = locked(&self.shared.book);
            book.next() > cursor || book.is_closed()
        };
        // Whether in time or not: the page shows it.
        let _grown = until(&self.shared.grown, within, there).await;
        self.page(cursor, limit)
    }

    /// Takes all records out, which makes room for as many again.
    #[must_use]
    pub fn drain(&self) -> Vec<Record> {
        let kept = locked(&self.shared.book).take_upto(u64::MAX);
        kept.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// Takes the records before `cursor` out, which makes room for as many again; returns how many there were.
    pub fn drain_upto(&self, cursor: u64) -> usize {
        let gone = locked(&self.shared.book).take_upto(cursor);
        // Freed here, where no lock is held.
        gone.len()
    }

    /// Like [`Log::drain_upto`], for a reader beside others: it leaves them the last records, [`HISTORY`] at most, as long
    /// as the log has room for as much again.
    pub fn release_upto(&self, cursor: u64) {
        let gone = locked(&self.shared.book).release_upto(cursor);
        drop(gone);
    }

    /// Receives the records that are written from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        Subscription::new(locked(&self.shared.book).follow())
    }

    /// How many records were dropped because the log was full. Anything but 0 spoils the evidence; the sequence
    /// numbers of the attempts then have gaps where attempts were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.depth().dropped
    }

    /// How full it is.
    #[must_use]
    pub fn depth(&self) -> Depth {
        locked(&self.shared.book).depth()
    }

    /// How many records are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.depth().records
    }

    /// Whether no record is kept now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was written so far, counted: also what was dropped or drained.
    pub(crate) fn tally(&self) -> Tally {
        locked(&self.shared.book).tally.clone()
    }

    /// Says that nothing more will be written: subscriptions and waits end once they have the rest.
    pub(crate) fn close(&self) {
        locked(&self.shared.book).close();
        self.shared.grown.notify_waiters();
    }

    pub(crate) fn attempt(&self, attempt: Attempt) {
        self.write(Record::Attempt(attempt));
    }

    pub(crate) fn connection(&self, connection: Connection) {
        self.write(Record::Connection(connection));
    }

    /// Writes that a fault came into force, changed or went out of force.
    pub(crate) fn edge(&self, edge: FaultEdge) {
        self.write(Record::Edge(edge));
    }

    /// Writes a note that spoils a passing verdict: evidence is missing.
    pub(crate) fn spoil(&self, at: At, code: &'static str, text: String) {
        self.note(at, NoteWeight::Spoils, code, text);
    }

    /// Writes a note that only explains.
    pub(crate) fn remark(&self, at: At, code: &'static str, text: String) {
        self.note(at, NoteWeight::Info, code, text);
    }

    fn note(&self, at: At, weight: NoteWeight, code: &'static str, text: String) {
        if locked(&self.shared.book).wants_note(code) {
            self.write(Record::Note(Note { at, weight, code: code.to_owned(), text }));
        }
    }

    fn write(&self, record: Record) {
        // Allocated before the lock is taken; the number of an attempt is set under it.
        let record = Arc::new(record);
        let tell = {
            let mut book = locked(&self.shared.book);
            book.write(record);
            self.shared.waiting.load(Ordering::Acquire) > 0
        };
        if tell {
            self.shared.grown.notify_waiters();
        }
    }
}

/// Counts one waiting reader while it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// Counted before the reader looks: a writer that does not see it wrote before that look.
    fn at(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
pub(crate) mod tests;
