//! The processes' canary: how long the service waited for a processor while a scenario ran.
//!
//! The echoes of [`Canary`](super::Canary) tell how late the harness was served. A scheduler can serve it and keep the service waiting: a
//! service of a lower class or in a smaller share, or one that sits on the busier processor. Linux counts for each thread how long it was ready to run
//! and did not. That is read every 25 ms, by a thread of its own; nothing is asked of the service.
//!
//! The count grows when a thread gets its processor. So one wait of 300 ms shows as one leap between two samples, and one that lasts when the
//! scenario ends is not seen. Short waits between two samples add up; they cannot make up more than the time between them.
//!
//! Where the system does not tell, there is no reading, and nothing is claimed.

mod family;
mod schedstat;

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use judge::evidence::{At, Canary as Reading};

use self::family::Family;
use super::Histogram;
use crate::clock::Clock;

/// Rest between two samples: less than half of the default noise bound, so that short waits that add up are no long one.
const REST: Duration = Duration::from_millis(25);

/// Samples the processes that it is told of until it is stopped or dropped.
#[derive(Debug)]
pub struct WaitCanary {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    watched: BTreeMap<String, Watched>,
    over: bool,
}

/// What is known of one name: its process now, and the waits of all that had it.
#[derive(Debug, Default)]
struct Watched {
    family: Option<Family>,
    waits: Histogram,
    max_ns: u64,
    worst_at: At,
}

impl WaitCanary {
    /// Starts it, with nobody to watch yet.
    ///
    /// # Errors
    /// When its thread cannot be made.
    pub fn start(clock: Clock) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        thread::Builder::new().name("canary-waits".to_owned()).spawn(move || sing(clock, &of_thread))?;
        Ok(Self { state })
    }

    /// Watches a process and what it starts. Another process of the same name was restarted as this one: the waits of both
    /// count. One that is watched already stays so.
    pub fn watch(&self, name: &str, pid: u32) {
        let mut state = lock(&self.state);
        let watched = state.watched.entry(name.to_owned()).or_default();
        if watched.family.as_ref().is_none_or(|family| family.root() != pid) {
            watched.family = Some(Family::of(pid));
        }
    }

    /// Ends it and returns a reading for each name of which the system told anything.
    #[must_use]
    pub fn stop(self) -> Vec<Reading> {
        let state = lock(&self.state);
        let told = state.watched.iter().filter(|(_, watched)| watched.waits.count() > 0);
        told.map(|(name, watched)| watched.reading(name)).collect()
    }
}

impl Drop for WaitCanary {
    fn drop(&mut self) {
        lock(&self.state).over = true;
    }
}

impl Watched {
    /// Takes another sample, if the process is still there and the system tells of it.
    fn sample(&mut self, clock: Clock) {
        let Some(family) = &mut self.family else { return };
        let Some(longest) = family.longest_wait() else { return };
        let now = clock.now();
        self.waits.put(longest);
        if longest >= self.max_ns {
            (self.max_ns, self.worst_at) = (longest, At(now.0.saturating_sub(longest)));
        }
    }

    fn reading(&self, name: &str) -> Reading {
        Reading {
            process: Some(name.to_owned()),
            samples: self.waits.count(),
            max_ns: self.max_ns,
            p99_ns: self.waits.quantile(0.99).min(self.max_ns),
            worst_at: self.worst_at,
        }
    }
}

fn sing(clock: Clock, state: &Mutex<State>) {
    loop {
        {
            let mut state = lock(state);
            if state.over {
                return;
            }
            state.watched.values_mut().for_each(|watched| watched.sample(clock));
        }
        thread::sleep(REST);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
