//! `/v1/status`: what this proxy is and how it is.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::api::{Api, Reply, Request, TOXIPROXY_VERSION};

#[derive(Serialize)]
struct Status {
    version: &'static str,
    /// The version of Toxiproxy that it is compatible with, as `/version` says it.
    toxiproxy: &'static str,
    api: String,
    links: BTreeMap<String, String>,
    seed: u64,
    /// Of the rules; each link's toxics have their own.
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
        toxiproxy: TOXIPROXY_VERSION,
        api: api.address.to_string(),
        links: api.core.link_statuses().into_iter().map(|link| (link.name, link.listen)).collect(),
        seed: api.core.seed,
        epoch: api.core.engine.epoch(),
        uptime_ms: api.started.elapsed().as_millis(),
        log: LogStatus { records: log.len(), dropped: log.dropped() },
    };
    Reply::json(200, &status)
}
