//! `/v1/status`: what this proxy is and how it is.

use serde::Serialize;

use crate::api::{Api, Reply, Request};

#[derive(Serialize)]
struct Status {
    version: &'static str,
    api: String,
    epoch: u64,
    uptime_ms: u128,
    log: LogStatus,
}

#[derive(Serialize)]
struct LogStatus {
    records: usize,
    dropped: u64,
}

pub(super) fn handle(api: &Api, request: &Request) -> Reply {
    if request.method != http::Method::GET {
        return Reply::no_method("GET");
    }
    let log = &api.core.log;
    let status = Status {
        version: env!("CARGO_PKG_VERSION"),
        api: api.address.to_string(),
        epoch: api.core.engine.epoch(),
        uptime_ms: api.started.elapsed().as_millis(),
        log: LogStatus { records: log.len(), dropped: log.dropped() },
    };
    Reply::json(200, &status)
}
