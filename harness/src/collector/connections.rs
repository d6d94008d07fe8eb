//! Which connections are open, and which one gives way when there are too many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The open connections. Connections that never sent a request give way to new ones, so that a flood of silent or
/// babbling ones cannot keep an exporter out.
pub(super) struct Connections {
    max: usize,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    next: u64,
    open: BTreeMap<u64, Arc<State>>,
}

#[derive(Default)]
struct State {
    requests: AtomicU64,
    evict: Notify,
}

/// The place of one connection; free again when dropped.
pub(super) struct Slot {
    id: u64,
    state: Arc<State>,
    inner: Arc<Mutex<Inner>>,
}

/// What became of a new connection.
pub(super) enum Admission {
    /// It has a place.
    Admitted(Slot),
    /// It has the place of another one, which is being closed.
    Instead(Slot),
    /// Every place is held by a connection that sends requests.
    Refused,
}

impl Connections {
    pub(super) fn new(max: usize) -> Self {
        Self { max, inner: Arc::default() }
    }

    pub(super) fn admit(&self) -> Admission {
        let mut inner = lock(&self.inner);
        let mut instead = false;
        if inner.open.len() >= self.max {
            let silent = inner.open.iter().find(|(_, s)| s.requests.load(Ordering::Relaxed) == 0).map(|(id, _)| *id);
            let Some(state) = silent.and_then(|id| inner.open.remove(&id)) else { return Admission::Refused };
            state.evict.notify_one();
            instead = true;
        }
        let id = inner.next;
        inner.next += 1;
        let state = Arc::<State>::default();
        inner.open.insert(id, Arc::clone(&state));
        let slot = Slot { id, state, inner: Arc::clone(&self.inner) };
        if instead { Admission::Instead(slot) } else { Admission::Admitted(slot) }
    }
}

impl Slot {
    /// Counts a request on this connection.
    pub(super) fn request(&self) {
        self.state.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Resolves when this connection has to give way.
    pub(super) async fn evicted(&self) {
        self.state.evict.notified().await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.inner).open.remove(&self.id);
    }
}

fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the limit the oldest connection without a request gives way, and its place can be given only once; when all
    /// have sent a request, a new one is refused until a place is free. Bound by identities, no time involved.
    #[tokio::test]
    async fn the_oldest_silent_connection_gives_way() {
        let connections = Connections::new(2);
        let Admission::Admitted(busy) = connections.admit() else { panic!("there is room for two") };
        let Admission::Admitted(silent) = connections.admit() else { panic!("there is room for two") };
        busy.request();
        let Admission::Instead(third) = connections.admit() else { panic!("the silent one must give way") };
        silent.evicted().await;
        drop(silent);
        third.request();
        assert!(matches!(connections.admit(), Admission::Refused), "both have sent a request");
        drop(busy);
        assert!(matches!(connections.admit(), Admission::Admitted(_)), "a place is free again");
    }
}
