//! The event log as a file: a header line, one record a line, and an end line that only a clean stop writes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use chaos_proxy::{Log, events_end, events_header, push_record};
use judge::evidence::TimeBase;

/// Records that are taken from the log at once.
const PAGE: usize = 1_000;

/// Writes records as they come.
pub(crate) struct Events {
    out: File,
    /// What is written next; whole lines only.
    lines: Vec<u8>,
    cursor: u64,
    records: u64,
}

impl Events {
    pub(crate) fn create(path: &Path, time: TimeBase, seed: u64) -> io::Result<Self> {
        let mut out = File::create(path)?;
        writeln!(out, "{}", events_header(time, seed))?;
        Ok(Self { out, lines: Vec::new(), cursor: 0, records: 0 })
    }

    /// Moves what the log holds into the file.
    pub(crate) fn take(&mut self, log: &Log) -> io::Result<()> {
        loop {
            let page = log.page(self.cursor, PAGE);
            if page.records.is_empty() {
                return Ok(());
            }
            self.lines.clear();
            page.records.iter().for_each(|record| push_record(&mut self.lines, record));
            self.out.write_all(&self.lines)?;
            // Taken out of the log only when it is in the file.
            log.drain_upto(page.next);
            self.cursor = page.next;
            self.records += page.records.len() as u64;
        }
    }

    /// Writes what is left and the end line.
    pub(crate) fn finish(mut self, log: &Log) -> io::Result<()> {
        self.take(log)?;
        writeln!(self.out, "{}", events_end(self.records, log.dropped()))?;
        self.out.flush()
    }
}
