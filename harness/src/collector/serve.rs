//! The port: accepts connections and tells gRPC, HTTP and garbage apart.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connections::{Admission, Connections, Slot};
use super::http::Signal;
use super::ingest::Shared;
use super::tally::code;
use super::{grpc, http};

/// The bytes with which every HTTP/2 connection begins.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Requests at one time on one HTTP/2 connection.
const STREAMS: u32 = 64;
/// Wait after an accept that failed, e.g. for want of file descriptors: trying at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// How long connections get to finish their request when the collector is shut down.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until `stop` says so, then lets open requests finish.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let connections = Connections::new(shared.limits.connections);
    // Dropped with this task, and every connection with it.
    let mut open = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
            Some(_) = open.join_next() => continue,
        };
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        shared.tally.count(|s| s.connections += 1);
        let slot = match connections.admit() {
            Admission::Admitted(slot) => slot,
            Admission::Instead(slot) => {
                refused(&shared, "the oldest connection that had sent no request gave way");
                slot
            }
            Admission::Refused => {
                refused(&shared, "every open connection had sent requests, the new one was closed");
                continue;
            }
        };
        open.spawn(connection(stream, Arc::clone(&shared), slot, stop.clone()));
    }
    drop(listener);
    let _ = timeout(GRACE, async { while open.join_next().await.is_some() {} }).await;
}

fn refused(shared: &Shared, what: &str) {
    let text = format!("at {} connections, {what}", shared.limits.connections);
    shared.tally.flag(code::REFUSED, &text, |s| s.refused_connections += 1);
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, slot: Slot, mut stop: watch::Receiver<bool>) {
    // A lost TCP_NODELAY costs milliseconds, not evidence.
    let _ = stream.set_nodelay(true);
    let mut first = [0; HTTP2_PREFACE.len()];
    let peeked = tokio::select! {
        peeked = stream.peek(&mut first) => peeked.unwrap_or(0),
        () = slot.evicted() => return,
        _ = stop.wait_for(|stop| *stop) => return,
    };
    // Closed without a byte: somebody looked whether the port is open.
    let first = &first[..peeked];
    if first.is_empty() {
        return;
    }
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(STREAMS);
    let service = service_fn(|request| {
        slot.request();
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(route(&shared, request).await) }
    });
    let mut served = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    let mut stopping = false;
    let ended = loop {
        tokio::select! {
            ended = served.as_mut() => break ended,
            () = slot.evicted() => break Ok(()),
            _ = stop.wait_for(|stop| *stop), if !stopping => {
                stopping = true;
                served.as_mut().graceful_shutdown();
            }
        }
    };
    if let Err(error) = ended
        && is_garbage(error.as_ref(), first, slot.requests())
    {
        let text = format!("a connection that began with {}: {error}", shown(first));
        shared.tally.flag(code::GARBAGE, &text, |s| s.garbage_connections += 1);
    }
}

async fn route(shared: &Arc<Shared>, request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path();
    if is_grpc(&request) {
        return match grpc::signal(path) {
            Some(signal) => grpc::answer(shared, signal, request).await,
            None => grpc::unknown(shared, path),
        };
    }
    match Signal::of_path(path) {
        Some(signal) => http::answer(shared, signal, request).await,
        None => http::unknown(shared, &request),
    }
}

fn is_grpc(request: &Request<Incoming>) -> bool {
    let media = request.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    media.to_ascii_lowercase().starts_with("application/grpc")
}

/// Whether a connection that ended in an error spoke no HTTP, rather than lost its peer.
fn is_garbage(error: &(dyn Error + Send + Sync + 'static), first: &[u8], requests: u64) -> bool {
    let Some(error) = error.downcast_ref::<hyper::Error>() else {
        return requests == 0 && !HTTP2_PREFACE.starts_with(first);
    };
    if HTTP2_PREFACE.starts_with(first) {
        // hyper does not say in a typed way which end broke the protocol. In h2's words, "detected" is by us.
        return error.source().is_some_and(|h2| h2.to_string().contains("detected"));
    }
    error.is_parse() || (error.is_incomplete_message() && requests == 0)
}

/// The first bytes, for people.
fn shown(first: &[u8]) -> String {
    let text: String = first.escape_ascii().to_string();
    if first.starts_with(&[0x16, 0x03]) {
        format!("a TLS handshake (the collector speaks plain text: use an http:// endpoint), `{text}`")
    } else {
        format!("`{text}`")
    }
}
