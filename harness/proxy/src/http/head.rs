//! Request and response heads. They are forwarded byte for byte; what is parsed here only serves decisions.

use bytes::Bytes;

use super::body::Framing;

/// The most header fields that a head may have.
const MAX_FIELDS: usize = 256;
/// The longest method name; longer ones, and bytes that no method has, are not HTTP.
const MAX_METHOD_BYTES: usize = 32;

/// A request head.
#[derive(Debug)]
pub(crate) struct RequestHead {
    pub(crate) raw: Bytes,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
    pub(crate) expects_continue: bool,
}

/// A response head.
#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) raw: Bytes,
    pub(crate) status: u16,
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
    pub(crate) retry_after: Option<String>,
    /// The connection is not HTTP any more behind this head.
    pub(crate) is_tunnel: bool,
}

/// Length of the head at the start of `bytes`, once it is there whole. Lines may end with a bare LF.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(n) = bytes[from..].iter().position(|b| *b == b'\n') {
        let rest = &bytes[from + n + 1..];
        if rest.starts_with(b"\n") {
            return Some(from + n + 2);
        }
        if rest.starts_with(b"\r\n") {
            return Some(from + n + 3);
        }
        from += n + 1;
    }
    None
}

/// Names of the field lines of a head, and the lines without their ends.
pub(crate) fn field_lines(raw: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    raw.split(|b| *b == b'\n')
        .skip(1)
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.iter().position(|b| *b == b':').map(|n| (line[..n].trim_ascii(), line)))
}

/// Whether `bytes` may be the start of a request: says no to TLS and other noise without waiting for a line end.
pub(crate) fn may_be_request(bytes: &[u8]) -> bool {
    let method = bytes.split(|b| *b == b' ').next().unwrap_or_default();
    method.len() <= MAX_METHOD_BYTES
        && method.iter().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b))
}

/// Whether `bytes` may be the start of a response.
pub(crate) fn may_be_response(bytes: &[u8]) -> bool {
    let known = b"HTTP/1.";
    let n = bytes.len().min(known.len());
    bytes[..n] == known[..n]
}

impl RequestHead {
    pub(crate) fn parse(raw: Bytes) -> Result<Self, String> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(&raw) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err("the head ends in the middle of a line".to_owned()),
            Err(e) => return Err(e.to_string()),
        }
        let minor = request.version.unwrap_or(1);
        let method = request.method.unwrap_or_default().to_owned();
        let target = request.path.unwrap_or_default().to_owned();
        let fields = owned(request.headers);
        let coding = coding(&fields);
        let length = declared_length(&fields)?;
        let framing = match (coding, length) {
            (Coding::None, None) => Framing::Empty,
            (Coding::None, Some(n)) => Framing::Length(n),
            (_, Some(_)) => return Err("both content-length and transfer-encoding".to_owned()),
            (Coding::Chunked, None) if minor == 1 => Framing::Chunked,
            (Coding::Chunked, None) => return Err("transfer-encoding in HTTP/1.0".to_owned()),
            (Coding::Other, None) => return Err("a transfer-encoding that does not end with chunked".to_owned()),
        };
        let expects_continue = values(&fields, "expect").any(|v| v.eq_ignore_ascii_case("100-continue"));
        let keep_alive = keep_alive(&fields, minor);
        Ok(Self { raw, method, target, fields, framing, keep_alive, expects_continue })
    }

    /// The head of a request whose bytes have another form (HTTP/2).
    pub(crate) fn of_stream(method: &str, target: String, fields: Vec<(String, String)>) -> Self {
        Self {
            raw: Bytes::new(),
            method: method.to_owned(),
            target,
            fields,
            framing: Framing::Empty,
            keep_alive: true,
            expects_continue: false,
        }
    }

    /// The value of a header field; the first one when there are several.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        values(&self.fields, name).next()
    }
}

impl ResponseHead {
    /// Parses the head of an answer to a request of that method.
    pub(crate) fn parse(raw: Bytes, method: &str) -> Result<Self, String> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        match response.parse(&raw) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err("the head ends in the middle of a line".to_owned()),
            Err(e) => return Err(e.to_string()),
        }
        let minor = response.version.unwrap_or(1);
        let status = response.code.unwrap_or_default();
        let fields = owned(response.headers);
        let is_tunnel = status == 101 || (method == "CONNECT" && (200..300).contains(&status));
        let bodiless = is_tunnel || status < 200 || matches!(status, 204 | 304) || method == "HEAD";
        let framing = match coding(&fields) {
            _ if bodiless => Framing::Empty,
            Coding::Chunked => Framing::Chunked,
            Coding::Other => Framing::ToEnd,
            Coding::None => declared_length(&fields)?.map_or(Framing::ToEnd, Framing::Length),
        };
        let keep_alive = keep_alive(&fields, minor) && framing != Framing::ToEnd;
        let retry_after = values(&fields, "retry-after").next().map(str::to_owned);
        Ok(Self { raw, status, framing, keep_alive, retry_after, is_tunnel })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    None,
    Chunked,
    Other,
}

fn owned(fields: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    fields.iter().map(|f| (f.name.to_owned(), String::from_utf8_lossy(f.value).into_owned())).collect()
}

fn values<'a>(fields: &'a [(String, String)], name: &str) -> impl Iterator<Item = &'a str> {
    fields.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim())
}

fn coding(fields: &[(String, String)]) -> Coding {
    match values(fields, "transfer-encoding").flat_map(|v| v.split(',')).last() {
        None => Coding::None,
        Some(last) if last.trim().eq_ignore_ascii_case("chunked") => Coding::Chunked,
        Some(_) => Coding::Other,
    }
}

/// The one declared length: repeated equal values count as one, different ones are an error.
fn declared_length(fields: &[(String, String)]) -> Result<Option<u64>, String> {
    let mut length = None;
    for text in values(fields, "content-length").flat_map(|v| v.split(',')).map(str::trim) {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let n = text.parse::<u64>().ok().filter(|_| digits).ok_or(format!("content-length `{text}`"))?;
        if length.is_some_and(|known| known != n) {
            return Err("content-length given twice with different values".to_owned());
        }
        length = Some(n);
    }
    Ok(length)
}

fn keep_alive(fields: &[(String, String)], minor: u8) -> bool {
    let says = |word: &str| {
        values(fields, "connection").flat_map(|v| v.split(',')).any(|token| token.trim().eq_ignore_ascii_case(word))
    };
    if minor == 0 { says("keep-alive") } else { !says("close") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<RequestHead, String> {
        RequestHead::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    // Proves that each ambiguous or unreadable framing is refused: a request that two readers may split differently
    // must never be forwarded.
    #[test]
    fn ambiguous_framing_is_refused() {
        for fields in [
            "content-length: 5\r\ntransfer-encoding: chunked\r\n",
            "content-length: 5\r\ncontent-length: 6\r\n",
            "content-length: 5, 6\r\n",
            "content-length: +5\r\n",
            "content-length: \r\n",
            "content-length: 99999999999999999999\r\n",
            "transfer-encoding: gzip\r\n",
            "transfer-encoding: chunked, gzip\r\n",
            "broken field\r\n",
        ] {
            let head = request(&format!("POST / HTTP/1.1\r\n{fields}\r\n"));
            assert!(head.is_err(), "{fields:?} gave {head:?}");
        }
        assert!(request("POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
        assert!(request("PRI * HTTP/2.0\r\n\r\n").is_err());
    }

    // Proves the framing and persistence rules of RFC 9112 for requests.
    #[test]
    fn requests_are_framed() {
        let head = request("POST /a?b HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n").expect("head");
        assert_eq!((head.framing, head.keep_alive, head.target.as_str()), (Framing::Length(5), true, "/a?b"));
        let head = request("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n").expect("head");
        assert_eq!((head.framing, head.keep_alive), (Framing::Empty, false));
        let head = request("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n").expect("head");
        assert_eq!(head.framing, Framing::Chunked);
        let head = request("GET / HTTP/1.0\nConnection: keep-alive\n\n").expect("head");
        assert!(head.keep_alive);
    }

    // Proves which answers have no body whatever their fields say, and which last until the end of the connection.
    #[test]
    fn responses_are_framed() {
        let framing = |text: &str, method: &str| {
            ResponseHead::parse(Bytes::copy_from_slice(text.as_bytes()), method).map(|h| (h.framing, h.keep_alive))
        };
        let sized = "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n";
        assert_eq!(framing(sized, "GET"), Ok((Framing::Length(7), true)));
        assert_eq!(framing(sized, "HEAD"), Ok((Framing::Empty, true)));
        assert_eq!(framing("HTTP/1.1 304 x\r\ncontent-length: 7\r\n\r\n", "GET"), Ok((Framing::Empty, true)));
        assert_eq!(framing("HTTP/1.1 204 x\r\ntransfer-encoding: chunked\r\n\r\n", "GET"), Ok((Framing::Empty, true)));
        assert_eq!(framing("HTTP/1.1 200 OK\r\n\r\n", "GET"), Ok((Framing::ToEnd, false)));
        assert_eq!(framing("HTTP/1.0 200 OK\r\ncontent-length: 7\r\n\r\n", "GET"), Ok((Framing::Length(7), false)));
        assert!(framing("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", "GET").is_err());
    }

    // Proves that a head is found at its end, not before and not behind.
    #[test]
    fn a_head_ends_at_its_empty_line() {
        let text = b"GET / HTTP/1.1\r\na: b\r\n\r\nbody\r\n\r\n";
        for n in 0..24 {
            assert_eq!(length(&text[..n]), None, "{n} bytes");
        }
        assert_eq!(length(text), Some(24));
        assert_eq!(length(b"GET / HTTP/1.1\na: b\n\nbody"), Some(21));
    }
}
