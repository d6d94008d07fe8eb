//! The log as lines of JSON: the one format of the events file and of the stream over HTTP.
//!
//! ```text
//! {"format":"chaos-proxy-events","version":1,"time":{...},"seed":7}
//! {"attempt":{...}}
//! {"end":{"records":1,"dropped":0}}
//! ```

use evidence::{Record, TimeBase};
use serde_json::{Value, json};

/// The format's name.
pub const EVENTS_FORMAT: &str = "chaos-proxy-events";
/// The version that this build writes.
pub const EVENTS_VERSION: u32 = 1;

/// The first line, as a value: what the format is, the time axis of all moments, and the seed of all decisions.
#[must_use]
pub fn events_header(time: TimeBase, seed: u64) -> Value {
    json!({ "format": EVENTS_FORMAT, "version": EVENTS_VERSION, "time": time, "seed": seed })
}

/// The last line, as a value: how many records are before it, and how many the log has dropped.
#[must_use]
pub fn events_end(records: u64, dropped: u64) -> Value {
    json!({ "end": { "records": records, "dropped": dropped } })
}

/// Appends one record and its line end.
pub fn push_record(out: &mut Vec<u8>, record: &Record) {
    write_record(out, record);
    out.push(b'\n');
}

/// Appends one record.
pub(crate) fn write_record(out: &mut Vec<u8>, record: &Record) {
    let before = out.len();
    if let Err(e) = serde_json::to_writer(&mut *out, record) {
        // A record has text keys and finite numbers only. Should that change, a reader gets no half record, and is told.
        out.truncate(before);
        out.extend_from_slice(json!({ "unwritable": e.to_string() }).to_string().as_bytes());
    }
}

/// Appends a value and its line end.
pub(crate) fn push_value(out: &mut Vec<u8>, value: &Value) {
    out.extend_from_slice(value.to_string().as_bytes());
    out.push(b'\n');
}
