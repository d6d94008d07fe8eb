//! From a call to its handler.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue, LOCATION};

use super::{Api, Reply, Request, v1};

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
    let browser = request.header("user-agent").is_some_and(|agent| agent.starts_with(BROWSER));
    let segments = request.segments();
    if segments.first().is_none_or(|first| first != "v1") {
        return not_found();
    }
    let reply = if browser { Some(no_browsers()) } else { bounded(api, segments, request).await };
    reply.map_or_else(not_found, |reply| identified(api, reply))
}

/// Carries a call out in a task of its own: neither a client that leaves nor the time limit stops it half-way.
async fn bounded(api: &Arc<Api>, segments: Vec<String>, request: Request) -> Option<Reply> {
    let own = Arc::clone(api);
    let work = tokio::spawn(async move {
        let parts: Vec<&str> = segments.iter().skip(1).map(String::as_str).collect();
        v1::handle(&own, &parts, request).await
    });
    match tokio::time::timeout(HANDLER_TIME, work).await {
        Ok(Ok(reply)) => reply,
        Ok(Err(e)) => {
            api.options.journal.error(format!("a call of the API failed: {e}"));
            Some(Reply::refusal(500, "the call failed inside the proxy; its log says more"))
        }
        Err(_) => Some(Reply::text(503, HTML, TIMEOUT_PAGE)),
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
