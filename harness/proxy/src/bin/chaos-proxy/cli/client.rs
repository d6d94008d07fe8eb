//! Calls to a Toxiproxy server.

use std::time::Duration;

use bytes::Bytes;
use chaos_proxy::TOXIPROXY_VERSION;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A server that takes longer is not waited for.
const CALL_TIME: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Where the server is.
#[derive(Debug)]
pub(super) struct Client {
    authority: String,
}

impl Client {
    /// `http://host:port`; the scheme may be left out.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        if url.starts_with("https://") {
            return Err(format!("`{url}`: the API speaks plain HTTP; write http://HOST:PORT"));
        }
        let authority = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
        let port = authority.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if port.is_some() { authority.to_owned() } else { format!("{authority}:80") };
        Ok(Self { authority })
    }

    /// One call; the answer's JSON, or the server's reason.
    pub(super) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, String> {
        match tokio::time::timeout(CALL_TIME, self.exchange(method, path, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("http://{}{path}: no answer within {CALL_TIME:?}", self.authority)),
        }
    }

    async fn exchange(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, String> {
        let failed = |e: &dyn std::error::Error| format!("http://{}{path}: {e}", self.authority);
        let stream = TcpStream::connect(&self.authority).await.map_err(|e| failed(&e))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|e| failed(&e))?;
        // Its end, good or bad, shows in the call below.
        let carrier = tokio::spawn(connection);
        let agent = format!("toxiproxy-cli/{TOXIPROXY_VERSION} ({}/{})", std::env::consts::OS, std::env::consts::ARCH);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.authority)
            .header(USER_AGENT, agent)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body.map(|body| Bytes::from(body.to_string())).unwrap_or_default()))
            .map_err(|e| failed(&e))?;
        let answer = sender.send_request(request).await.map_err(|e| failed(&e))?;
        let status = answer.status();
        let text =
            Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await.map_err(|e| failed(e.as_ref()))?;
        carrier.abort();
        let value = serde_json::from_slice::<Value>(&text.to_bytes()).unwrap_or(Value::Null);
        if status.is_success() {
            return Ok(value);
        }
        let reason = value["error"].as_str().unwrap_or("the answer has no reason").to_owned();
        Err(format!("HTTP {}: {reason}", status.as_u16()))
    }
}

/// A name as a part of a path.
pub(super) fn part(name: &str) -> String {
    name.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
