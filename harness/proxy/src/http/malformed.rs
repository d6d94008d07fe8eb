//! Answers that are not whole HTTP answers.

use std::fmt::Write;

use super::body::{BodyReader, Framing};
use super::head::{ResponseHead, field_lines};
use super::reply::reason;
use crate::rules::Malformed;

/// Bytes that mean nothing, where an answer has them.
const NOISE_BYTES: usize = 64;

/// What a malformed answer is made of.
#[derive(Debug)]
pub(super) struct Basis {
    status: u16,
    /// Field lines without those that say how the body is framed.
    fields: Vec<u8>,
    payload: Vec<u8>,
}

impl Default for Basis {
    /// Where the upstream was not asked, or its answer not waited for.
    fn default() -> Self {
        let fields = b"content-type: application/json\r\n".to_vec();
        Self { status: 200, fields, payload: br#"{"result":"this body is whole"}"#.to_vec() }
    }
}

impl Basis {
    /// The upstream's answer; `body` is as it came, framing included.
    pub(super) fn of(head: &ResponseHead, body: &[u8]) -> Self {
        let mut fields = Vec::new();
        for (_, line) in field_lines(&head.raw).filter(|(name, _)| !is_framing(name)) {
            fields.extend_from_slice(line);
            fields.extend_from_slice(b"\r\n");
        }
        let mut payload = Vec::new();
        if head.framing == Framing::Chunked {
            // It was read whole with the same reader, so it reads again.
            let _read = BodyReader::new(head.framing).take(body, u64::MAX, |bytes| payload.extend_from_slice(bytes));
        } else {
            payload.extend_from_slice(body);
        }
        if payload.len() < 2 {
            payload = Self::default().payload;
        }
        Self { status: head.status, fields, payload }
    }

    /// The bytes of the answer, and its status when a client can read one.
    pub(super) fn spoil(&self, kind: Malformed, noise: u64) -> (Vec<u8>, Option<u16>) {
        let half = self.payload.len() / 2;
        match kind {
            Malformed::Empty => (Vec::new(), None),
            // No HTTP answer begins with such a byte.
            Malformed::RandomDataThenClose => ([&[0xff], noise_bytes(noise).as_slice()].concat(), None),
            Malformed::GarbageHead => {
                // No status, so that no client takes the rest for an answer that lasts to the end of the connection.
                (["HTTP/1.1 ".as_bytes(), &noise_bytes(noise), b"\r\n\x00no field\xff\r\n\r\n"].concat(), None)
            }
            Malformed::BadChunk => {
                let (first, _) = self.payload.split_at(half);
                let chunk = format!("{:x}\r\n", first.len());
                let head = self.head("transfer-encoding: chunked");
                let bytes = [&head, chunk.as_bytes(), first, b"\r\nno size\r\n", &noise_bytes(noise)].concat();
                (bytes, Some(self.status))
            }
            Malformed::TruncatedBody => {
                let head = self.head(&format!("content-length: {}", self.payload.len()));
                ([&head, &self.payload[..half]].concat(), Some(self.status))
            }
            Malformed::WrongLength => {
                let head = self.head(&format!("content-length: {half}"));
                ([head.as_slice(), &self.payload].concat(), Some(self.status))
            }
        }
    }

    fn head(&self, framing: &str) -> Vec<u8> {
        let mut line = String::new();
        // Writing into a String cannot fail.
        let _infallible = write!(line, "HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        [line.as_bytes(), &self.fields, framing.as_bytes(), b"\r\n\r\n"].concat()
    }
}

fn is_framing(name: &[u8]) -> bool {
    [&b"content-length"[..], b"transfer-encoding", b"trailer", b"connection"]
        .iter()
        .any(|ours| name.eq_ignore_ascii_case(ours))
}

/// The same bytes for the same seed (xorshift), none of them a line end.
pub(crate) fn noise_bytes(seed: u64) -> [u8; NOISE_BYTES] {
    let mut state = seed | 1;
    std::array::from_fn(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Above ASCII: nothing in it can end a line.
        (state >> 32) as u8 | 0x80
    })
}
