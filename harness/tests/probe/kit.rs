//! A server that answers what a test says, and limits that fit tests.

use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use harness::probe::{LedgerProbe, ProbeError, ProbeLimits, Probed};
use judge::evidence::{LedgerReading, LedgerRow, TimeBase};

pub const TIME: TimeBase = TimeBase { monotonic_ns: 0, wall_ns: 0 };

/// Long enough that a busy machine does not reach it, except where a test waits for the limit itself.
pub fn limits() -> ProbeLimits {
    ProbeLimits { time: Duration::from_secs(30), ..ProbeLimits::default() }
}

/// Serves one document at `/`; returns its URL.
pub async fn serve(status: u16, media: &'static str, body: impl Into<String>) -> String {
    let body = body.into();
    let status = StatusCode::from_u16(status).expect("a status");
    let answer = move || async move { (status, [(header::CONTENT_TYPE, media)], body) };
    route(Router::new().route("/", get(answer))).await
}

pub async fn route(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/")
}

pub async fn read(probe: &LedgerProbe) -> Result<Probed<LedgerReading>, ProbeError> {
    probe.read("final", &TIME, &limits()).await
}

pub fn row(key: &str, settled: bool) -> LedgerRow {
    LedgerRow { key: Some(key.to_owned()), id: None, downstream_key: None, amount: None, status: None, settled }
}

/// The text of an error, which must contain every one of `parts`: it is what a person acts on.
pub fn says<T>(result: Result<T, ProbeError>, parts: &[&str]) -> ProbeError {
    let Err(error) = result else { panic!("no error, expected one that says {parts:?}") };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    error
}
