//! One page of the log as a JSON document; with `wait_ms`, a long poll.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::filter::{FILTERS, Filter};
use crate::api::v1::query::Query;
use crate::api::{Api, Reply, Request};
use crate::log::lines::{events_header, write_record};
use crate::log::{Log, MAX_PAGE};

/// Records on a page unless the caller says otherwise.
const DEFAULT_LIMIT: usize = 1_000;
/// The longest long poll, milliseconds; a handler's own limit is not far above.
const MAX_WAIT_MS: u64 = 20_000;
/// A page is ended by the record that brings it to this size.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// What was found.
#[derive(Default)]
struct Found {
    /// The records, with commas between them.
    json: Vec<u8>,
    records: usize,
    next: u64,
    missed: u64,
}

pub(super) async fn get(api: &Api, request: &Request) -> Result<Reply, Reply> {
    let names: Vec<_> = ["cursor", "limit", "wait_ms"].into_iter().chain(FILTERS).collect();
    let query = Query::of(request, &names)?;
    let cursor = query.number("cursor", Some(0), 0, u64::MAX)?;
    let limit = query.number("limit", Some(DEFAULT_LIMIT), 1, MAX_PAGE)?;
    let wait = Duration::from_millis(query.number("wait_ms", Some(0), 0, MAX_WAIT_MS)?);
    let filter = Filter::of(&query)?;
    let log = &api.core.log;
    let found = find(log, cursor, limit, &filter, wait).await;
    let mut head = events_header(api.core.clock.base(), api.core.seed);
    let position = json!({ "cursor": cursor, "next": found.next, "missed": found.missed, "dropped": log.dropped() });
    if let (Some(head), serde_json::Value::Object(position)) = (head.as_object_mut(), position) {
        head.extend(position);
    }
    // The records follow as the last field of the object.
    let mut body = head.to_string().into_bytes();
    body.pop();
    body.extend_from_slice(b",\"records\":[");
    body.extend_from_slice(&found.json);
    body.extend_from_slice(b"]}");
    Ok(Reply::text(200, "application/json", body))
}

/// The first records from `cursor` on that the filter takes; waits for one when there is none yet.
async fn find(log: &Log, cursor: u64, limit: usize, filter: &Filter, wait: Duration) -> Found {
    let deadline = Instant::now() + wait;
    let mut found = Found { next: cursor, ..Found::default() };
    loop {
        let left = if found.records == 0 { deadline.saturating_duration_since(Instant::now()) } else { Duration::ZERO };
        let page = log.wait_since(found.next, MAX_PAGE.min(limit), left).await;
        let is_end = page.records.is_empty();
        found.missed += page.missed;
        found.next = page.first;
        for record in &page.records {
            found.next += 1;
            if !filter.takes(record) {
                continue;
            }
            if found.records > 0 {
                found.json.push(b',');
            }
            write_record(&mut found.json, record);
            found.records += 1;
            if found.records == limit || found.json.len() >= MAX_PAGE_BYTES {
                return found;
            }
        }
        if is_end {
            return found;
        }
    }
}
