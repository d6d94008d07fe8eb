//! Header fields between rules, which have text, and the framing layer.

use http::{HeaderMap, HeaderName, HeaderValue};

/// Fields that belong to connections of HTTP/1.1 and cannot be sent here.
const OF_HTTP1: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];
/// What HTTP/2 counts for each field beside its name and value.
const FIELD_BYTES: usize = 32;

/// As the framing layer takes them. What it does not take, validation has refused, but for the fields of HTTP/1.1.
pub(super) fn fields_of(fields: impl Iterator<Item = (String, String)>) -> HeaderMap {
    fields
        .filter(|(name, _)| !OF_HTTP1.iter().any(|known| name.eq_ignore_ascii_case(known)))
        .filter_map(|(name, value)| {
            Some((HeaderName::try_from(name).ok()?, HeaderValue::from_bytes(value.as_bytes()).ok()?))
        })
        .collect()
}

/// The size of a header list as HTTP/2 counts it, from the lengths of names and values.
pub(super) fn list_bytes(fields: impl Iterator<Item = (usize, usize)>) -> usize {
    fields.map(|(name, value)| name + value + FIELD_BYTES).sum()
}
