//! The event log as a file: a header line, one record a line, and an end line that only a clean stop writes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use chaos_proxy::Log;
use judge::evidence::TimeBase;
use serde_json::json;

/// Version of the file's format.
const VERSION: u32 = 1;

/// Writes records as they come.
pub(crate) struct Events {
    out: BufWriter<File>,
    records: u64,
}

impl Events {
    pub(crate) fn create(path: &Path, time: TimeBase, seed: u64) -> io::Result<Self> {
        let mut out = BufWriter::new(File::create(path)?);
        let head = json!({ "format": "chaos-proxy-events", "version": VERSION, "time": time, "seed": seed });
        writeln!(out, "{head}")?;
        out.flush()?;
        Ok(Self { out, records: 0 })
    }

    /// Moves what the log holds into the file.
    pub(crate) fn take(&mut self, log: &Log) -> io::Result<()> {
        let records = log.drain();
        for record in &records {
            serde_json::to_writer(&mut self.out, record)?;
            self.out.write_all(b"\n")?;
        }
        self.records += records.len() as u64;
        self.out.flush()
    }

    /// Writes what is left and the end line.
    pub(crate) fn finish(mut self, log: &Log) -> io::Result<()> {
        self.take(log)?;
        let end = json!({ "end": { "records": self.records, "dropped": log.dropped() } });
        writeln!(self.out, "{end}")?;
        self.out.flush()
    }
}
