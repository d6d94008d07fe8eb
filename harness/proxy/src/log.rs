//! The event log: bounded, with a drop counter that a verdict must look at.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use judge::evidence::{At, Attempt, Connection, Note, NoteWeight, Record};
use tokio::sync::broadcast;

use crate::sync::locked;

/// Records that a subscription may lag behind before it loses some.
pub const SUBSCRIPTION_LIMIT: usize = 16_384;
/// Notes of one code that are kept; each code says the same thing again after that.
const NOTES_PER_CODE: usize = 10;

/// A handle of a proxy's event log. Clones share the log, which outlives the proxy.
#[derive(Debug, Clone)]
pub struct Log {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limit: usize,
    state: Mutex<State>,
    live: broadcast::Sender<Arc<Record>>,
}

#[derive(Debug, Default)]
struct State {
    /// Cursor of the first record in `kept`.
    first: u64,
    kept: VecDeque<Arc<Record>>,
    /// Sequence number of the next attempt.
    next_seq: u64,
    dropped: u64,
    notes: VecDeque<(&'static str, usize)>,
}

/// Records from a cursor on.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The records, in the order they were written.
    pub records: Vec<Arc<Record>>,
    /// The cursor behind the last of them.
    pub next: u64,
    /// Records between the asked cursor and the first returned that were drained by someone else.
    pub missed: u64,
}

/// One thing that a subscription receives.
#[derive(Debug, Clone)]
pub enum Event {
    /// A record.
    Record(Arc<Record>),
    /// The subscriber was too slow: this many records were lost to it. They are still in the log.
    Lagged(u64),
}

/// Receives records as they are written.
#[derive(Debug)]
pub struct Subscription {
    live: broadcast::Receiver<Arc<Record>>,
}

impl Log {
    pub(crate) fn new(limit: usize) -> Self {
        let shared = Shared { limit, state: Mutex::default(), live: broadcast::Sender::new(SUBSCRIPTION_LIMIT) };
        Self { shared: Arc::new(shared) }
    }

    /// The records from `cursor` on; 0 is the beginning, and [`Page::next`] is the cursor to ask with again.
    #[must_use]
    pub fn since(&self, cursor: u64) -> Page {
        let state = locked(&self.shared.state);
        let skip = cursor.saturating_sub(state.first);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(state.kept.len());
        Page {
            records: state.kept.iter().skip(skip).cloned().collect(),
            next: state.first + state.kept.len() as u64,
            missed: state.first.saturating_sub(cursor),
        }
    }

    /// Takes all records out, which makes room for as many again.
    #[must_use]
    pub fn drain(&self) -> Vec<Record> {
        let kept = {
            let mut state = locked(&self.shared.state);
            state.first += state.kept.len() as u64;
            std::mem::take(&mut state.kept)
        };
        kept.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// Receives the records that are written from now on.
    #[must_use]
    pub fn subscribe(&self) -> Subscription {
        Subscription { live: self.shared.live.subscribe() }
    }

    /// How many records were dropped because the log was full. Anything but 0 spoils the evidence; the sequence
    /// numbers of the attempts then have gaps where attempts were dropped.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        locked(&self.shared.state).dropped
    }

    /// How many records are kept now.
    #[must_use]
    pub fn len(&self) -> usize {
        locked(&self.shared.state).kept.len()
    }

    /// Whether no record is kept now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn attempt(&self, mut attempt: Attempt) {
        let mut state = locked(&self.shared.state);
        attempt.seq = state.next_seq;
        state.next_seq += 1;
        self.write(&mut state, Record::Attempt(attempt));
    }

    pub(crate) fn connection(&self, connection: Connection) {
        self.write(&mut locked(&self.shared.state), Record::Connection(connection));
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
        let mut state = locked(&self.shared.state);
        match state.notes.iter_mut().find(|(c, _)| *c == code) {
            Some((_, n)) if *n >= NOTES_PER_CODE => return,
            Some((_, n)) => *n += 1,
            None => state.notes.push_back((code, 1)),
        }
        self.write(&mut state, Record::Note(Note { at, weight, code: code.to_owned(), text }));
    }

    /// Subscribers get every record, also those for which the log itself has no room. They are told under the lock, so
    /// that they see the order of the log.
    fn write(&self, state: &mut State, record: Record) {
        let record = Arc::new(record);
        if state.kept.len() < self.shared.limit {
            state.kept.push_back(Arc::clone(&record));
        } else {
            state.dropped += 1;
        }
        // An error says that nobody subscribes.
        let _nobody = self.shared.live.send(record);
    }
}

impl Subscription {
    /// The next record; `None` when the log and its proxy are gone.
    pub async fn recv(&mut self) -> Option<Event> {
        match self.live.recv().await {
            Ok(record) => Some(Event::Record(record)),
            Err(broadcast::error::RecvError::Lagged(n)) => Some(Event::Lagged(n)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }

    /// The next record if one is waiting.
    #[must_use]
    pub fn try_recv(&mut self) -> Option<Event> {
        match self.live.try_recv() {
            Ok(record) => Some(Event::Record(record)),
            Err(broadcast::error::TryRecvError::Lagged(n)) => Some(Event::Lagged(n)),
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => None,
        }
    }
}
