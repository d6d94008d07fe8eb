//! `/v1/events`: the event log over HTTP, by page, by long poll and as a stream; and its draining.

mod filter;
mod page;
mod stream;

use http::Method;
use serde_json::json;

use super::query::Query;
use crate::api::{Api, Reply, Request};

/// Answers a call; `rest` are the parts of the path behind `/v1/events`.
pub(super) async fn handle(api: &Api, rest: &[&str], request: &Request) -> Option<Reply> {
    let answer = match (rest, &request.method) {
        ([], &Method::GET) => page::get(api, request).await,
        ([], &Method::DELETE) => drain(api, request),
        ([], _) => Err(Reply::no_method("GET, DELETE")),
        (["stream"], &Method::GET) => stream::get(api, request),
        (["stream"], _) => Err(Reply::no_method("GET")),
        _ => return None,
    };
    Some(answer.unwrap_or_else(|refusal| refusal))
}

/// Takes the records before `upto` out of the log.
fn drain(api: &Api, request: &Request) -> Result<Reply, Reply> {
    let upto = Query::of(request, &["upto"])?.number("upto", None, 0, u64::MAX)?;
    let drained = api.core.log.drain_upto(upto);
    let depth = api.core.log.depth();
    Ok(Reply::json(200, &json!({ "drained": drained, "first": depth.first, "next": depth.next })))
}

#[cfg(test)]
mod tests;
