//! Replies that the proxy writes itself.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The bytes of a reply with a known length.
pub(super) fn encode(
    status: u16,
    headers: &BTreeMap<String, String>,
    body: &str,
    method: &str,
    keep_alive: bool,
) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        // Writing into a String cannot fail.
        let _infallible = write!(text, "{name}: {value}\r\n");
    }
    if !matches!(status, 204 | 304) {
        let _infallible = write!(text, "content-length: {}\r\n", body.len());
    }
    if !keep_alive {
        text.push_str("connection: close\r\n");
    }
    text.push_str("\r\n");
    if method != "HEAD" {
        text.push_str(body);
    }
    text.into_bytes()
}

/// A reply that says why a request was refused.
pub(super) fn refusal(status: u16, why: &str) -> Vec<u8> {
    let headers = BTreeMap::from([("content-type".to_owned(), "text/plain; charset=utf-8".to_owned())]);
    encode(status, &headers, &format!("chaos-proxy: {why}\n"), "", false)
}

pub(super) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        425 => "Too Early",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}
