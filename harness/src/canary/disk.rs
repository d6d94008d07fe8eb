//! The disk's canary: how long a small durable write takes while a scenario runs.
//!
//! A service that keeps its promises on disk is as slow as the disk, and neither timers nor loopback show it: on a machine
//! that also compiles, a `fsync` of a few bytes was seen to take a second. It runs where rates are judged, and there only: in
//! a battery of overlapping scenarios it would itself be the load.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use judge::evidence::Disk as Reading;

/// Rest between two writes.
const REST: Duration = Duration::from_millis(40);
/// Bytes of a write: a page of most databases and file systems.
const PAGE: [u8; 4096] = [0; 4096];

/// Writes and syncs a file of its own until it is stopped or dropped.
#[derive(Debug)]
pub struct DiskCanary {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    writes: u64,
    longest: Duration,
    /// When the write that is under way began; stays when it fails.
    since: Option<Instant>,
    over: bool,
}

impl DiskCanary {
    /// Starts it, with a file of its own in `folder`.
    ///
    /// # Errors
    /// When the file or the thread cannot be made.
    pub fn start(folder: &Path) -> io::Result<Self> {
        let path = folder.join("canary.disk");
        let file = OpenOptions::new().create(true).truncate(true).write(true).open(&path)?;
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        thread::Builder::new().name("canary-disk".to_owned()).spawn(move || sing(file, &of_thread))?;
        Ok(Self { path, state })
    }

    /// Ends it and returns the longest write. One that is under way, or that failed, counts with its time up to now.
    #[must_use]
    pub fn stop(self) -> Reading {
        let state = lock(&self.state);
        let unfinished = state.since.map(|since| since.elapsed()).unwrap_or_default();
        let longest = state.longest.max(unfinished);
        Reading { writes: state.writes, max_ns: u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX) }
    }
}

impl Drop for DiskCanary {
    fn drop(&mut self) {
        lock(&self.state).over = true;
        // Nobody reads it; where it cannot be removed it is an empty page in the run folder.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn sing(mut file: File, state: &Mutex<State>) {
    loop {
        let since = Instant::now();
        {
            let mut state = lock(state);
            if state.over {
                return;
            }
            state.since = Some(since);
        }
        let written = file.rewind().and_then(|()| file.write_all(&PAGE)).and_then(|()| file.sync_data());
        if written.is_err() {
            return;
        }
        {
            let mut state = lock(state);
            state.since = None;
            state.writes += 1;
            state.longest = state.longest.max(since.elapsed());
        }
        thread::sleep(REST);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a write is measured, that one which does not end counts, and that nothing is left behind.
    #[test]
    fn writes_are_measured() {
        let folder = std::env::temp_dir().join(format!("disk-canary-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let canary = DiskCanary::start(&folder).unwrap();
        while lock(&canary.state).longest.is_zero() {
            thread::sleep(Duration::from_millis(1));
        }
        let reading = canary.stop();
        assert!(reading.writes > 0 && reading.max_ns > 0, "{reading:?}");
        let hung = State { since: Some(Instant::now() - Duration::from_secs(9)), ..State::default() };
        let hung = DiskCanary { path: folder.join("none"), state: Arc::new(Mutex::new(hung)) };
        assert!(hung.stop().max_ns >= 9_000_000_000);
        std::fs::remove_dir(folder).expect("an empty folder");
    }
}
