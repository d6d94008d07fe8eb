//! A call as the handlers see it: read whole, its path taken apart.

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde::de::DeserializeOwned;

use super::reply::Reply;
use crate::strict;

/// A call.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Decoded, without the query.
    pub(crate) path: String,
    /// As it came.
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    /// The parts of the path between slashes.
    pub(crate) fn segments(&self) -> Vec<String> {
        self.path.strip_prefix('/').unwrap_or(&self.path).split('/').map(str::to_owned).collect()
    }

    /// A parameter of the query, decoded; the first when it is given twice.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key).as_deref() == Some(name)).then(|| decoded(&value.replace('+', " "))).flatten()
        })
    }

    /// The body, read strictly: for our own paths, whose types refuse unknown fields.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Reply> {
        strict::from_slice(&self.body).map_err(|misread| {
            let error = format!("the body is not usable: {misread}");
            match &misread.field {
                Some(field) => Reply::refused_field(400, field, error),
                None => Reply::refusal(400, error),
            }
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Undoes percent-encoding; `None` when an escape is not one, or the text is not UTF-8 then.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut plain = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            plain.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|d| char::from(d).to_digit(16));
        let code = digit()? * 16 + digit()?;
        plain.push(u8::try_from(code).ok()?);
    }
    String::from_utf8(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves what a path and a query are taken apart into.
    #[test]
    fn paths_and_queries_are_decoded() {
        assert_eq!(decoded("a%20b%2Fc%c3%a9").as_deref(), Some("a b/cé"));
        assert!(["%", "%2", "%zz", "%ff"].iter().all(|bad| decoded(bad).is_none()));
        let request = Request {
            method: Method::GET,
            path: "/v1/links/a".to_owned(),
            query: "since=5&who=a+b%21&since=9&flag".to_owned(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        assert_eq!(request.segments(), ["v1", "links", "a"]);
        assert_eq!(request.parameter("since").as_deref(), Some("5"));
        assert_eq!(request.parameter("who").as_deref(), Some("a b!"));
        assert_eq!(request.parameter("flag").as_deref(), Some(""));
        assert_eq!(request.parameter("none"), None);
    }
}
