//! Reading requests from a client.

use std::io;

use evidence::{At, Body};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::body::{BodyReader, Framing};
use super::head::{RequestHead, length, may_be_request};
use crate::config::Limits;
use crate::conn::Client;
use crate::h2::PREFACE;
use crate::wire::Inbox;

/// A request whose head came.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) head: RequestHead,
    pub(crate) arrived: At,
    pub(crate) head_at: At,
}

/// What came next on a connection.
#[derive(Debug)]
pub(crate) enum Next {
    Request(Incoming),
    /// Something that is not a request of ours; it is answered with this status.
    Bad {
        status: u16,
        why: String,
        arrived: At,
    },
    /// The connection begins as HTTP/2 does; nothing was taken of that.
    Http2,
    /// The client ended the connection between requests.
    Ended,
    /// The client ended the connection in the middle of a head.
    Left {
        arrived: At,
        at: At,
    },
    /// A rule that decides on connections came into force while this one was idle.
    Retired,
}

/// Waits for the next request head. The connection is idle until its first byte comes.
pub(crate) async fn next(
    client: &mut Client,
    limits: &Limits,
    retire: &mut watch::Receiver<u64>,
    is_first: bool,
) -> Next {
    skip_line_ends(&mut client.inbox);
    while client.inbox.is_empty() {
        client.inbox.shrink();
        tokio::select! {
            biased;
            filled = client.wire.fill(&mut client.inbox) => {
                if matches!(filled, Ok(0) | Err(_)) {
                    return Next::Ended;
                }
            }
            // An error would say that the engine is gone, which this connection's own link keeps alive.
            Ok(()) = retire.changed() => return Next::Retired,
        }
        skip_line_ends(&mut client.inbox);
    }
    let arrived = client.inbox.first_came();
    match tokio::time::timeout(limits.head_time, head(client, limits, arrived, is_first)).await {
        Ok(next) => next,
        Err(_) => {
            let why = format!("no whole request head within {:?}", limits.head_time);
            Next::Bad { status: 408, why, arrived }
        }
    }
}

async fn head(client: &mut Client, limits: &Limits, arrived: At, is_first: bool) -> Next {
    loop {
        let bytes = client.inbox.bytes();
        if !may_be_request(bytes) {
            return Next::Bad { status: 400, why: "this is not HTTP/1.1".to_owned(), arrived };
        }
        match length(bytes) {
            Some(n) if is_first && bytes[..n] == *PREFACE => return Next::Http2,
            Some(n) if n <= limits.head_bytes => {
                let head_at = client.inbox.last_came();
                return match RequestHead::parse(client.inbox.take(n)) {
                    Ok(head) => Next::Request(Incoming { head, arrived, head_at }),
                    Err(why) => Next::Bad { status: 400, why, arrived },
                };
            }
            None if bytes.len() < limits.head_bytes => {}
            _ => {
                let why = format!("a request head of more than {} bytes", limits.head_bytes);
                return Next::Bad { status: 431, why, arrived };
            }
        }
        if let Ok(0) | Err(_) = client.wire.fill(&mut client.inbox).await {
            return Next::Left { arrived, at: client.inbox.last_came() };
        }
    }
}

/// Line ends before a request are left over from old clients and mean nothing.
fn skip_line_ends(inbox: &mut Inbox) {
    let n = inbox.bytes().iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    inbox.skip(n);
}

/// The body of one request, as far as it came.
#[derive(Debug)]
pub(crate) struct Intake {
    reader: BodyReader,
    digest: Sha256,
    bytes: u64,
    declared: Option<u64>,
    /// End of the request, when it came whole.
    pub(crate) whole: Option<At>,
}

impl Intake {
    pub(crate) fn new(framing: Framing, head_at: At) -> Self {
        let reader = BodyReader::new(framing);
        let declared = match framing {
            Framing::Length(n) => Some(n),
            _ => None,
        };
        let whole = reader.is_done().then_some(head_at);
        Self { reader, digest: Sha256::new(), bytes: 0, declared, whole }
    }

    /// Of a request whose head cannot be read.
    pub(crate) fn unreadable() -> Self {
        Self { whole: None, ..Self::new(Framing::Empty, At::default()) }
    }

    /// Of a request whose body comes as pieces that are not framed (HTTP/2); with the moment when it was whole, if it is.
    pub(crate) fn of_stream(declared: Option<u64>, whole: Option<At>) -> Self {
        Self { declared, whole, ..Self::unreadable() }
    }

    /// Counts a piece of such a body.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        self.digest.update(piece);
        self.bytes += piece.len() as u64;
    }

    /// Such a body is whole.
    pub(crate) fn end(&mut self, at: At) {
        self.whole.get_or_insert(at);
    }

    /// Takes what there is of the body, framing included.
    pub(crate) fn take(&mut self, inbox: &mut Inbox) -> Result<bytes::Bytes, &'static str> {
        let taken = self.reader.take(inbox.bytes(), u64::MAX, |payload| self.digest.update(payload))?;
        self.bytes += taken.payload;
        if self.reader.is_done() && self.whole.is_none() {
            self.whole = Some(inbox.last_came());
        }
        Ok(inbox.take(taken.raw))
    }

    pub(crate) fn seal(&mut self) -> Body {
        let sha256 = self.whole.map(|_| hex(&self.digest.finalize_reset()));
        Body { bytes: self.bytes, declared: self.declared, sha256 }
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    text
}

/// Why a body did not come whole.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The client left.
    Left(At),
    /// Its framing cannot be read.
    Framing(&'static str),
    /// It is longer than the proxy keeps.
    TooLong,
}

/// Reads a body whole. Keeps its bytes when `keep` says how many at most; returns nothing kept otherwise.
pub(crate) async fn absorb(client: &mut Client, intake: &mut Intake, keep: Option<usize>) -> Result<Vec<u8>, Broken> {
    let mut kept = Vec::new();
    loop {
        let piece = intake.take(&mut client.inbox).map_err(Broken::Framing)?;
        if let Some(limit) = keep {
            if kept.len() + piece.len() > limit {
                return Err(Broken::TooLong);
            }
            kept.extend_from_slice(&piece);
        }
        if intake.whole.is_some() {
            return Ok(kept);
        }
        let filled: io::Result<usize> = client.wire.fill(&mut client.inbox).await;
        if let Ok(0) | Err(_) = filled {
            return Err(Broken::Left(client.inbox.last_came()));
        }
    }
}
