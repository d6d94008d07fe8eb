//! A proxy with its control plane, and a raw client of it.

use std::net::SocketAddr;

use chaos_proxy::{ApiOptions, ApiServer, LinkConfig, Proxy, ProxyConfig};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::kit::soon;

/// A proxy with its control plane.
pub struct Plane {
    pub proxy: Proxy,
    pub server: ApiServer,
}

impl Plane {
    pub async fn start() -> Self {
        Self::with([]).await
    }

    pub async fn with(links: impl IntoIterator<Item = LinkConfig>) -> Self {
        let proxy = Proxy::start(ProxyConfig::new(links)).await.expect("proxy");
        let server = ApiServer::start(&proxy, "127.0.0.1:0", ApiOptions::default()).await.expect("api");
        Self { proxy, server }
    }

    pub async fn client(&self) -> ApiClient {
        ApiClient(soon(TcpStream::connect(self.server.address())).await.expect("connect"))
    }

    /// One call on a connection of its own: `METHOD /path`, and a body.
    pub async fn call(&self, call: &str, body: &str) -> Answer {
        self.client().await.call(call, body).await
    }
}

/// One connection to the control plane.
pub struct ApiClient(pub TcpStream);

/// An answer as it was on the wire.
#[derive(Debug)]
pub struct Answer {
    pub status_line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.status_line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

impl ApiClient {
    /// A call as `curl` makes it.
    pub async fn call(&mut self, call: &str, body: &str) -> Answer {
        self.call_as("curl/8.5.0", call, body).await
    }

    pub async fn call_as(&mut self, agent: &str, call: &str, body: &str) -> Answer {
        let length = body.len();
        let form = "Content-Type: application/x-www-form-urlencoded";
        let head = format!("{call} HTTP/1.1\r\nHost: x\r\nUser-Agent: {agent}\r\nAccept: */*\r\n{form}\r\n");
        let request = format!("{head}Content-Length: {length}\r\n\r\n{body}");
        self.0.write_all(request.as_bytes()).await.expect("send");
        self.answer(call.starts_with("HEAD ")).await
    }

    /// Reads one answer.
    pub async fn answer(&mut self, bodiless: bool) -> Answer {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(soon(self.0.read_u8()).await.expect("a whole head"));
        }
        let head = String::from_utf8(head).expect("text");
        let mut lines = head.lines().filter(|line| !line.is_empty());
        let status_line = lines.next().expect("a status line").to_owned();
        let split = |line: &str| line.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned())).expect("a header");
        let headers: Vec<_> = lines.map(split).collect();
        let mut answer = Answer { status_line, headers, body: String::new() };
        let length = answer.header("content-length").map_or(0, |n| n.parse().expect("a length"));
        let mut body = vec![0; if bodiless { 0 } else { length }];
        soon(self.0.read_exact(&mut body)).await.expect("a whole body");
        answer.body = String::from_utf8(body).expect("text");
        answer
    }
}

/// An upstream that sends back what it gets.
pub async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut reading, mut writing) = stream.split();
                // A connection that is cut ends with an error.
                let _cut = tokio::io::copy(&mut reading, &mut writing).await;
            });
        }
    });
    address
}

/// A connection through a proxy, and what it does.
pub struct Through(TcpStream);

impl Through {
    pub async fn to(address: &str) -> Self {
        Self(soon(TcpStream::connect(address)).await.expect("the proxy accepts"))
    }

    /// Sends `text` and gets it back.
    pub async fn echoes(&mut self, text: &str) -> bool {
        if self.0.write_all(text.as_bytes()).await.is_err() {
            return false;
        }
        let mut got = vec![0; text.len()];
        soon(self.0.read_exact(&mut got)).await.is_ok() && got == text.as_bytes()
    }

    /// Waits until the proxy has ended it.
    pub async fn is_ended(&mut self) -> bool {
        !matches!(soon(self.0.read(&mut [0])).await, Ok(n) if n > 0)
    }
}

/// Whether the port refuses connections.
pub async fn is_refused(address: &str) -> bool {
    let outcome = soon(TcpStream::connect(address)).await;
    outcome.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionRefused)
}
