//! HTTP/2 peers on both sides of the proxy: hyper where an ordinary one will do, and the framing layer itself where a
//! test has to see or send codes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use chaos_proxy::Proxy;
use h2::client::{ResponseFuture, SendRequest};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::kit::soon;

/// What the bank got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    pub key: Option<String>,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

/// An upstream on hyper. `/charges` is answered 201 with ten bytes, `/grpc` with one message and an OK, `/big` with a
/// megabyte, and `/echo` with what it got, trailers included.
pub struct Bank {
    pub addr: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

/// The body of `/big`, and of large requests.
pub fn megabyte() -> Bytes {
    (0..1 << 20).map(|n: u32| n.to_le_bytes()[usize::from(n.is_multiple_of(3))]).collect()
}

/// A gRPC message as it is on the wire.
pub fn message(payload: &[u8]) -> Bytes {
    let length = u32::try_from(payload.len()).expect("short");
    [&[0][..], &length.to_be_bytes(), payload].concat().into()
}

impl Bank {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let addr = listener.local_addr().expect("addr");
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let log = Arc::clone(&log);
                let service = service_fn(move |request| answer(request, Arc::clone(&log)));
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { addr, seen, task }
    }

    /// Whole requests, in the order they were whole.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("lock").clone()
    }
}

impl Drop for Bank {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(request: Request<Incoming>, log: Arc<Mutex<Vec<Seen>>>) -> Result<Response<Pieces>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?;
    let trailers = body.trailers().cloned();
    let body = body.to_bytes();
    let key = parts.headers.get("idempotency-key").map(|v| v.to_str().expect("text").to_owned());
    let path = parts.uri.path().to_owned();
    log.lock().expect("lock").push(Seen { path: path.clone(), key, body: body.clone(), trailers: trailers.clone() });
    let reply = Response::builder();
    Ok(match path.as_str() {
        "/big" => reply.body(Pieces::of(megabyte(), None)),
        "/echo" => reply.body(Pieces::of(body, trailers)),
        "/grpc" => reply
            .header("content-type", "application/grpc")
            .body(Pieces::of(message(b"paid"), Some(fields(&[("grpc-status", "0")])))),
        _ => reply.status(201).header("x-bank", "yes").body(Pieces::of(Bytes::from_static(b"0123456789"), None)),
    }
    .expect("a reply"))
}

/// Header fields.
pub fn fields(fields: &[(&'static str, &'static str)]) -> HeaderMap {
    fields.iter().map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v))).collect()
}

/// A body that is there already.
pub struct Pieces(VecDeque<Frame<Bytes>>);

impl Pieces {
    pub fn of(body: Bytes, trailers: Option<HeaderMap>) -> Self {
        let body = Some(body).filter(|b| !b.is_empty()).map(Frame::data);
        Self(body.into_iter().chain(trailers.map(Frame::trailers)).collect())
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

/// A client on hyper: one connection to a link.
pub async fn hyper_client(proxy: &Proxy, link: &str) -> hyper::client::conn::http2::SendRequest<Pieces> {
    let stream = TcpStream::connect(proxy.link_addr(link).expect("link")).await.expect("connect");
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = soon(handshake).await.expect("handshake");
    tokio::spawn(connection);
    sender
}

/// A POST with a key.
pub fn post(path: &str, key: &str) -> http::request::Builder {
    Request::post(format!("http://bank{path}")).header("idempotency-key", key)
}

/// A client that sees codes: one connection to a link.
pub struct Client {
    pub sender: SendRequest<Bytes>,
    pub driver: JoinHandle<Result<(), h2::Error>>,
}

impl Client {
    pub async fn to(proxy: &Proxy, link: &str) -> Self {
        Self::with(proxy, link, h2::client::Builder::new()).await
    }

    pub async fn with(proxy: &Proxy, link: &str, builder: h2::client::Builder) -> Self {
        let stream = TcpStream::connect(proxy.link_addr(link).expect("link")).await.expect("connect");
        let (sender, connection) = soon(builder.handshake(stream)).await.expect("handshake");
        Self { sender, driver: tokio::spawn(connection) }
    }

    /// Sends a whole POST with a body.
    pub fn post(&mut self, path: &str, key: &str, body: impl Into<Bytes>) -> ResponseFuture {
        let (response, mut stream) = self.open(path, key);
        stream.send_data(body.into(), true).expect("body");
        response
    }

    /// Sends the head of a POST.
    pub fn open(&mut self, path: &str, key: &str) -> (ResponseFuture, SendStream<Bytes>) {
        self.sender.send_request(post(path, key).body(()).expect("request"), false).expect("stream")
    }
}

/// A preface and empty SETTINGS.
pub const RAW_START: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// The frame of a whole GET on that stream, its fields as HPACK's static table has them.
pub fn raw_get(stream: u32) -> Vec<u8> {
    [&b"\x00\x00\x09\x01\x05"[..], &stream.to_be_bytes(), b"\x82\x86\x84\x41\x04bank"].concat()
}

/// A whole answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    pub status: u16,
    pub fields: HeaderMap,
    pub body: Bytes,
    pub trailers: Option<HeaderMap>,
}

/// Reads an answer to its end.
pub async fn whole(response: ResponseFuture) -> Result<Whole, h2::Error> {
    let (parts, body) = soon(response).await?.into_parts();
    let mut got = BytesMut::new();
    let trailers = rest(body, &mut got).await?;
    Ok(Whole { status: parts.status.as_u16(), fields: parts.headers, body: got.freeze(), trailers })
}

/// Reads a body to its end, or to its failure.
pub async fn rest(mut body: RecvStream, got: &mut BytesMut) -> Result<Option<HeaderMap>, h2::Error> {
    while let Some(piece) = soon(body.data()).await.transpose()? {
        body.flow_control().release_capacity(piece.len()).expect("capacity");
        got.extend_from_slice(&piece);
    }
    soon(body.trailers()).await
}

/// The code of the failure.
pub async fn code(response: ResponseFuture) -> Option<Reason> {
    whole(response).await.expect_err("no answer").reason()
}

/// An upstream whose every stream is handled by `script`, on the framing layer itself.
pub async fn scripted<F>(
    script: impl Fn(Request<RecvStream>, SendResponse<Bytes>) -> F + Clone + Send + 'static,
) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let addr = listener.local_addr().expect("addr");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let script = script.clone();
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.expect("handshake");
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(script(request, respond));
                }
            });
        }
    });
    addr
}
