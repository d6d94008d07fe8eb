//! The connections that live under a board: which set each of them runs, and how they hear of a new one.
//!
//! A new set is in force for every byte that is read after the swap, as whoever reads one asks [`Current`] before passing
//! it on. Connections where nothing moves hear of it by being woken, which takes some microseconds each: a crowd is woken
//! group by group on the runtime of its connections, so that neither the caller nor the traffic stands behind all of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::board::{ToxicBoard, ToxicSet};
use crate::sync::{locked, until};

/// Groups that connections are woken in.
const GROUPS: usize = 32;
/// Up to so many connections are woken by the caller himself, and are worth waiting for.
pub(crate) const FEW: usize = 64;

/// What the connections of a board share.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Epoch of the set in force. Written under the lock of the set.
    epoch: AtomicU64,
    /// How many connections run the set of each epoch.
    running: Mutex<BTreeMap<u64, usize>>,
    /// Told when an epoch is left by its last connection.
    moved: Notify,
    groups: [Notify; GROUPS],
    /// Group of the next connection, not yet reduced.
    next: AtomicUsize,
    /// Where the connections run.
    runtime: OnceLock<Handle>,
}

impl Live {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// From here on nothing that is read goes by an older set. To be called under the lock of the set.
    pub(super) fn swapped(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::SeqCst);
    }

    /// Makes every connection look at the set in force; returns before all of them have.
    pub(super) fn wake(self: &Arc<Self>) {
        let runtime = self.runtime.get().filter(|_| self.connections() > FEW);
        let Some(runtime) = runtime else {
            return self.groups.iter().for_each(Notify::notify_waiters);
        };
        let live = Arc::clone(self);
        runtime.spawn(async move {
            for group in &live.groups {
                group.notify_waiters();
                tokio::task::yield_now().await;
            }
        });
    }

    pub(super) fn connections(&self) -> usize {
        locked(&self.running).values().sum()
    }

    /// Waits until every connection runs the set of `epoch` or a later one; `false` when `within` is over first.
    pub(super) async fn settled(&self, epoch: u64, within: Duration) -> bool {
        let oldest = || locked(&self.running).keys().next().copied();
        until(&self.moved, within, || oldest().is_none_or(|oldest| oldest >= epoch)).await
    }

    /// A connection begins to live under `board`, whose part this is.
    pub(super) fn enter(&self, board: Arc<ToxicBoard>) -> Listening {
        if let Ok(runtime) = Handle::try_current() {
            let _ours = self.runtime.get_or_init(|| runtime);
        }
        let group = self.next.fetch_add(1, Ordering::Relaxed) % GROUPS;
        // Under the lock, so that `settled` either sees the connection or the connection sees the change.
        let mut running = locked(&self.running);
        let epoch = self.epoch();
        *running.entry(epoch).or_insert(0) += 1;
        drop(running);
        Listening { board, group, epoch }
    }

    /// Moves one connection on, or takes it out.
    fn shift(&self, from: u64, to: Option<u64>) {
        let mut running = locked(&self.running);
        if let Some(to) = to {
            *running.entry(to).or_insert(0) += 1;
        }
        if let Some(n) = running.get_mut(&from) {
            *n -= 1;
            if *n == 0 {
                running.remove(&from);
                drop(running);
                self.moved.notify_waiters();
            }
        }
    }
}

/// A live connection's view of its board.
#[derive(Debug)]
pub(crate) struct Listening {
    board: Arc<ToxicBoard>,
    group: usize,
    /// Epoch that the connection runs.
    epoch: u64,
}

impl Listening {
    /// Waits for a set that the connection does not run yet.
    pub(crate) async fn changed(&self) {
        let live = self.board.live();
        loop {
            let woken = live.groups[self.group].notified();
            tokio::pin!(woken);
            // Registered before looking, so that a change between the look and the wait is not missed.
            woken.as_mut().enable();
            if self.current().is_old() {
                return;
            }
            woken.await;
        }
    }

    /// The set in force.
    pub(crate) fn set(&self) -> Arc<ToxicSet> {
        self.board.current()
    }

    /// Says that the connection runs this set now.
    pub(crate) fn runs(&mut self, epoch: u64) {
        if epoch != self.epoch {
            self.board.live().shift(self.epoch, Some(epoch));
            self.epoch = epoch;
        }
    }

    pub(crate) fn board(&self) -> &ToxicBoard {
        &self.board
    }

    /// What the connection runs, for those who read its bytes.
    pub(crate) fn current(&self) -> Current<'_> {
        Current(Some((self.board.live(), self.epoch)))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.board.live().shift(self.epoch, None);
    }
}

/// The set that a connection runs. Whoever has read something asks before passing it on: what came after the swap of
/// the sets goes by the new one, and waits until that is put in force.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Current<'a>(Option<(&'a Live, u64)>);

impl Current<'_> {
    /// Without toxics, for good.
    pub(crate) const FREE: Self = Self(None);

    pub(crate) fn is_old(self) -> bool {
        self.0.is_some_and(|(live, epoch)| live.epoch() != epoch)
    }
}
