//! From a call to its handler.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::{HeaderName, HeaderValue, LOCATION};

use super::toxiproxy::{self, Found};
use super::{Api, Level, Reply, Request, metrics, v1};

/// How long a handler may take; its work goes on behind the 503.
const HANDLER_TIME: Duration = Duration::from_secs(25);
/// What browsers call themselves: they are kept out, so that no page can drive the proxy.
const BROWSER: &str = "Mozilla/";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
const TIMEOUT_PAGE: &str = "<html><head><title>Timeout</title></head><body><h1>Timeout</h1></body></html>";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-toxiproxy-request-id");
const NOSNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Answers a call.
pub(super) async fn answer(api: &Arc<Api>, request: Request) -> Reply {
    let clean = cleaned(&request.path);
    if clean != request.path {
        return redirect(&clean, &request.query);
    }
    let segments = request.segments();
    let route = match toxiproxy::find(&request.method, &segments) {
        Found::Route(route) => Some(route),
        Found::WrongMethod => return Reply::empty(405),
        Found::Nothing if segments.first().is_some_and(|first| first == "v1") => None,
        Found::Nothing if segments == ["metrics"] && metrics::are_there(api) => None,
        Found::Nothing => return not_found(),
    };
    if request.header("user-agent").is_some_and(|agent| agent.starts_with(BROWSER)) {
        return identified(api, no_browsers());
    }
    if segments == ["metrics"] {
        return identified(api, metrics::answer(api));
    }
    let (own, line) = (Arc::clone(api), format!("{} {}", request.method, request.path));
    let started = Instant::now();
    let work = async move {
        match route {
            Some(route) => toxiproxy::handle(&own, route, request).await,
            None => own_path(&own, &segments, request).await,
        }
    };
    let reply = bounded(api, HANDLER_TIME, work).await;
    let took = started.elapsed().as_micros() as u64;
    api.options.journal.log(Level::Debug, line, &[("status", reply.status.as_u16().into()), ("us", took.into())]);
    identified(api, reply)
}

async fn own_path(api: &Api, segments: &[String], request: Request) -> Reply {
    let parts: Vec<&str> = segments.iter().skip(1).map(String::as_str).collect();
    let reply = v1::handle(api, &parts, request).await;
    reply.unwrap_or_else(|| Reply::refusal(404, "there is no such path; docs/api.md lists those under /v1/"))
}

/// Carries a call out in a task of its own: neither a client that leaves nor the time limit stops it half-way.
async fn bounded(api: &Api, limit: Duration, work: impl Future<Output = Reply> + Send + 'static) -> Reply {
    match tokio::time::timeout(limit, tokio::spawn(work)).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(e)) => {
            api.options.journal.error(format!("a call of the API failed: {e}"));
            Reply::refusal(500, "the call failed inside the proxy; its log says more")
        }
        Err(_) => Reply::text(503, HTML, TIMEOUT_PAGE),
    }
}

fn identified(api: &Api, reply: Reply) -> Reply {
    match HeaderValue::try_from(api.ids.next()) {
        Ok(id) => reply.with(REQUEST_ID, id),
        Err(_) => reply,
    }
}

fn plain(status: u16, text: &'static str) -> Reply {
    Reply::text(status, TEXT, text).with(NOSNIFF, HeaderValue::from_static("nosniff"))
}

fn not_found() -> Reply {
    plain(404, "404 page not found\n")
}

fn no_browsers() -> Reply {
    plain(403, "User agent not allowed\n")
}

fn redirect(path: &str, query: &str) -> Reply {
    let mut target = escaped(path);
    if !query.is_empty() {
        target = target + "?" + query;
    }
    match HeaderValue::try_from(target) {
        Ok(target) => Reply::empty(301).with(LOCATION, target),
        Err(_) => not_found(),
    }
}

/// Without empty parts, `.` and `..`; a slash at the end stays.
fn cleaned(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = kept.pop(),
            part => kept.push(part),
        }
    }
    let slash = if path.ends_with('/') && !kept.is_empty() { "/" } else { "" };
    format!("/{}{slash}", kept.join("/"))
}

/// What may stand in a path stands; the rest is percent-encoded.
fn escaped(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(char::from(byte)),
            b'/' | b'-' | b'_' | b'.' | b'~' | b'$' | b'&' | b'+' | b',' | b':' | b';' | b'=' | b'@' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that a call that takes too long is answered, and that its work goes on all the same.
    #[tokio::test]
    async fn work_goes_on_behind_a_timeout() {
        let core = Arc::new(crate::core::Core::new(&crate::ProxyConfig::new([])));
        let api = Api::new(core, crate::ApiOptions::default(), "127.0.0.1:1".parse().expect("address"));
        let (release, released) = tokio::sync::oneshot::channel::<()>();
        let (done, finished) = tokio::sync::oneshot::channel();
        let work = async move {
            released.await.expect("released");
            done.send("done").expect("somebody waits");
            Reply::empty(204)
        };
        let reply = bounded(&api, Duration::from_millis(1), work).await;
        assert_eq!(reply.status, 503);
        release.send(()).expect("the work still waits");
        assert_eq!(finished.await, Ok("done"));
        assert_eq!(bounded(&api, HANDLER_TIME, async { Reply::empty(204) }).await.status, 204);
    }

    // Proves which paths are redirected, and where to.
    #[test]
    fn paths_are_cleaned() {
        for same in ["/", "/proxies", "/proxies/", "/proxies/a b"] {
            assert_eq!(cleaned(same), same);
        }
        let moved = [("//proxies", "/proxies"), ("/a/../b", "/b"), ("/./a//", "/a/"), ("", "/"), ("/../..", "/")];
        for (from, to) in moved {
            assert_eq!(cleaned(from), to, "{from}");
        }
        assert_eq!(escaped("/a b/é?"), "/a%20b/%C3%A9%3F");
    }
}
