//! Another reading of HTTP/1.1, hyper's, over a connection in memory: what it makes of bytes that we pass on.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body_util::{BodyExt, Empty};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A request as hyper's server read it whole.
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) payload: Vec<u8>,
}

/// Reads given bytes, then the end; takes what is written and forgets it.
struct Tape(Bytes);

impl AsyncRead for Tape {
    fn poll_read(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let n = self.0.len().min(buf.remaining());
        buf.put_slice(&self.0[..n]);
        self.0.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tape {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The requests that hyper's server finds in `bytes` and reads whole.
pub(super) fn serve(bytes: Bytes) -> Vec<Seen> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
        let log = Rc::clone(&log);
        async move {
            let (head, body) = request.into_parts();
            if let Ok(body) = body.collect().await {
                let payload = body.to_bytes().to_vec();
                let (method, target) = (head.method.to_string(), head.uri.to_string());
                log.borrow_mut().push(Seen { method, target, payload });
            }
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.max_headers(256);
    // An error is hyper's right: it may refuse what it likes.
    let _refused = block_on(server.serve_connection(TokioIo::new(Tape(bytes)), service));
    seen.take()
}

/// The answer that hyper's client finds in `bytes`, if it reads one whole.
pub(super) fn ask(method: &'static str, bytes: Bytes) -> Option<(u16, Vec<u8>)> {
    let mut client = hyper::client::conn::http1::Builder::new();
    client.max_headers(256);
    block_on(async move {
        let (mut sender, connection) = client.handshake(TokioIo::new(Tape(bytes))).await.ok()?;
        let request =
            Request::builder().method(method).uri("/").header("host", "a").body(Empty::<Bytes>::new()).ok()?;
        let answer = async {
            let answer = sender.send_request(request).await.ok()?;
            let status = answer.status().as_u16();
            Some((status, answer.into_body().collect().await.ok()?.to_bytes().to_vec()))
        };
        let (answer, _refused) = tokio::join!(answer, connection);
        answer
    })
}

thread_local! {
    /// One for all inputs: building it costs more than an input.
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.with(|runtime| runtime.block_on(future))
}
