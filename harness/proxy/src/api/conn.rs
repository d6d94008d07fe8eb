//! One connection of the control plane.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::body::{Outgoing, Run};
use super::pace::{Pace, Paced};
use super::request::{Request, decoded};
use super::server::MAX_API_BODY_BYTES;
use super::{Api, Reply, router};

/// Bytes of a request head, and of the buffers on the way.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Serves calls until the client leaves, is too slow, or the server stops.
pub(super) async fn serve(stream: TcpStream, api: Arc<Api>, mut run: watch::Receiver<Run>) {
    // Without it small answers may wait for acknowledgements; a failure only costs time.
    let _slow = stream.set_nodelay(true);
    let pace = Arc::new(Pace::new());
    let (paced, running) = (Paced::new(stream, Arc::clone(&pace)), run.clone());
    let service = service_fn(|request| {
        let (api, pace, running) = (Arc::clone(&api), Arc::clone(&pace), running.clone());
        async move { Ok::<_, Infallible>(call(api, request, pace, running).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // The pace has its own, finer limits.
        .header_read_timeout(None)
        .title_case_headers(true)
        .half_close(true)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(paced, service);
    tokio::pin!(connection);
    tokio::select! {
        // An error is the client's: it left, or did not speak HTTP (and was told so).
        _ended = connection.as_mut() => return,
        () = pace.too_slow() => return,
        // An error says that the server is gone altogether.
        _stopped = run.wait_for(|run| *run != Run::Serving) => {}
    }
    if pace.is_waiting() {
        return;
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        _ended = connection => {}
        () = pace.too_slow() => {}
        _gone = run.wait_for(|_| false) => {}
    }
}

async fn call(
    api: Arc<Api>,
    request: hyper::Request<Incoming>,
    pace: Arc<Pace>,
    run: watch::Receiver<Run>,
) -> hyper::Response<Outgoing> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_API_BODY_BYTES).collect().await;
    pace.serving();
    let reply = match (body, decoded(head.uri.path())) {
        (Ok(body), Some(path)) => {
            let (query, body) = (head.uri.query().unwrap_or_default().to_owned(), body.to_bytes());
            let request = Request { method: head.method, path, query, headers: head.headers, body };
            router::answer(&api, request).await
        }
        (Err(error), _) if error.is::<LengthLimitError>() => {
            Reply::refusal(413, format!("a body may have {MAX_API_BODY_BYTES} bytes at most"))
        }
        (Err(error), _) => Reply::refusal(400, format!("the body cannot be read: {error}")),
        (_, None) => Reply::text(400, "text/plain; charset=utf-8", "400 Bad Request"),
    };
    let mut response = hyper::Response::new(Outgoing::new(reply.content, run, pace));
    *response.status_mut() = reply.status;
    *response.headers_mut() = *reply.headers;
    response
}
