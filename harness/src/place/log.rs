//! What a process prints: to a bounded file, and the last lines in memory for errors.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

use super::announce::Announcement;
use super::error::LogExcerpt;

/// Lines kept in memory.
const TAIL_LINES: usize = 200;
/// Lines shown in an error.
pub(super) const EXCERPT_LINES: usize = 20;
/// A longer line is cut into pieces of this size.
const MAX_LINE_BYTES: usize = 16 << 10;

/// What a process has printed so far. Clones look at the same log.
#[derive(Debug, Clone)]
pub struct ServiceLog {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: Option<PathBuf>,
    state: Mutex<State>,
    closed: Condvar,
}

#[derive(Debug)]
struct State {
    file: Option<File>,
    room: u64,
    left_out: u64,
    problem: Option<String>,
    tail: VecDeque<String>,
    open: bool,
}

/// The line to look for, and where to tell it: `Some(address)` once it was seen.
pub(super) type Watch = (Announcement, watch::Sender<Option<Option<String>>>);

impl ServiceLog {
    /// A log that keeps `limit` bytes in a file at `path` (made with its directories, appended to), or only a tail.
    pub(super) fn open(path: Option<&Path>, limit: u64) -> io::Result<Self> {
        let file = path.map(open_file).transpose()?;
        let used = file.as_ref().map_or(Ok(0), |f| f.metadata().map(|m| m.len()))?;
        let state = State {
            file,
            room: limit.saturating_sub(used),
            left_out: 0,
            problem: None,
            tail: VecDeque::new(),
            open: true,
        };
        let path = path.map(Path::to_owned);
        Ok(Self { inner: Arc::new(Inner { path, state: Mutex::new(state), closed: Condvar::new() }) })
    }

    /// Takes over the reading end: everything that arrives goes to the log until all writers are gone. A thread, not a
    /// task: a process must not block on a full pipe because our runtime is busy, and its last words are kept even when
    /// the runtime is already gone.
    pub(super) fn pump(&self, from: PipeReader, watch: Option<Watch>) -> io::Result<()> {
        let log = self.clone();
        thread::Builder::new().name("child-log".to_owned()).spawn(move || log.run(from, watch))?;
        Ok(())
    }

    /// Adds a line of our own to the file, so that its reader sees what the harness did to the process.
    pub(super) fn remark(&self, text: &str) {
        self.lock().write(format!("[harness] {text}\n").as_bytes());
    }

    /// The last lines, oldest first, at most `lines` and at most 200.
    #[must_use]
    pub fn tail(&self, lines: usize) -> Vec<String> {
        let state = self.lock();
        state.tail.iter().skip(state.tail.len().saturating_sub(lines)).cloned().collect()
    }

    /// The file, if there is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// What the file lacks, for a note in the evidence: lines beyond its limit, or a failed write.
    #[must_use]
    pub fn incomplete(&self) -> Option<String> {
        let state = self.lock();
        let limit =
            (state.left_out > 0).then(|| format!("{} bytes beyond the log's limit were left out", state.left_out));
        state.problem.clone().or(limit)
    }

    pub(super) fn excerpt(&self) -> Box<LogExcerpt> {
        Box::new(LogExcerpt { path: self.inner.path.clone(), lines: self.tail(EXCERPT_LINES) })
    }

    /// Blocks until the last writer is gone and all of it was read, at most for `patience`: a stray grandchild may hold
    /// the pipe open.
    pub(super) fn wait_closed(&self, patience: Duration) {
        let state = self.lock();
        drop(self.inner.closed.wait_timeout_while(state, patience, |s| s.open));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut from: PipeReader, mut watch: Option<Watch>) {
        let mut chunk = vec![0; 8 << 10];
        let mut line = Vec::new();
        loop {
            match from.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => {
                    for byte in &chunk[..n] {
                        line.push(*byte);
                        if *byte == b'\n' || line.len() >= MAX_LINE_BYTES {
                            self.take(&mut line, &mut watch);
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.lock().problem.get_or_insert(format!("its output could not be read: {error}"));
                    break;
                }
            }
        }
        if !line.is_empty() {
            self.take(&mut line, &mut watch);
        }
        self.lock().open = false;
        self.inner.closed.notify_all();
    }

    fn take(&self, line: &mut Vec<u8>, watch: &mut Option<Watch>) {
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let text = self.lock().put(line);
        line.clear();
        if let Some((announcement, tell)) = watch
            && let Some(address) = announcement.find(&text)
        {
            tell.send_replace(Some(address));
            *watch = None;
        }
    }
}

impl State {
    /// Keeps one line, which ends in a newline, and returns its text.
    fn put(&mut self, line: &[u8]) -> String {
        self.write(line);
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        if self.tail.len() == TAIL_LINES {
            self.tail.pop_front();
        }
        self.tail.push_back(text.clone());
        text
    }

    fn write(&mut self, line: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let bytes = line.len() as u64;
        let written = if self.left_out == 0 && bytes <= self.room {
            self.room -= bytes;
            file.write_all(line)
        } else {
            self.left_out += bytes;
            let first = self.left_out == bytes;
            if first {
                file.write_all(b"[harness] the log's limit is reached; later lines are left out\n")
            } else {
                Ok(())
            }
        };
        if let Err(error) = written {
            // The process goes on; what is lost is said in the evidence.
            self.problem = Some(format!("the log could not be written: {error}"));
            self.file = None;
        }
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::{EXCERPT_LINES, ServiceLog, TAIL_LINES};
    use std::io::Write as _;
    use std::time::Duration;

    fn filled(limit: u64, path: Option<&std::path::Path>, text: &[u8]) -> ServiceLog {
        let log = ServiceLog::open(path, limit).expect("a log");
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        log.pump(reader, None).expect("a thread");
        writer.write_all(text).expect("room");
        drop(writer);
        log.wait_closed(Duration::from_secs(30));
        log
    }

    // Proves that memory is bounded by a number of lines, and that an unfinished last line and bytes that are no
    // text are kept, too.
    #[test]
    fn the_tail_is_bounded_and_keeps_the_last_words() {
        let mut text: Vec<u8> = (0..1000).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        text.extend_from_slice(b"last \xff words");
        let log = filled(0, None, &text);
        assert_eq!(log.tail(usize::MAX).len(), TAIL_LINES);
        assert_eq!(log.excerpt().lines.len(), EXCERPT_LINES);
        assert_eq!(log.tail(2), ["line 999", "last \u{fffd} words"]);
        assert_eq!(log.incomplete(), None, "a log without a file has no limit to exceed");
    }

    // Proves that the file stops at its limit on a line boundary, says so once, and that the loss is reported with
    // its size. Bounded by exact bytes.
    #[test]
    fn the_file_stops_at_its_limit_and_says_so() {
        let path = std::env::temp_dir().join(format!("place-log-{}.log", uuid::Uuid::new_v4()));
        let log = filled(12, Some(&path), b"one\ntwo\nthree\nfour\nfive\n");
        let kept = std::fs::read_to_string(&path).expect("a file");
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(kept, "one\ntwo\n[harness] the log's limit is reached; later lines are left out\n");
        assert!(log.incomplete().is_some_and(|note| note.starts_with("16 bytes")), "{:?}", log.incomplete());
        assert_eq!(log.tail(1), ["five"]);
    }
}
