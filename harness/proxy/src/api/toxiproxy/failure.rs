//! Toxiproxy's refusals: status, text, and the odd shape they have on the wire.

use std::io;

use http::header::{HeaderName, HeaderValue};

use crate::api::Reply;
use crate::api::go_json::quoted;
use crate::error::ProxyError;
use crate::toxics::ToxicError;

const PLAIN: &str = "text/plain; charset=utf-8";
const NOSNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::api) struct Failure {
    pub(super) status: u16,
    pub(in crate::api) text: String,
}

impl Failure {
    pub(super) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    pub(super) fn bad_body(why: String) -> Self {
        Self::new(400, format!("bad request body: {why}"))
    }

    pub(super) fn missing(field: &str) -> Self {
        Self::new(400, format!("missing required field: {field}"))
    }

    pub(super) fn no_proxy() -> Self {
        Self::new(404, "proxy not found")
    }

    pub(super) fn no_toxic() -> Self {
        Self::new(404, "toxic not found")
    }

    /// The two members of the body, without braces.
    pub(super) fn members(&self) -> String {
        format!("\"error\":{},\"status\":{}", quoted(&self.text), self.status)
    }

    /// JSON that says it is plain text, with a newline: Go's error helper overwrites the type.
    pub(super) fn reply(&self) -> Reply {
        let body = format!("{{{}}}\n", self.members());
        Reply::text(self.status, PLAIN, body).with(NOSNIFF, HeaderValue::from_static("nosniff"))
    }

    /// What went wrong while a proxy was created.
    pub(super) fn creating(error: &ProxyError) -> Self {
        match error {
            ProxyError::BadListen { address, reason, .. } => {
                Self::new(500, format!("listen tcp: {}", bad_address(address, reason)))
            }
            other => Self::other(other),
        }
    }

    /// What went wrong while a proxy was changed: Go resolves the address apart from listening then.
    pub(super) fn updating(error: &ProxyError) -> Self {
        match error {
            ProxyError::BadListen { address, reason, .. } => Self::new(500, bad_address(address, reason)),
            other => Self::other(other),
        }
    }

    fn other(error: &ProxyError) -> Self {
        match error {
            ProxyError::NameTaken(_) => Self::new(409, "proxy already exists"),
            ProxyError::UnknownLink { .. } => Self::no_proxy(),
            ProxyError::Listen { address, source, .. } => {
                Self::new(500, format!("listen tcp {address}: bind: {}", system(source)))
            }
            other => Self::new(400, other.to_string()),
        }
    }
}

impl From<ToxicError> for Failure {
    fn from(error: ToxicError) -> Self {
        match error {
            ToxicError::Duplicate(_) => Self::new(409, "toxic already exists"),
            ToxicError::Unknown(_) => Self::no_toxic(),
            other @ ToxicError::TooMany { .. } => Self::new(400, other.to_string()),
        }
    }
}

/// An unusable address in Go's words.
fn bad_address(address: &str, reason: &str) -> String {
    let port = address.rsplit_once(':').map_or("", |(_, port)| port);
    match reason {
        "invalid port" if port.parse::<u64>().is_ok() => format!("address {port}: invalid port"),
        "invalid port" => format!("lookup tcp/{port}: unknown port"),
        lookup if lookup.starts_with("lookup ") => lookup.to_owned(),
        reason => format!("address {address}: {reason}"),
    }
}

/// The system's words for an error: Go has them in lower case and without the number.
fn system(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listen(errno: i32) -> ProxyError {
        let address = "127.0.0.1:18474".parse().expect("address");
        ProxyError::Listen { link: "p".into(), address, source: io::Error::from_raw_os_error(errno) }
    }

    fn bad(address: &str, reason: &str) -> ProxyError {
        ProxyError::BadListen { link: "p".into(), address: address.into(), reason: reason.into() }
    }

    // Proves the texts that Go gives for ports that are taken, forbidden or elsewhere, and for addresses that are none.
    #[test]
    fn addresses_fail_in_the_words_of_go() {
        for (errno, words) in
            [(98, "address already in use"), (13, "permission denied"), (99, "cannot assign requested address")]
        {
            let text = format!("listen tcp 127.0.0.1:18474: bind: {words}");
            assert_eq!(Failure::creating(&listen(errno)), Failure::new(500, text));
        }
        for (address, reason, words) in [
            ("nonsense", "missing port in address", "address nonsense: missing port in address"),
            ("a:b:1", "too many colons in address", "address a:b:1: too many colons in address"),
            ("h:99999", "invalid port", "address 99999: invalid port"),
            ("h:http!", "invalid port", "lookup tcp/http!: unknown port"),
            ("h:1", "lookup h: no such host", "lookup h: no such host"),
        ] {
            assert_eq!(Failure::creating(&bad(address, reason)).text, format!("listen tcp: {words}"));
            assert_eq!(Failure::updating(&bad(address, reason)).text, words);
        }
    }

    // Proves the members of a refusal, escaped.
    #[test]
    fn refusals_are_escaped() {
        let members = Failure::bad_body("invalid character '<' here".into()).members();
        assert_eq!(members, r#""error":"bad request body: invalid character '\u003c' here","status":400"#);
    }
}
