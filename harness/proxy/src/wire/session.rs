//! The TLS of one socket, step by step and without waiting. Whoever drives it holds its lock for one step at a time.

use std::io::{self, BufRead, ErrorKind, Write};
use std::net::Shutdown;

use bytes::BytesMut;
use evidence::At;
use rustls::Connection;
use socket2::SockRef;
use tokio::net::TcpStream;

use super::{Span, read};
use crate::clock::Clock;

/// Room for one read from the socket: two full records.
const READ_BYTES: usize = 32 << 10;
/// How many reads one look at a quiet connection takes; a peer that sends more than this is not quiet.
const MAX_LOOKS: usize = 16;

/// A TLS session over a socket.
#[derive(Debug)]
pub(super) struct Session {
    tls: Connection,
    /// What came from the socket and TLS has not looked at yet.
    raw: Vec<u8>,
    /// When the last read from the socket ended.
    came: At,
    /// Any byte came at all.
    has_begun: bool,
    /// FIN came on the socket.
    is_over: bool,
    /// The peer said that it sends no more.
    is_closed: bool,
    /// Why TLS cannot go on, until somebody was told.
    failure: Option<rustls::Error>,
    /// TLS cannot go on: what still comes is thrown away.
    is_broken: bool,
    /// A sender waits for room in the kernel; only it goes on, so that its moments are those of its own writes.
    is_sending: bool,
    /// The kernel takes no more from us.
    is_mute: bool,
    fin: Fin,
}

/// How far the end of our sending half is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fin {
    Unasked,
    /// Bytes that the kernel had no room for go before it.
    Asked,
    Sent,
}

/// Why a handshake did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    /// Nothing ever came.
    #[error("it closed the connection without a word")]
    Silent,
    /// The peer left in the middle.
    #[error("it closed the connection in the middle of the handshake")]
    Left,
    /// The socket failed.
    #[error("the connection broke off during the handshake: {0}")]
    Broken(#[from] io::Error),
    /// One side refused.
    #[error(transparent)]
    Refused(#[from] rustls::Error),
}

impl Session {
    /// A session that begins with what was already read from the socket.
    pub(super) fn new(tls: Connection, ahead: Vec<u8>, came: At) -> Self {
        Self {
            has_begun: !ahead.is_empty(),
            tls,
            raw: ahead,
            came,
            is_over: false,
            is_closed: false,
            failure: None,
            is_broken: false,
            is_sending: false,
            is_mute: false,
            fin: Fin::Unasked,
        }
    }

    /// The protocol that both sides agreed on.
    pub(super) fn alpn(&self) -> Option<&[u8]> {
        self.tls.alpn_protocol()
    }

    /// Whether the peer sent FIN without having said that its data is whole.
    pub(super) fn is_truncated(&self) -> bool {
        self.is_over && !self.is_closed
    }

    /// When the last read ended.
    pub(super) fn came(&self) -> At {
        self.came
    }

    /// Whether only the socket can bring something new.
    pub(super) fn waits_for_socket(&mut self) -> bool {
        self.raw.is_empty() && self.failure.is_none() && !self.has_ended() && !self.has_payload()
    }

    /// Moves what there is into `into`, reading from the socket until there is something; 0 at the end.
    pub(super) fn receive(&mut self, socket: &TcpStream, clock: Clock, into: &mut BytesMut) -> io::Result<usize> {
        let before = into.len();
        loop {
            self.drain(into);
            if into.len() > before {
                return Ok(into.len() - before);
            }
            if let Some(failure) = self.failure.take() {
                return Err(io::Error::new(ErrorKind::InvalidData, failure));
            }
            if self.has_ended() {
                return Ok(0);
            }
            self.pull(|buffer| read::slice(socket, buffer), clock, Some(into))?;
        }
    }

    /// Whether the peer has sent nothing for us and not ended. What TLS says among itself, session tickets for example,
    /// is taken in. Asks the kernel itself: the runtime may not have heard yet.
    pub(super) fn is_quiet(&mut self, socket: &TcpStream, clock: Clock) -> bool {
        let kernel = SockRef::from(socket);
        for _ in 0..MAX_LOOKS {
            if self.is_broken || self.has_ended() || self.has_payload() {
                return false;
            }
            match self.pull(|buffer| io::Read::read(&mut &*kernel, buffer), clock, None) {
                Ok(()) => {}
                Err(e) => return e.kind() == ErrorKind::WouldBlock,
            }
        }
        false
    }

    /// Goes on with the handshake; `false` when it has to wait for the socket.
    pub(super) fn shake(&mut self, socket: &TcpStream, clock: Clock) -> Result<bool, HandshakeError> {
        loop {
            // The peer's reason to end counts, not that it no longer listens.
            let flushed = self.flush(socket);
            if let Some(failure) = self.failure.take() {
                return Err(failure.into());
            }
            if !self.tls.is_handshaking() {
                return Ok(flushed?);
            }
            if self.has_ended() {
                return Err(if self.has_begun { HandshakeError::Left } else { HandshakeError::Silent });
            }
            match self.pull(|buffer| read::slice(socket, buffer), clock, None) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    flushed?;
                    return Ok(false);
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Encrypts `bytes` and hands them to the kernel as far as it has room, cutting off what is done; `true` when all
    /// is done. `span` is widened by each write that carries any of them.
    pub(super) fn send(
        &mut self,
        socket: &TcpStream,
        clock: Clock,
        bytes: &mut &[u8],
        span: &mut Option<Span>,
    ) -> io::Result<bool> {
        self.is_sending = true;
        loop {
            let had_room = !self.tls.wants_write();
            if had_room && bytes.is_empty() {
                self.is_sending = false;
                return Ok(true);
            }
            if had_room {
                self.encrypt(bytes)?;
            }
            let now = clock.now();
            match self.tls.write_tls(&mut Outlet(socket)) {
                Ok(_) => match span {
                    Some(span) => span.last = now,
                    None => *span = had_room.then_some(Span { first: now, last: now }),
                },
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
        }
    }

    /// Encrypts as much of `bytes` as there is room for, and cuts it off.
    pub(super) fn encrypt(&mut self, bytes: &mut &[u8]) -> io::Result<usize> {
        let n = self.tls.writer().write(bytes)?;
        if n == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WriteZero.into());
        }
        *bytes = &bytes[n..];
        Ok(n)
    }

    /// Hands to the kernel what TLS still has to send, and FIN behind it when that is asked for; `false` when the
    /// kernel has no room for all of it.
    pub(super) fn flush(&mut self, socket: &TcpStream) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Outlet(socket)) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => {
                    self.is_mute = true;
                    return Err(e);
                }
            }
        }
        if self.fin == Fin::Asked {
            self.fin = Fin::Sent;
            SockRef::from(socket).shutdown(Shutdown::Write)?;
        }
        Ok(true)
    }

    /// Whether the kernel has all that TLS has to send.
    pub(super) fn is_flushed(&self) -> bool {
        !self.tls.wants_write()
    }

    /// Whether bytes wait for room in the kernel, and it is not for a sender to bring them on.
    pub(super) fn owes(&self) -> bool {
        !self.is_sending && !self.is_mute && (self.tls.wants_write() || self.fin == Fin::Asked)
    }

    /// Says that our data is whole, unless it is not, and sends FIN behind it as soon as the kernel has room.
    pub(super) fn finish(&mut self, socket: &TcpStream, is_whole: bool) -> io::Result<bool> {
        if self.fin == Fin::Unasked {
            self.fin = Fin::Asked;
            self.is_sending = false;
            // Before the handshake is over there is no data to vouch for.
            if is_whole && !self.tls.is_handshaking() {
                self.tls.send_close_notify();
            }
        }
        self.flush(socket)
    }

    /// Reads once, from what is there or else by `read`, and lets TLS look at it.
    fn pull(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
        clock: Clock,
        into: Option<&mut BytesMut>,
    ) -> io::Result<()> {
        if !self.raw.is_empty() {
            let ahead = std::mem::take(&mut self.raw);
            self.feed(&ahead, into);
            return Ok(());
        }
        let mut buffer = [0; READ_BYTES];
        let read = read(&mut buffer);
        let would_block = matches!(&read, Err(e) if e.kind() == ErrorKind::WouldBlock);
        if !would_block {
            self.came = clock.now();
        }
        let n = read?;
        self.is_over = n == 0;
        self.has_begun |= n > 0;
        self.feed(&buffer[..n], into);
        Ok(())
    }

    /// Lets TLS look at `bytes`. Without a place for payload it stops at the first, and keeps the rest for later.
    fn feed(&mut self, mut bytes: &[u8], mut into: Option<&mut BytesMut>) {
        while !bytes.is_empty() && !self.is_broken && !self.is_closed {
            // Neither of its errors can come: the source is a slice, and payload is taken out after every step.
            if !matches!(self.tls.read_tls(&mut bytes), Ok(1..)) {
                return;
            }
            match self.tls.process_new_packets() {
                Ok(state) => {
                    self.is_closed = state.peer_has_closed();
                    if state.plaintext_bytes_to_read() == 0 {
                        continue;
                    }
                }
                Err(failure) => {
                    self.is_broken = true;
                    self.failure = Some(failure);
                }
            }
            match &mut into {
                Some(into) => drain(&mut self.tls, into),
                None => {
                    self.raw = bytes.to_vec();
                    return;
                }
            }
        }
    }

    fn drain(&mut self, into: &mut BytesMut) {
        drain(&mut self.tls, into);
    }

    fn has_payload(&mut self) -> bool {
        matches!(self.tls.reader().fill_buf(), Ok(payload) if !payload.is_empty())
    }

    /// Nothing more comes. A broken session ends with its socket.
    fn has_ended(&self) -> bool {
        self.is_over || self.is_closed
    }
}

fn drain(tls: &mut Connection, into: &mut BytesMut) {
    let mut reader = tls.reader();
    while let Ok(payload) = reader.fill_buf() {
        let n = payload.len();
        if n == 0 {
            return;
        }
        into.extend_from_slice(payload);
        reader.consume(n);
    }
}

/// The socket as TLS writes to it.
struct Outlet<'a>(&'a TcpStream);

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn write_vectored(&mut self, bytes: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.0.try_write_vectored(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
