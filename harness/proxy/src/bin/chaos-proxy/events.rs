//! The event log as a file: a header line, one record a line, and an end line that only a clean stop writes.
//!
//! A thread of its own writes it. A file that takes nothing (a pipe whose reader has stopped) holds up that thread and,
//! at the end, a bounded wait; never a connection.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use chaos_proxy::{Clock, Log, events_end, events_header, push_record};
use evidence::{Note, NoteWeight, Record, TimeBase};

/// Records that are taken from the log at once.
const PAGE: usize = 1_000;
/// How long the end of the file is waited for.
const FINISH_TIME: Duration = Duration::from_secs(10);

/// Writes records as they come.
#[derive(Debug)]
pub(crate) struct Events {
    state: State,
}

#[derive(Debug)]
enum State {
    /// Nothing is to be written yet.
    Ready(Writer),
    Writing {
        /// Says that there is something; dropped, that there will be nothing more.
        wake: SyncSender<()>,
        outcome: Receiver<io::Result<()>>,
    },
    /// It has failed, and that was said.
    Over,
}

#[derive(Debug)]
struct Writer {
    out: File,
    clock: Clock,
    /// What is written next; whole lines only.
    lines: Vec<u8>,
    cursor: u64,
    records: u64,
    /// Records that somebody else drained before they were written.
    missed: u64,
}

impl Events {
    pub(crate) fn create(path: &Path, time: TimeBase, seed: u64) -> io::Result<Self> {
        let mut out = File::create(path)?;
        writeln!(out, "{}", events_header(time, seed))?;
        let clock = Clock::new(time);
        let writer = Writer { out, clock, lines: Vec::new(), cursor: 0, records: 0, missed: 0 };
        Ok(Self { state: State::Ready(writer) })
    }

    /// Has what the log holds written to the file; says so when that has failed before.
    pub(crate) fn take(&mut self, log: &Log) -> io::Result<()> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Ready(writer) => {
                let (wake, woken) = sync_channel(1);
                let (ended, outcome) = sync_channel(1);
                let log = log.clone();
                // Not the runtime's: a thread that hangs in a write must not hold up the end of the program.
                std::thread::Builder::new().name("events".to_owned()).spawn(move || {
                    // An error says that the program has ended without waiting.
                    let _alone = ended.send(writer.run(&log, &woken));
                })?;
                self.state = State::Writing { wake, outcome };
                self.take_note()
            }
            writing => {
                self.state = writing;
                self.take_note()
            }
        }
    }

    fn take_note(&mut self) -> io::Result<()> {
        let State::Writing { wake, outcome } = &self.state else { return Ok(()) };
        if let Ok(ended) = outcome.try_recv() {
            self.state = State::Over;
            return ended;
        }
        // When it is full, the thread has not seen the last word yet and will look.
        let _told = wake.try_send(());
        Ok(())
    }

    /// Writes what is left and the end line.
    pub(crate) fn finish(mut self, log: &Log) -> io::Result<()> {
        self.take(log)?;
        let State::Writing { wake, outcome } = self.state else { return Ok(()) };
        drop(wake);
        match outcome.recv_timeout(FINISH_TIME) {
            Ok(ended) => ended,
            Err(RecvTimeoutError::Timeout) => {
                let why = format!("it took nothing for {FINISH_TIME:?}; {} records are not in it", log.len());
                Err(io::Error::new(io::ErrorKind::TimedOut, why))
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("its thread panicked")),
        }
    }
}

impl Writer {
    fn run(mut self, log: &Log, woken: &Receiver<()>) -> io::Result<()> {
        loop {
            let goes_on = woken.recv().is_ok();
            self.write_new(log)?;
            if !goes_on {
                let dropped = log.dropped() + self.missed;
                writeln!(self.out, "{}", events_end(self.records, dropped))?;
                return self.out.flush();
            }
        }
    }

    fn write_new(&mut self, log: &Log) -> io::Result<()> {
        loop {
            let page = log.page(self.cursor, PAGE);
            if page.missed > 0 {
                self.note_missed(page.missed);
            }
            if page.records.is_empty() && self.lines.is_empty() {
                return Ok(());
            }
            page.records.iter().for_each(|record| push_record(&mut self.lines, record));
            self.out.write_all(&self.lines)?;
            self.lines.clear();
            self.cursor = page.next;
            self.records += page.records.len() as u64;
            // Taken out of the log only when it is in the file.
            log.release_upto(page.next);
        }
    }

    fn note_missed(&mut self, missed: u64) {
        self.missed += missed;
        self.records += 1;
        let text = format!("{missed} records were drained by another reader before they were written");
        let at = self.clock.now();
        let note = Note { at, weight: NoteWeight::Spoils, code: "events-drained".to_owned(), text };
        push_record(&mut self.lines, &Record::Note(note));
    }
}
