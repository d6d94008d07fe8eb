//! `/v1/leases`: rules and scopes under a lease go when it is not renewed in time, or when its holder's connection dies.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::api::{Api, Reply, Request};
use crate::engine::{Engine, Grant, LeaseError};

/// Lines of a holding stream that may wait to be taken.
const HOLD_PIECES: usize = 4;
/// The longest pause between two of them: a connection that dies is noticed after two.
const HOLD_PAUSE: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct Shown {
    id: String,
    ttl_ms: u64,
    expires_in_ms: u64,
}

#[derive(Serialize)]
struct One {
    epoch: u64,
    #[serde(flatten)]
    lease: Shown,
}

pub(super) fn handle(api: &Api, segments: &[&str], request: &Request) -> Option<Reply> {
    let engine = &api.core.engine;
    let method = &request.method;
    let reply = match segments {
        [] if *method == Method::GET => list(engine),
        [] if *method == Method::POST => grant(engine, request),
        [] => Reply::no_method("GET, POST"),
        [id] if *method == Method::DELETE => end(engine, id),
        [_] => Reply::no_method("DELETE"),
        [id, "renew"] if *method == Method::POST => answer(engine, 200, engine.renew(id)),
        [_, "renew"] => Reply::no_method("POST"),
        [id, "hold"] if *method == Method::GET => hold(engine, id),
        [_, "hold"] => Reply::no_method("GET"),
        _ => return None,
    };
    Some(reply)
}

fn list(engine: &Engine) -> Reply {
    #[derive(Serialize)]
    struct Listed {
        epoch: u64,
        leases: Vec<Shown>,
    }
    let leases = engine.grants().iter().map(|lease| shown(lease)).collect();
    Reply::json(200, &Listed { epoch: engine.epoch(), leases })
}

fn grant(engine: &Arc<Engine>, request: &Request) -> Reply {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(default)]
        id: Option<String>,
        ttl_ms: u64,
    }
    match request.json::<Order>() {
        Ok(order) => answer(engine, 201, engine.grant(order.id, Duration::from_millis(order.ttl_ms))),
        Err(reply) => reply,
    }
}

fn answer(engine: &Engine, status: u16, lease: Result<Arc<Grant>, LeaseError>) -> Reply {
    match lease {
        Ok(lease) => Reply::json(status, &One { epoch: engine.epoch(), lease: shown(&lease) }),
        Err(error) => refused(&error),
    }
}

fn end(engine: &Engine, id: &str) -> Reply {
    #[derive(Serialize)]
    struct Ended {
        epoch: u64,
        disarmed: usize,
    }
    match engine.end_lease(id) {
        Some(disarmed) => Reply::json(200, &Ended { epoch: engine.epoch(), disarmed }),
        None => refused(&LeaseError::Unknown { lease: id.to_owned() }),
    }
}

/// A stream of a first line and empty ones, by which the end of the connection is noticed: the lease lives while it is
/// open, and ends when it does.
fn hold(engine: &Arc<Engine>, id: &str) -> Reply {
    let lease = match engine.renew(id) {
        Ok(lease) => lease,
        Err(error) => return refused(&error),
    };
    let (pieces, reader) = mpsc::channel(HOLD_PIECES);
    let line = serde_json::json!({ "lease": lease.id, "held": true });
    // There is room for the first line.
    let _sent = pieces.try_send(Bytes::from(format!("{line}\n")));
    let engine = Arc::downgrade(engine);
    drop(tokio::spawn(async move {
        let pause = (lease.ttl / 3).min(HOLD_PAUSE);
        loop {
            tokio::select! {
                () = pieces.closed() => break,
                () = tokio::time::sleep(pause) => {}
            }
            // A reader that takes nothing holds nothing: then the lease's own time runs.
            if pieces.try_send(Bytes::from_static(b"\n")).is_err() {
                continue;
            }
            // Somebody has ended it, or the proxy is gone.
            let Some(Ok(_)) = engine.upgrade().map(|engine| engine.renew(&lease.id)) else { return };
        }
        if let Some(engine) = engine.upgrade() {
            engine.end_lease(&lease.id);
        }
    }));
    Reply::stream("application/x-ndjson", reader)
}

fn shown(lease: &Grant) -> Shown {
    let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    Shown { id: lease.id.clone(), ttl_ms: ms(lease.ttl), expires_in_ms: ms(lease.left()) }
}

fn refused(error: &LeaseError) -> Reply {
    let (status, field) = match error {
        LeaseError::Unknown { .. } => (404, None),
        LeaseError::Held { .. } => (409, Some("id")),
        LeaseError::TooMany { .. } => (409, None),
        LeaseError::BadId => (400, Some("id")),
        LeaseError::BadTtl => (400, Some("ttl_ms")),
    };
    match field {
        Some(field) => Reply::refused_field(status, field, error.to_string()),
        None => Reply::refusal(status, error.to_string()),
    }
}
