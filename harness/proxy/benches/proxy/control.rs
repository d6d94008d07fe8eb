//! Calls to control planes: Envoy's admin endpoint and our API. One connection a call.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::origin::head_end;

/// The longest wait for a control plane. Only a hang is ended by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes one call and returns the status and the body of its answer.
pub(crate) fn call(to: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let end = head_end(&all).ok_or(io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&all[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    let body = &all[end..];
    let is_chunked = head.contains("\r\ntransfer-encoding: chunked\r\n");
    Ok((status, if is_chunked { joined(body)? } else { body.to_vec() }))
}

/// The payload of a chunked body.
fn joined(mut rest: &[u8]) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    loop {
        let line = rest.windows(2).position(|two| two == b"\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        let digits = String::from_utf8_lossy(&rest[..line]);
        let size = usize::from_str_radix(digits.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
        if size == 0 {
            return Ok(payload);
        }
        let chunk = rest.get(line + 2..line + 2 + size).ok_or(io::ErrorKind::UnexpectedEof)?;
        payload.extend_from_slice(chunk);
        rest = rest.get(line + 4 + size..).ok_or(io::ErrorKind::UnexpectedEof)?;
    }
}
