//! Gates: calls that a rule holds until they are released by command.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use evidence::At;
use tokio::sync::Notify;
use tokio::sync::oneshot;

use crate::sync::locked;

/// A call, or a connection, that waits at a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The link it arrived on.
    pub link: String,
    /// The connection that carries it.
    pub conn: u64,
    /// Its key.
    pub key: Option<String>,
    /// Its ordinal within the key; 0 for a connection held before any request.
    pub ordinal: u32,
    /// Method; empty for a connection.
    pub method: String,
    /// Target; empty for a connection.
    pub path: String,
    /// When it reached the gate.
    pub since: At,
}

/// How a call came through a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// By command, or because the rule was disarmed.
    Released,
    /// Its time was over.
    TimedOut,
}

/// The gate of one armed rule.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    open_for_good: bool,
    next_ticket: u64,
    waiting: BTreeMap<u64, (Held, oneshot::Sender<()>)>,
}

impl Gate {
    /// Waits until released. Dropping the future (the client left) takes the call away from the gate.
    pub(crate) async fn pass(&self, held: Held, at_most: Duration) -> Passage {
        let (release, released) = oneshot::channel();
        let ticket = {
            let mut state = locked(&self.state);
            if state.open_for_good {
                return Passage::Released;
            }
            let ticket = state.next_ticket;
            state.next_ticket += 1;
            state.waiting.insert(ticket, (held, release));
            ticket
        };
        self.changed.notify_waiters();
        let _leave = Leave { gate: self, ticket };
        match tokio::time::timeout(at_most, released).await {
            Ok(_) => Passage::Released,
            Err(_) => Passage::TimedOut,
        }
    }

    /// Who waits, in the order they came.
    pub(crate) fn held(&self) -> Vec<Held> {
        locked(&self.state).waiting.values().map(|(held, _)| held.clone()).collect()
    }

    /// Releases the `n` that wait longest; returns how many there were.
    pub(crate) fn release(&self, n: usize) -> usize {
        let mut state = locked(&self.state);
        let mut released = 0;
        while released < n {
            let Some((_, (_, release))) = state.waiting.pop_first() else { break };
            // A call whose client has just left is gone, not released.
            released += usize::from(release.send(()).is_ok());
        }
        drop(state);
        self.changed.notify_waiters();
        released
    }

    /// Releases all, now and from now on.
    pub(crate) fn open_for_good(&self) {
        locked(&self.state).open_for_good = true;
        self.release(usize::MAX);
    }

    /// Wakes [`Gate::until`] after something that its condition looks at has changed.
    pub(crate) fn touch(&self) {
        self.changed.notify_waiters();
    }

    /// Waits until `holds`, looking again whenever something changed at the gate; `false` when the time is over.
    pub(crate) async fn until(&self, within: Duration, holds: impl Fn() -> bool) -> bool {
        crate::sync::until(&self.changed, within, holds).await
    }
}

struct Leave<'a> {
    gate: &'a Gate,
    ticket: u64,
}

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        if locked(&self.gate.state).waiting.remove(&self.ticket).is_some() {
            self.gate.changed.notify_waiters();
        }
    }
}
