//! Our own interface, under `/v1/`: strict where Toxiproxy's is lenient. Bodies are JSON, unknown fields are refused, and
//! every refusal is `{"error":..., "field"?:..., "status":...}`.

mod ca;
mod events;
mod fields;
mod leases;
mod link_toxics;
mod links;
mod query;
mod reset;
mod rules;
mod scopes;
mod status;

use super::{Api, Reply, Request};
use query::Query;

/// Answers a call; `segments` are the parts of the path behind `/v1/`. `None` when there is no such path.
pub(super) async fn handle(api: &Api, segments: &[&str], request: Request) -> Option<Reply> {
    // The others take parameters, each call its own.
    if let ["ca.pem" | "leases" | "links" | "reset" | "scopes" | "status", ..] = segments
        && let Err(refusal) = Query::of(&request, &[])
    {
        return Some(refusal);
    }
    match segments {
        ["ca.pem"] => Some(ca::handle(api, &request)),
        ["events", rest @ ..] => events::handle(api, rest, &request).await,
        ["leases", rest @ ..] => leases::handle(api, rest, &request),
        ["links", rest @ ..] => links::handle(api, rest, &request).await,
        ["reset"] => Some(reset::handle(api, &request).await),
        ["rules", rest @ ..] => rules::handle(api, rest, &request).await,
        ["scopes", rest @ ..] => scopes::handle(api, rest, &request),
        ["status"] => Some(status::handle(api, &request)),
        _ => None,
    }
}
