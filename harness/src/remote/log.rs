//! The proxy's log, page by page, on the run's axis.

use judge::evidence::{Record, TimeBase};
use serde::Deserialize;
use serde_json::Value;

use super::api::Api;
use super::{Axes, RemoteError};

/// Records of one page.
const PAGE: usize = 5_000;

/// A place in the proxy's log.
#[derive(Debug)]
pub struct RemoteLog {
    api: Api,
    axes: Axes,
    cursor: u64,
    /// Records that the proxy had dropped when this reader began.
    dropped: u64,
}

/// What was new.
#[derive(Debug, Default)]
pub struct RemotePage {
    /// Records, in the order in which the proxy wrote them.
    pub records: Vec<Record>,
    /// Records that nobody can read any more: dropped by a full log, or drained by somebody else.
    pub lost: u64,
}

#[derive(Deserialize)]
struct Page {
    format: String,
    next: u64,
    dropped: u64,
    missed: u64,
    time: TimeBase,
    records: Vec<Value>,
}

/// The proxy's time axis, when it is a chaos proxy.
pub(super) async fn greet(api: &Api) -> Result<TimeBase, RemoteError> {
    match page(api, 0, 1).await {
        Ok(page) => Ok(page.time),
        // Whoever does not know the path is somebody else.
        Err(RemoteError::Refused { call, status, .. }) => {
            Err(RemoteError::Unexpected { call, what: format!("it was answered with status {status}") })
        }
        Err(error) => Err(error),
    }
}

impl RemoteLog {
    pub(super) async fn from_now(api: Api, axes: Axes) -> Result<Self, RemoteError> {
        let (mut cursor, mut dropped) = (0, 0);
        loop {
            let page = page(&api, cursor, PAGE).await?;
            let over = page.records.is_empty();
            (cursor, dropped) = (page.next, page.dropped.max(dropped));
            if over {
                return Ok(Self { api, axes, cursor, dropped });
            }
        }
    }

    /// Everything since the last reading.
    ///
    /// # Errors
    /// When the proxy does not answer, or a record is not understood.
    pub async fn read(&mut self) -> Result<RemotePage, RemoteError> {
        let mut read = RemotePage::default();
        loop {
            let page = page(&self.api, self.cursor, PAGE).await?;
            self.cursor = page.next;
            read.lost += page.missed + page.dropped.saturating_sub(self.dropped);
            self.dropped = page.dropped.max(self.dropped);
            if page.records.is_empty() {
                return Ok(read);
            }
            for value in page.records {
                let mut record: Record = serde_json::from_value(value).map_err(|e| RemoteError::Unexpected {
                    call: "GET /v1/events".to_owned(),
                    what: format!("a record is not understood: {e}"),
                })?;
                record.each_moment(&mut |at| *at = self.axes.ours.place(*at, &self.axes.theirs));
                read.records.push(record);
            }
        }
    }
}

async fn page(api: &Api, cursor: u64, limit: usize) -> Result<Page, RemoteError> {
    let path = format!("/v1/events?cursor={cursor}&limit={limit}");
    let page: Page = api.get(&path).await?;
    if page.format == chaos_proxy::EVENTS_FORMAT {
        return Ok(page);
    }
    Err(RemoteError::Unexpected { call: format!("GET {path}"), what: format!("its format is `{}`", page.format) })
}
