//! Calls to the proxy's API: bounded in time and size, refusals in the proxy's own words.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, redirect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::RemoteError;

/// Longest call but those that wait, which say how long themselves.
const CALL: Duration = Duration::from_secs(5);
/// Largest answer; a page of the log is about half of it.
const MAX_ANSWER: usize = 16 << 20;

/// How much of an answer that is no refusal of a chaos proxy an error shows.
const EXCERPT: usize = 120;

/// The API of one proxy.
#[derive(Debug, Clone)]
pub(super) struct Api {
    http: Client,
    base: String,
    /// Who is there.
    who: &'static str,
}

/// How a proxy refuses, and how a bank does.
#[derive(Deserialize)]
struct Refusal {
    #[serde(alias = "detail")]
    error: String,
}

impl Api {
    pub(super) fn at(address: SocketAddr, who: &'static str) -> Result<Self, RemoteError> {
        let base = format!("http://{address}");
        let http = Client::builder().no_proxy().redirect(redirect::Policy::none()).connect_timeout(CALL).build();
        let http = http.map_err(|e| RemoteError::unreachable(who, &base, &e))?;
        Ok(Self { http, base, who })
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, RemoteError> {
        self.call(Method::GET, path, CALL, None::<&()>).await
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, RemoteError> {
        self.call(Method::POST, path, CALL, Some(body)).await
    }

    pub(super) async fn put<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, RemoteError> {
        self.call(Method::PUT, path, CALL, Some(body)).await
    }

    pub(super) async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, RemoteError> {
        self.call(Method::DELETE, path, CALL, None::<&()>).await
    }

    /// A call that may take as long as `within` before it is answered.
    pub(super) async fn wait<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        within: Duration,
    ) -> Result<T, RemoteError> {
        self.call(Method::POST, path, within + CALL, Some(body)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        within: Duration,
        body: Option<&impl Serialize>,
    ) -> Result<T, RemoteError> {
        let call = format!("{method} {}{path}", self.base);
        let request = self.http.request(method, format!("{}{path}", self.base)).timeout(within);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let (status, answer) = answer(request, self.who, &call).await?;
        if (200..300).contains(&status) {
            return serde_json::from_slice(&answer)
                .map_err(|e| RemoteError::Unexpected { call, what: format!("its answer is not understood: {e}") });
        }
        let excerpt = || String::from_utf8_lossy(&answer[..answer.len().min(EXCERPT)]).into_owned();
        let error = serde_json::from_slice::<Refusal>(&answer).map_or_else(|_| excerpt(), |refusal| refusal.error);
        Err(RemoteError::Refused { call, status, error })
    }
}

async fn answer(request: RequestBuilder, who: &'static str, call: &str) -> Result<(u16, Vec<u8>), RemoteError> {
    let failed = |e: reqwest::Error| RemoteError::unreachable(who, call, &e);
    let mut response = request.send().await.map_err(failed)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MAX_ANSWER {
            let what = format!("its answer is larger than {MAX_ANSWER} bytes");
            return Err(RemoteError::Unexpected { call: call.to_owned(), what });
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status().as_u16(), body))
}

/// A name as one segment of a path.
pub(super) fn segment(name: &str) -> String {
    use std::fmt::Write as _;
    let mut safe = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => safe.push(byte as char),
            other => {
                let _ = write!(safe, "%{other:02X}");
            }
        }
    }
    safe
}
