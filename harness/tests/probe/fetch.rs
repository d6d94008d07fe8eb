//! What every probe over HTTP has in common: bounds, and errors that name the URL.

use std::time::Duration;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;
use harness::probe::{BreakerProbe, ProbeError, ProbeLimits};
use tokio::net::TcpListener;

use crate::kit::*;

fn probe(url: &str) -> BreakerProbe {
    BreakerProbe::Actuator { url: url.to_owned(), name: "bank".to_owned() }
}

/// A URL that this build cannot use, a port where nobody listens, a status that is not 200 (a redirect to a login page
/// included) and a body that is no JSON: each error names the URL and what to do.
#[tokio::test]
async fn errors_name_the_url() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        listener.local_addr().expect("bound")
    };
    let login = route(Router::new().route("/", get(async || Redirect::to("/login")))).await;
    let cases = [
        ("https://localhost/x".to_owned(), vec!["https://localhost/x", "no TLS"]),
        ("127.0.0.1:80/x".to_owned(), vec!["127.0.0.1:80/x", "http://"]),
        (format!("http://{closed}/x"), vec!["/x", "refused", "is the service running"]),
        (login.clone(), vec![login.as_str(), "303", "redirects"]),
    ];
    for (url, parts) in cases {
        says(probe(&url).read(&TIME, &limits()).await, &parts);
    }
    let url = serve(503, "text/html", "<h1>down\n</h1>").await;
    says(probe(&url).read(&TIME, &limits()).await, &[&url, "503", "<h1>down </h1>"]);
    let url = serve(200, "text/html", "<h1>home</h1>").await;
    says(probe(&url).read(&TIME, &limits()).await, &[&url, "JSON", "<h1>home</h1>"]);
}

/// A body past the byte limit is refused however it is framed; an endpoint that accepts and says nothing is given up at
/// the time limit. The first is bound by the limit's own error, the second by the test coming to an end.
#[tokio::test]
async fn readings_are_bounded() {
    let small = ProbeLimits { bytes: 1_000, ..limits() };
    let url = serve(200, "application/json", " ".repeat(1_001)).await;
    let error = says(probe(&url).read(&TIME, &small).await, &[&url, "1000 bytes"]);
    assert!(matches!(error, ProbeError::TooLarge { .. }));

    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", silent.local_addr().expect("bound"));
    let short = ProbeLimits { time: Duration::from_millis(50), ..limits() };
    let error = says(probe(&url).read(&TIME, &short).await, &[&url, "50ms"]);
    assert!(matches!(error, ProbeError::Timeout { .. }));
}
