//! Claims over answers.

use bytes::Bytes;

use super::message::{Grammar, Read, split_invariant};
use super::peer;
use crate::http::body::Framing;
use crate::http::head::{ResponseHead, may_be_response};

/// What is used of a head.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    status: u16,
    framing: Framing,
    keep_alive: bool,
    retry_after: Option<String>,
    is_tunnel: bool,
    length: usize,
}

fn parse(raw: Bytes, method: &str) -> Option<(Head, Framing)> {
    let length = raw.len();
    let ResponseHead { raw: kept, status, framing, keep_alive, retry_after, is_tunnel, .. } =
        ResponseHead::parse(raw, method).ok()?;
    assert_eq!(kept.len(), length, "a head is forwarded as it came");
    Some((Head { status, framing, keep_alive, retry_after, is_tunnel, length }, framing))
}

/// Any cut of the bytes gives the same answer to each method; an answer that we take as whole, another client takes as
/// the same one.
pub(super) fn check(bytes: &[u8]) {
    let grammars: [(&str, Grammar<Head>); 3] = [
        ("GET", Grammar { may_be: may_be_response, parse: |raw| parse(raw, "GET") }),
        ("HEAD", Grammar { may_be: may_be_response, parse: |raw| parse(raw, "HEAD") }),
        ("CONNECT", Grammar { may_be: may_be_response, parse: |raw| parse(raw, "CONNECT") }),
    ];
    for (method, grammar) in grammars {
        let Read::Message { head, payload, taken, whole } = split_invariant(&grammar, bytes) else { continue };
        assert!(head.length <= taken && payload.len() <= taken - head.length);
        assert!(method != "HEAD" || payload.is_empty(), "an answer to HEAD has no body");
        assert!(!head.keep_alive || head.framing != Framing::ToEnd, "nothing comes behind the end");
        let mut fields = [httparse::EMPTY_HEADER; 256];
        let parsed = httparse::Response::new(&mut fields).parse(bytes);
        assert_eq!(parsed, Ok(httparse::Status::Complete(head.length)), "where the head ends");
        // An answer that lasts until the end is whole at the end.
        let whole = whole || head.framing == Framing::ToEnd;
        if whole && head.status >= 200 && !head.is_tunnel {
            same_elsewhere(method, &head, &payload, &bytes[..taken]);
        }
    }
}

/// Claims that hyper's client finds the same answer in these bytes, or refuses.
fn same_elsewhere(method: &'static str, head: &Head, payload: &[u8], raw: &[u8]) {
    if let Some((status, body)) = peer::ask(method, Bytes::copy_from_slice(raw)) {
        assert_eq!((status, body.as_slice()), (head.status, payload), "the answer to {method}");
    }
}
