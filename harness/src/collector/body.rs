//! Request bodies, read and unpacked within bounds.

use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ingest::Shared;

/// How much of a body that is too large is still read, so that the sender gets to see the answer instead of a reset.
const DRAIN_BYTES: usize = 64 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// Why a body could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the request is larger than {limit} bytes{after}; send smaller batches")]
    TooLarge { limit: usize, after: &'static str },
    #[error("too many requests are being received at one time; send this one again")]
    Busy,
    #[error("the request body did not arrive within {0:?}")]
    Slow(Duration),
    #[error("the request body broke off: {0}")]
    Broken(String),
    #[error("the request body is not gzip as its content-encoding says: {0}")]
    NotGzip(String),
}

/// A body, and the part of the common budget that it holds.
pub(super) struct Taken {
    pub bytes: Bytes,
    _budget: Option<OwnedSemaphorePermit>,
}

pub(super) async fn take(body: Incoming, shared: &Shared, limit: usize) -> Result<Taken, BodyError> {
    let within = shared.limits.body_time;
    let mut body = body;
    let read = timeout(within, read(&mut body, &shared.budget, limit)).await;
    let taken = read.unwrap_or(Err(BodyError::Slow(within)));
    if matches!(taken, Err(BodyError::TooLarge { .. } | BodyError::Busy)) {
        let _ = timeout(DRAIN_TIME, drain(&mut body)).await;
    }
    taken
}

async fn read(body: &mut Incoming, budget: &Arc<Semaphore>, limit: usize) -> Result<Taken, BodyError> {
    let too_large = BodyError::TooLarge { limit, after: "" };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large);
    }
    let mut bytes = BytesMut::new();
    let mut held: Option<OwnedSemaphorePermit> = None;
    while let Some(data) = next(body).await? {
        if bytes.len() + data.len() > limit {
            return Err(too_large);
        }
        let more = u32::try_from(data.len()).map_err(|_| too_large.clone())?;
        let permit = Arc::clone(budget).try_acquire_many_owned(more).map_err(|_| BodyError::Busy)?;
        match &mut held {
            Some(held) => held.merge(permit),
            None => held = Some(permit),
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Taken { bytes: bytes.freeze(), _budget: held })
}

/// The next piece of data; `None` at the end. Trailers carry nothing that OTLP uses.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    loop {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            None => return Ok(None),
            Some(Err(error)) => return Err(BodyError::Broken(error.to_string())),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

async fn drain(body: &mut Incoming) {
    let mut read = 0;
    while let Ok(Some(data)) = next(body).await {
        read += data.len();
        if read > DRAIN_BYTES {
            return;
        }
    }
}

/// Unpacks gzip, one member or several, and stops at the limit: a small bomb must not become a large one here.
pub(super) fn gunzip(packed: &[u8], limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut out = Vec::new();
    let mut bounded = MultiGzDecoder::new(packed).take(limit as u64 + 1);
    bounded.read_to_end(&mut out).map_err(|e| BodyError::NotGzip(e.to_string()))?;
    if out.len() > limit {
        return Err(BodyError::TooLarge { limit, after: " after decompression" });
    }
    Ok(out)
}
