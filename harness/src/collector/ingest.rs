//! From the bytes of a request to spans in the store, whichever transport carried them.

use std::sync::Arc;

use judge::evidence::TimeBase;
use tokio::sync::Semaphore;

use super::limits::CollectorLimits;
use super::raw::Kept;
use super::store::Store;
use super::tally::{Tally, code};
use super::{json, proto};

/// The two encodings of OTLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// What every connection works on.
pub(super) struct Shared {
    pub time: TimeBase,
    pub limits: CollectorLimits,
    pub store: Store,
    pub tally: Tally,
    /// Bytes of requests being read, all connections together.
    pub budget: Arc<Semaphore>,
    /// Turns for decoding, so that a flood cannot take every core from the proxies that are being timed.
    pub decodes: Semaphore,
}

/// What the sender is told: how many spans were rejected, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Receipt {
    pub rejected: i64,
    pub message: String,
}

/// The body is no trace request.
#[derive(Debug, thiserror::Error)]
#[error("cannot decode the trace request: {0}")]
pub(super) struct Undecodable(pub String);

/// Decodes and keeps the spans of one request. Takes time in proportion to the body: call it on a blocking thread.
pub(super) fn traces(shared: &Shared, encoding: Encoding, bytes: &[u8]) -> Result<Receipt, Undecodable> {
    let decoded = match encoding {
        Encoding::Protobuf => proto::decode(bytes).map_err(|e| e.to_string()),
        Encoding::Json => json::decode(bytes).map_err(|e| e.to_string()),
    };
    let resources = decoded.map_err(|reason| {
        let error = Undecodable(reason);
        shared.tally.flag(code::GARBAGE, &error.to_string(), |s| s.garbage_requests += 1);
        error
    })?;
    let mut kept: Vec<Kept> = Vec::new();
    let mut malformed = 0_u64;
    let mut first = None;
    for resource in resources {
        for span in resource.spans {
            match span.keep(&resource.service, &shared.time) {
                Ok(span) => kept.push(span),
                Err(why) => {
                    malformed += 1;
                    first.get_or_insert(why);
                }
            }
        }
    }
    let added = shared.store.add(kept);
    let tally = &shared.tally;
    tally.count(|s| {
        s.requests += 1;
        s.spans += added.kept;
        s.duplicates += added.duplicates;
    });
    if added.conflicts > 0 {
        tally.flag(code::CONFLICT, "the first one was kept", |s| s.conflicts += added.conflicts);
    }
    let mut reasons = Vec::new();
    if let Some(why) = first {
        tally.flag(code::MALFORMED, &why.to_string(), |s| s.malformed += malformed);
        reasons.push(format!("{malformed} spans are malformed, the first: {why}"));
    }
    if added.over_limit > 0 {
        let limits = &shared.limits;
        let why = format!("the collector keeps {} spans and {} bytes at most", limits.spans, limits.store_bytes);
        tally.flag(code::OVERFLOW, &why, |s| s.over_limit += added.over_limit);
        reasons.push(format!("{} spans are past the limit: {why}", added.over_limit));
    }
    let rejected = i64::try_from(malformed + added.over_limit).unwrap_or(i64::MAX);
    Ok(Receipt { rejected, message: reasons.join("; ") })
}
