//! One bounded GET.

use std::time::Duration;

use reqwest::{Client, redirect};
use serde_json::Value;
use tokio::time::timeout;

use super::{ProbeError, ProbeLimits};

/// How much of a body an error shows.
const EXCERPT: usize = 120;

/// The body of a 200 answer.
pub(super) async fn get(url: &str, accept: &str, limits: &ProbeLimits) -> Result<Vec<u8>, ProbeError> {
    let what = format!("GET {url}");
    timeout(limits.time, fetch(url, accept, limits.bytes))
        .await
        .unwrap_or(Err(ProbeError::Timeout { what, limit: limits.time }))
}

/// The JSON document of a 200 answer.
pub(super) async fn get_json(url: &str, limits: &ProbeLimits) -> Result<Value, ProbeError> {
    let body = get(url, "application/json", limits).await?;
    serde_json::from_slice(&body).map_err(|error| ProbeError::Format {
        url: url.to_owned(),
        expected: "JSON",
        reason: error.to_string(),
        excerpt: excerpt(&body),
    })
}

async fn fetch(url: &str, accept: &str, limit: usize) -> Result<Vec<u8>, ProbeError> {
    let bad_url = |reason: String| ProbeError::Url { url: url.to_owned(), reason };
    let target = reqwest::Url::parse(url).map_err(|e| bad_url(e.to_string()))?;
    if target.scheme() != "http" {
        return Err(bad_url(format!("its scheme is `{}`", target.scheme())));
    }
    let failed = |e: reqwest::Error| ProbeError::Unreachable { url: url.to_owned(), reason: chain(&e) };
    let mut response = client().map_err(failed)?.get(target).header("accept", accept).send().await.map_err(failed)?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > limit {
            return Err(ProbeError::TooLarge { what: format!("GET {url}"), limit });
        }
        body.extend_from_slice(&chunk);
    }
    if status == 200 {
        Ok(body)
    } else {
        Err(ProbeError::Status { url: url.to_owned(), status, excerpt: excerpt(&body) })
    }
}

/// A client of its own for each reading: readings are seconds apart, and a connection kept from before a restart of
/// the service would fail the first reading after it. Proxies of the environment and redirects (a login page) must not
/// answer in the service's place.
fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .pool_max_idle_per_host(0)
        .connect_timeout(Duration::from_secs(2))
        .build()
}

pub(super) fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(EXCERPT)])
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// An error with its causes; the outermost one alone only repeats the URL.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// What kind of value that is, for errors.
pub(super) fn kind(value: Option<&Value>) -> String {
    match value {
        None => "not there".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Bool(b)) => format!("the boolean {b}"),
        Some(Value::Number(n)) => format!("the number {n}"),
        Some(Value::String(s)) => format!("the text `{}`", s.chars().take(40).collect::<String>()),
        Some(Value::Array(list)) => format!("an array of {}", list.len()),
        Some(Value::Object(map)) => {
            format!("an object with {}", map.keys().take(8).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", "))
        }
    }
}
