//! Changes to the head of an upstream's answer.

use bytes::Bytes;

use super::head::{ResponseHead, field_lines};
use super::reply::reason;
use crate::rules::Patch;

impl ResponseHead {
    /// The head as the client gets it. How the body is framed stays as it was: the body comes as it is.
    pub(crate) fn patched(&self, patch: &Patch, method: &str) -> Self {
        let first = self.raw.split(|b| *b == b'\n').next().unwrap_or_default();
        let first = first.strip_suffix(b"\r").unwrap_or(first);
        let mut raw = match patch.status {
            Some(status) => {
                let version = first.split(|b| *b == b' ').next().unwrap_or_default();
                [version, format!(" {status} {}", reason(status)).as_bytes()].concat()
            }
            None => first.to_vec(),
        };
        raw.extend_from_slice(b"\r\n");
        // An answer without a body because of its status needs to say so under another one.
        let bodiless = patch.status.is_some() && matches!(self.status, 204 | 304) && method != "HEAD";
        let gone = |name: &[u8]| {
            let same = |other: &String| name.eq_ignore_ascii_case(other.as_bytes());
            patch.remove.iter().any(same)
                || patch.set.keys().any(same)
                || (bodiless && name.eq_ignore_ascii_case(b"content-length"))
        };
        for (_, line) in field_lines(&self.raw).filter(|(name, _)| !gone(name)) {
            raw.extend_from_slice(line);
            raw.extend_from_slice(b"\r\n");
        }
        for (name, value) in &patch.set {
            raw.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        if bodiless {
            raw.extend_from_slice(b"content-length: 0\r\n");
        }
        raw.extend_from_slice(b"\r\n");
        let retry_after = field_lines(&raw)
            .find(|(name, _)| name.eq_ignore_ascii_case(b"retry-after"))
            .map(|(name, line)| String::from_utf8_lossy(&line[name.len() + 1..]).trim().to_owned());
        Self {
            status: patch.status.unwrap_or(self.status),
            raw: Bytes::from(raw),
            framing: self.framing,
            keep_alive: self.keep_alive,
            retry_after,
            is_tunnel: self.is_tunnel,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn patched(text: &str, patch: &Patch) -> String {
        let head = ResponseHead::parse(Bytes::copy_from_slice(text.as_bytes()), "GET").expect("head");
        String::from_utf8(head.patched(patch, "GET").raw.to_vec()).expect("text")
    }

    // Proves what a patch changes, and that everything else of the head stays byte for byte.
    #[test]
    fn heads_are_patched() {
        let set = BTreeMap::from([("Retry-After".to_owned(), "5".to_owned())]);
        let text = "HTTP/1.1 201 Made it\r\nx-A:  b \r\nretry-after: 9\r\nX-gone: 1\r\ncontent-length: 3\r\n\r\n";
        let patch = Patch { set, remove: vec!["x-GONE".to_owned()], ..Patch::default() };
        let expected = "HTTP/1.1 201 Made it\r\nx-A:  b \r\ncontent-length: 3\r\nRetry-After: 5\r\n\r\n";
        assert_eq!(patched(text, &patch), expected);
        let busy = Patch { status: Some(503), ..Patch::default() };
        let text = "HTTP/1.0 204 None\r\na: b\r\n\r\n";
        assert_eq!(patched(text, &busy), "HTTP/1.0 503 Service Unavailable\r\na: b\r\ncontent-length: 0\r\n\r\n");
        let text = "HTTP/1.1 304 x\r\ncontent-length: 7\r\n\r\n";
        assert_eq!(patched(text, &busy), "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n");
    }
}
