//! How much memory a record takes, for the log's limit in bytes.

use evidence::{Attempt, Connection, Delivery, FaultEdge, Record, Struck};

/// The record itself, its two counters behind the reference, and its place in the log.
const FIXED: usize = size_of::<Record>() + 3 * size_of::<usize>();

/// Bytes of memory that the log pays for this record. Room that a text has spare is not counted: the proxy's texts are
/// made at their length.
pub(super) fn weight(record: &Record) -> usize {
    FIXED
        + match record {
            Record::Attempt(a) => attempt(a),
            Record::Connection(c) => connection(c),
            Record::Edge(e) => edge(e),
            Record::Note(n) => n.code.len() + n.text.len(),
            // The proxy writes no other record.
            _ => 0,
        }
}

fn attempt(a: &Attempt) -> usize {
    a.link.len()
        + text(&a.key)
        + a.method.len()
        + a.path.len()
        + text(&a.body.sha256)
        + text(&a.upstream.error)
        + text(&a.reply.retry_after)
        + text(&a.scope)
        + a.upstream.copies.iter().map(|d| size_of::<Delivery>() + text(&d.error)).sum::<usize>()
        + a.fault.as_ref().map_or(0, struck)
}

fn connection(c: &Connection) -> usize {
    c.link.len() + c.fault.as_ref().map_or(0, struck)
}

fn edge(e: &FaultEdge) -> usize {
    e.rule.len() + e.link.len() + e.what.len() + text(&e.scope)
}

fn struck(s: &Struck) -> usize {
    s.rule.len() + s.what.len()
}

fn text(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}
