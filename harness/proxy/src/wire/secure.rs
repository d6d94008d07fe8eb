//! Drives the TLS of one socket for two directions at once. The lock is held for one step, never across a wait.

use std::io::{self, ErrorKind};
use std::sync::{Mutex, PoisonError};

use rustls::Connection;
use tokio::net::TcpStream;

use super::session::{HandshakeError, Session};
use super::{Inbox, Span};
use crate::clock::Clock;
use crate::sync::locked;
use crate::traffic::Traffic;

/// The TLS of one socket.
#[derive(Debug)]
pub(super) struct Secure {
    session: Box<Mutex<Session>>,
}

impl Secure {
    /// Takes what `ahead` has as the first bytes of the handshake.
    pub(super) fn new(tls: Connection, ahead: &mut Inbox) -> Self {
        let came = ahead.last_came();
        let session = Session::new(tls, ahead.bytes().to_vec(), came);
        *ahead = Inbox::default();
        Self { session: Box::new(Mutex::new(session)) }
    }

    pub(super) fn into_session(self) -> Session {
        self.session.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn alpn(&self) -> Option<Vec<u8>> {
        locked(&self.session).alpn().map(<[u8]>::to_vec)
    }

    pub(super) fn is_truncated(&self) -> bool {
        locked(&self.session).is_truncated()
    }

    pub(super) fn is_flushed(&self) -> bool {
        locked(&self.session).is_flushed()
    }

    pub(super) fn is_quiet(&self, socket: &TcpStream, clock: Clock) -> bool {
        locked(&self.session).is_quiet(socket, clock)
    }

    pub(super) async fn handshake(&self, socket: &TcpStream, clock: Clock) -> Result<(), HandshakeError> {
        loop {
            let owes = {
                let mut session = locked(&self.session);
                if session.shake(socket, clock)? {
                    return Ok(());
                }
                session.owes()
            };
            ready(socket, owes).await?;
        }
    }

    pub(super) async fn fill(&self, socket: &TcpStream, clock: Clock, inbox: &mut Inbox) -> io::Result<usize> {
        loop {
            let (waits, owes) = {
                let mut session = locked(&self.session);
                (session.waits_for_socket(), session.owes())
            };
            if waits {
                ready(socket, owes).await?;
            }
            let mut session = locked(&self.session);
            let received = session.receive(socket, clock, inbox.room());
            if session.owes() {
                // What it answers among itself is not for the reader to fail on; a dead socket shows when it is read.
                let _gone = session.flush(socket);
            }
            match received {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Ok(n) => {
                    inbox.came(n, session.came());
                    return Ok(n);
                }
                Err(e) => {
                    inbox.came(0, session.came());
                    return Err(e);
                }
            }
        }
    }

    pub(super) async fn send(
        &self,
        socket: &TcpStream,
        clock: Clock,
        traffic: &Traffic,
        mut bytes: &[u8],
    ) -> io::Result<Span> {
        let mut span = None;
        loop {
            let before = bytes.len();
            let done = locked(&self.session).send(socket, clock, &mut bytes, &mut span);
            traffic.went((before - bytes.len()) as u64);
            if done? {
                let now = || {
                    let now = clock.now();
                    Span { first: now, last: now }
                };
                return Ok(span.unwrap_or_else(now));
            }
            socket.writable().await?;
        }
    }

    pub(super) fn finish(&self, socket: &TcpStream, is_whole: bool) {
        // An error says that the connection is gone already.
        let _gone = locked(&self.session).finish(socket, is_whole);
    }

    pub(super) async fn flushed(&self, socket: &TcpStream) {
        loop {
            {
                let mut session = locked(&self.session);
                if !session.owes() || !matches!(session.flush(socket), Ok(false)) {
                    return;
                }
            }
            if socket.writable().await.is_err() {
                return;
            }
        }
    }
}

/// Waits until the socket may have something to read, or room for what is `owed`.
async fn ready(socket: &TcpStream, owed: bool) -> io::Result<()> {
    tokio::select! {
        read = socket.readable() => read,
        written = socket.writable(), if owed => written,
    }
}
