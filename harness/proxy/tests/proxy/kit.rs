//! A raw upstream, a raw client and what they saw, byte for byte.

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chaos_proxy::{LinkConfig, Log, Proxy, ProxyConfig};
use evidence::{Attempt, Connection, Note, Record};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Far beyond what a busy machine needs; only a hang reaches it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The reply of the upstream unless a test says otherwise.
pub const REPLY: &str = "HTTP/1.1 201 Created\r\ncontent-length: 10\r\nx-bank: yes\r\n\r\n0123456789";

/// Fails a test that hangs.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("within the patience of the test")
}

/// An upstream that records what it got and answers with fixed bytes.
pub struct Upstream {
    pub addr: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

/// How the upstream treats each request.
#[derive(Clone)]
pub struct Manner {
    pub reply: Vec<u8>,
    /// Close after the reply.
    pub close: bool,
    /// Reset after the reply.
    pub reset: bool,
}

impl Upstream {
    pub async fn start() -> Self {
        Self::replying(REPLY).await
    }

    pub async fn replying(reply: impl AsRef<[u8]>) -> Self {
        Self::with(Manner { reply: reply.as_ref().to_vec(), close: false, reset: false }).await
    }

    pub async fn with(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let addr = listener.local_addr().expect("addr");
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner.clone(), Arc::clone(&log)));
            }
        });
        Self { addr, seen, task }
    }

    /// Whole requests, in the order they came.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("lock").clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, manner: Manner, log: Arc<Mutex<Vec<String>>>) {
    let mut buffer = Vec::new();
    loop {
        let n = loop {
            if let Some(n) = message_length(&buffer) {
                break n;
            }
            match stream.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        };
        let request = buffer.drain(..n).collect::<Vec<_>>();
        log.lock().expect("lock").push(String::from_utf8_lossy(&request).into_owned());
        if stream.write_all(&manner.reply).await.is_err() {
            return;
        }
        if manner.reset {
            stream.set_zero_linger().expect("linger");
            return;
        }
        if manner.close {
            return;
        }
    }
}

/// Length of the first whole message in `bytes`: head, and a body of known length or of chunks.
pub fn message_length(bytes: &[u8]) -> Option<usize> {
    let text = String::from_utf8_lossy(bytes);
    let head = text.find("\r\n\r\n")? + 4;
    let fields = text[..head].to_ascii_lowercase();
    if fields.contains("transfer-encoding: chunked") {
        return text[head..].find("0\r\n").and_then(|at| text[head + at..].find("\r\n\r\n").map(|n| head + at + n + 4));
    }
    let length = fields.lines().find_map(|l| l.strip_prefix("content-length: ")).map_or(0, |n| n.parse().expect("n"));
    (bytes.len() >= head + length).then_some(head + length)
}

/// How a client's connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Fin,
    Reset,
    Open,
}

/// A raw client.
pub struct Client(pub TcpStream);

impl Client {
    pub async fn to(proxy: &Proxy, link: &str) -> Self {
        let addr = proxy.link_addr(link).expect("link");
        Self(soon(TcpStream::connect(addr)).await.expect("connect"))
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.write_all(bytes.as_ref()).await.expect("send");
        self
    }

    /// Reads until the end of the connection.
    pub async fn rest(&mut self) -> (String, Ended) {
        let mut bytes = Vec::new();
        let end = soon(self.0.read_to_end(&mut bytes)).await;
        let end = match end {
            Ok(_) => Ended::Fin,
            Err(e) if e.kind() == ErrorKind::ConnectionReset => Ended::Reset,
            Err(e) => panic!("read: {e}"),
        };
        (String::from_utf8_lossy(&bytes).into_owned(), end)
    }

    /// Reads one whole reply (of known length).
    pub async fn reply(&mut self) -> String {
        let mut bytes = Vec::new();
        while message_length(&bytes).is_none() {
            let mut one = [0];
            soon(self.0.read_exact(&mut one)).await.expect("a whole reply");
            bytes.push(one[0]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Whether nothing has come and the connection is open.
    pub fn is_silent(&self) -> bool {
        matches!(self.0.try_read(&mut [0]), Err(e) if e.kind() == ErrorKind::WouldBlock)
    }
}

/// A POST with a key.
pub fn post(key: &str, body: &str) -> String {
    format!(
        "POST /charges HTTP/1.1\r\nhost: bank\r\nIdempotency-Key: {key}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A proxy with one HTTP link `bank`.
pub async fn proxy(upstream: SocketAddr) -> Proxy {
    Proxy::start(ProxyConfig::new([bank(upstream)])).await.expect("start")
}

pub fn bank(upstream: SocketAddr) -> LinkConfig {
    LinkConfig::http("bank").upstream(upstream).key_header("Idempotency-Key")
}

pub fn attempts(log: &Log) -> Vec<Attempt> {
    let all = log.since(0).records;
    all.iter().filter_map(|r| if let Record::Attempt(a) = r.as_ref() { Some(a.clone()) } else { None }).collect()
}

pub fn connections(log: &Log) -> Vec<Connection> {
    let all = log.since(0).records;
    all.iter().filter_map(|r| if let Record::Connection(c) = r.as_ref() { Some(c.clone()) } else { None }).collect()
}

pub fn notes(log: &Log) -> Vec<Note> {
    let all = log.since(0).records;
    all.iter().filter_map(|r| if let Record::Note(n) = r.as_ref() { Some(n.clone()) } else { None }).collect()
}

/// Waits until `holds`; for facts that have no notification of their own.
pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let look = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("never: {what}"));
}
