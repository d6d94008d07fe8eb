//! The toxics of one link: an immutable set that is swapped as a whole. Connections hear of a change and say when they
//! run the new set; nothing here ever waits for their data.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::chain::Line;
use super::live::{Listening, Live};
use super::spec::{Direction, Toxic};
use super::witness::Witness;
use crate::clock::Clock;
use crate::log::Log;
use crate::sync::locked;

/// Toxics that one link may have at a time.
pub const MAX_TOXICS: usize = 256;

/// The toxics of one link.
#[derive(Debug)]
pub struct ToxicBoard {
    seed: u64,
    quirks: bool,
    next_id: AtomicU64,
    next_conn: AtomicU64,
    set: Mutex<Arc<ToxicSet>>,
    live: Arc<Live>,
    witness: OnceLock<Witness>,
}

/// A set in force.
#[derive(Debug, Default)]
pub(crate) struct ToxicSet {
    /// Grows by one with every change.
    pub(crate) epoch: u64,
    /// In the order they were added.
    pub(crate) entries: Vec<Arc<Entry>>,
}

/// A toxic in force.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) toxic: Toxic,
    /// Survives updates.
    pub(crate) id: u64,
    /// Epoch of its last change; what a connection holds back for an older version is let go.
    pub(crate) version: u64,
    /// Part of the draw of its toxicity. 0 but with Toxiproxy's quirks, where updates and neighbours draw again.
    pub(crate) redraw: u64,
    /// What all connections of the link share, where the toxic limits them together.
    pub(crate) line: Arc<Line>,
}

impl Entry {
    pub(crate) fn new(toxic: Toxic, id: u64, redraw: u64) -> Self {
        Self { toxic, id, version: 0, redraw, line: Arc::default() }
    }
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The toxic after it, or as it was removed.
    pub toxic: Toxic,
    /// Epoch of the set since then; see [`ToxicBoard::settled`].
    pub epoch: u64,
}

/// Why the toxics of a link cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToxicError {
    /// The name is taken, in either direction.
    #[error("there is a toxic `{0}` already; names are unique over both directions of a link")]
    Duplicate(String),
    /// No toxic has this name.
    #[error("there is no toxic `{0}`")]
    Unknown(String),
    /// Too many.
    #[error("a link may have {limit} toxics at a time; remove one first")]
    TooMany {
        /// The limit.
        limit: usize,
    },
}

impl ToxicBoard {
    /// A link's toxics. `seed` decides every draw; `quirks` brings back the switchable oddities of Toxiproxy.
    ///
    /// # Errors
    /// When two toxics have one name, or there are too many.
    pub fn new(seed: u64, quirks: bool, toxics: impl IntoIterator<Item = Toxic>) -> Result<Self, ToxicError> {
        let board = Self {
            seed,
            quirks,
            next_id: AtomicU64::new(0),
            next_conn: AtomicU64::new(0),
            set: Mutex::default(),
            live: Arc::default(),
            witness: OnceLock::new(),
        };
        for toxic in toxics {
            board.add(toxic)?;
        }
        Ok(board)
    }

    /// Adds a toxic behind those of its direction. It works on live connections too.
    ///
    /// # Errors
    /// When its name is taken, or there are too many.
    pub fn add(&self, toxic: Toxic) -> Result<Change, ToxicError> {
        self.change(|entries, epoch| {
            if entries.iter().any(|e| e.toxic.name == toxic.name) {
                return Err(ToxicError::Duplicate(toxic.name));
            }
            if entries.len() >= MAX_TOXICS {
                return Err(ToxicError::TooMany { limit: MAX_TOXICS });
            }
            self.redraw_last(entries, toxic.direction(), epoch);
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            entries.push(Arc::new(Entry { version: epoch, ..Entry::new(toxic.clone(), id, 0) }));
            Ok(toxic)
        })
    }

    /// Changes kind and toxicity of a toxic in one step; its name and stream stay as they are. What it holds back on a
    /// live connection is let go as that hears of the change.
    ///
    /// # Errors
    /// When there is no such toxic, or `change` refuses; nothing is changed then.
    pub fn update<E>(&self, name: &str, change: impl FnOnce(&mut Toxic) -> Result<(), E>) -> Result<Change, E>
    where
        E: From<ToxicError>,
    {
        self.change(|entries, epoch| {
            let entry = entries.iter_mut().find(|e| e.toxic.name == name);
            let entry = entry.ok_or_else(|| ToxicError::Unknown(name.to_owned()))?;
            let mut wanted = entry.toxic.clone();
            change(&mut wanted)?;
            let toxic = Toxic { kind: wanted.kind, toxicity: wanted.toxicity, ..entry.toxic.clone() };
            let redraw = if self.quirks { epoch } else { entry.redraw };
            *entry = Arc::new(Entry { version: epoch, ..Entry::new(toxic.clone(), entry.id, redraw) });
            Ok(toxic)
        })
    }

    /// Removes a toxic. What it holds back on a live connection is let go as that hears of the change.
    ///
    /// # Errors
    /// When there is no such toxic.
    pub fn remove(&self, name: &str) -> Result<Change, ToxicError> {
        self.change(|entries, epoch| {
            let at = entries.iter().position(|e| e.toxic.name == name);
            let at = at.ok_or_else(|| ToxicError::Unknown(name.to_owned()))?;
            let direction = entries[at].toxic.direction();
            self.redraw_last(&mut entries[..at], direction, epoch);
            Ok(entries.remove(at).toxic.clone())
        })
    }

    /// Removes all toxics in one step; returns the epoch of the set since then.
    pub fn clear(&self) -> u64 {
        self.retain(|_| false)
    }

    /// Removes all toxics that `keep` does not want, in one step; returns the epoch of the set since then.
    pub fn retain(&self, keep: impl Fn(&Toxic) -> bool) -> u64 {
        let set = locked(&self.set);
        let entries: Vec<_> = set.entries.iter().filter(|e| keep(&e.toxic)).cloned().collect();
        if entries.len() == set.entries.len() {
            return set.epoch;
        }
        let epoch = set.epoch + 1;
        self.swap(set, ToxicSet { epoch, entries });
        epoch
    }

    /// All toxics, in the order they were added.
    #[must_use]
    pub fn list(&self) -> Vec<Toxic> {
        self.current().entries.iter().map(|e| e.toxic.clone()).collect()
    }

    /// What Toxiproxy's arrays show: its own types only, first upstream, then downstream, each in the order they were
    /// added.
    #[must_use]
    pub fn list_toxiproxy(&self) -> Vec<Toxic> {
        let mut shown = self.list();
        shown.retain(|t| t.kind.is_toxiproxy());
        shown.sort_by_key(Toxic::direction);
        shown
    }

    /// The toxic with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Toxic> {
        self.current().entries.iter().find(|e| e.toxic.name == name).map(|e| e.toxic.clone())
    }

    /// Epoch of the set in force; it grows with every change.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.live.epoch()
    }

    /// Waits until every live connection runs the set of `epoch` or a later one; `false` when `within` is over first.
    pub async fn settled(&self, epoch: u64, within: Duration) -> bool {
        self.live.settled(epoch, within).await
    }

    /// Connections that live under it.
    pub(crate) fn connections(&self) -> usize {
        self.live.connections()
    }

    pub(super) fn live(&self) -> &Live {
        &self.live
    }

    /// The set in force.
    pub(crate) fn current(&self) -> Arc<ToxicSet> {
        Arc::clone(&locked(&self.set))
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn has_quirks(&self) -> bool {
        self.quirks
    }

    /// Writes into the log what is on the link, and every change from now on. To be called before the link is used.
    pub(crate) fn witnessed(&self, link: &str, log: &Log, clock: Clock) {
        let witness = Witness::new(link.to_owned(), log.clone(), clock);
        witness.saw(&ToxicSet::default(), &self.current());
        // A board belongs to one link; a second witness would say the same.
        let _told = self.witness.set(witness);
    }

    /// Puts a set in force. The log is written under the lock, so that it has the changes in their order.
    fn swap(&self, mut set: MutexGuard<'_, Arc<ToxicSet>>, next: ToxicSet) {
        if let Some(witness) = self.witness.get() {
            witness.saw(&set, &next);
        }
        self.live.swapped(next.epoch);
        let before = std::mem::replace(&mut *set, Arc::new(next));
        drop(set);
        drop(before);
        self.live.wake();
    }

    /// Number of the link's next connection, from 0: what its draws are made with.
    pub(crate) fn next_conn(&self) -> u64 {
        self.next_conn.fetch_add(1, Ordering::Relaxed)
    }

    /// A connection begins to live under this board.
    pub(crate) fn enter(self: &Arc<Self>) -> Listening {
        self.live.enter(Arc::clone(self))
    }

    /// Toxiproxy starts the toxic before an added or removed one again, which draws its toxicity again.
    fn redraw_last(&self, entries: &mut [Arc<Entry>], direction: Direction, epoch: u64) {
        if !self.quirks {
            return;
        }
        if let Some(last) = entries.iter_mut().rev().find(|e| e.toxic.direction() == direction) {
            *last = Arc::new(Entry { redraw: epoch, ..last.as_ref().clone() });
        }
    }

    fn change<E>(&self, edit: impl FnOnce(&mut Vec<Arc<Entry>>, u64) -> Result<Toxic, E>) -> Result<Change, E> {
        let set = locked(&self.set);
        let epoch = set.epoch + 1;
        let mut entries = set.entries.clone();
        let toxic = edit(&mut entries, epoch)?;
        self.swap(set, ToxicSet { epoch, entries });
        Ok(Change { toxic, epoch })
    }
}
