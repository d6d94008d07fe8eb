//! Claims over requests.

use bytes::Bytes;

use super::message::{Grammar, Read, limit_invariant, split_invariant};
use super::peer;
use crate::http::body::Framing;
use crate::http::head::{RequestHead, may_be_request};

/// What decisions are taken on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    method: String,
    target: String,
    fields: Vec<(String, String)>,
    keep_alive: bool,
    length: usize,
}

const GRAMMAR: Grammar<Head> = Grammar {
    may_be: may_be_request,
    parse: |raw| {
        let length = raw.len();
        let RequestHead { raw: kept, method, target, fields, framing, keep_alive, .. } =
            RequestHead::parse(raw).ok()?;
        assert_eq!(kept.len(), length, "a head is forwarded as it came");
        Some((Head { method, target, fields, keep_alive, length }, framing))
    },
};

/// Any cut of the bytes gives the same request; a request that we take as one, another server takes as the same one.
pub(super) fn check(bytes: &[u8]) {
    for framing in [Framing::Empty, Framing::Length(bytes.len() as u64 / 2), Framing::Chunked, Framing::ToEnd] {
        limit_invariant(framing, bytes);
    }
    let bytes = &bytes[bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count()..];
    let Read::Message { head, payload, taken, whole } = split_invariant(&GRAMMAR, bytes) else { return };
    assert!(head.length <= taken && payload.len() <= taken - head.length);
    let mut fields = [httparse::EMPTY_HEADER; 256];
    let parsed = httparse::Request::new(&mut fields).parse(bytes);
    assert_eq!(parsed, Ok(httparse::Status::Complete(head.length)), "where the head ends");
    if whole && !leaves_http(&head) {
        same_elsewhere(&head, &payload, &bytes[..taken]);
    }
}

/// Behind these the connection is not HTTP/1.1 any more when the server agrees.
fn leaves_http(head: &Head) -> bool {
    head.method == "CONNECT" || head.fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("upgrade"))
}

/// Claims that hyper's server finds this one request in these bytes, then the next one right behind them, or refuses.
/// Anything else would let a client smuggle a request past the record.
fn same_elsewhere(head: &Head, payload: &[u8], raw: &[u8]) {
    const NEXT: &[u8] = b"GET /next HTTP/1.1\r\nhost: a\r\n\r\n";
    let seen = peer::serve(Bytes::from([raw, NEXT].concat()));
    let mut seen = seen.into_iter();
    let Some(first) = seen.next() else { return };
    assert_eq!((first.method.as_str(), first.payload.as_slice()), (head.method.as_str(), payload), "the request");
    if let Some(second) = seen.next() {
        assert!(head.keep_alive, "a request behind the last one");
        assert_eq!((second.method.as_str(), second.target.as_str()), ("GET", "/next"), "the request behind it");
    }
    assert!(seen.next().is_none(), "a request out of nothing");
}
