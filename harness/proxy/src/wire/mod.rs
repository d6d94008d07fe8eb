//! One socket with exact moments: what came when, and when bytes, FIN or RST were handed to the kernel.
//!
//! Moments of what the proxy *does* are read right before the system call that does it, moments of what it *sees* right
//! after. A gap from a failure to the next arrival is therefore never measured too short by the proxy's own slowness:
//! the error has one sign, which the judge's noise bound allows for.
//!
//! With TLS, the same holds for the records: what came is stamped with the read that completed its record, and what was
//! sent with the writes that carried its records. Bytes are counted as the client and the upstream mean them, without
//! the records around them.

mod inbox;
mod read;
mod secure;
mod session;
mod stream;

use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

use evidence::At;
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;

use crate::clock::Clock;
use crate::traffic::Traffic;
use secure::Secure;

pub(crate) use inbox::Inbox;
pub(crate) use session::HandshakeError;
pub(crate) use stream::Io;

/// What a client may send ahead while its exchange goes on. Behind more than this its FIN is not seen until the
/// exchange is over.
const AHEAD_BYTES: usize = 64 << 10;

/// A socket.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    secure: Option<Secure>,
    clock: Clock,
    traffic: Arc<Traffic>,
}

/// When the first and the last byte of a message were handed to the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) first: At,
    pub(crate) last: At,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, clock: Clock, traffic: Arc<Traffic>) -> Self {
        // Without it small writes wait for acknowledgements; a failure only costs time.
        let _slow = stream.set_nodelay(true);
        Self { stream, secure: None, clock, traffic }
    }

    /// Speaks TLS from here on, beginning with what `ahead` has; the handshake comes next.
    pub(crate) fn begin_tls(&mut self, tls: rustls::Connection, ahead: &mut Inbox) {
        self.secure = Some(Secure::new(tls, ahead));
    }

    /// Carries out the handshake of [`Wire::begin_tls`]. After an error the peer has been told why, as far as there is
    /// somebody to tell.
    pub(crate) async fn handshake(&self) -> Result<(), HandshakeError> {
        match &self.secure {
            Some(secure) => secure.handshake(&self.stream, self.clock).await,
            None => Ok(()),
        }
    }

    /// The protocol that both sides agreed on in the handshake (ALPN).
    pub(crate) fn alpn(&self) -> Option<Vec<u8>> {
        self.secure.as_ref().and_then(Secure::alpn)
    }

    /// Whether the peer's FIN came without its word that its data is whole, which TLS asks for.
    pub(crate) fn is_truncated(&self) -> bool {
        self.secure.as_ref().is_some_and(Secure::is_truncated)
    }

    /// Waits for bytes and puts them into `inbox`; 0 at the end of the stream. Nothing is lost when it is dropped
    /// early.
    pub(crate) async fn fill(&self, inbox: &mut Inbox) -> io::Result<usize> {
        if let Some(secure) = &self.secure {
            let filled = secure.fill(&self.stream, self.clock, inbox).await;
            self.traffic.came(*filled.as_ref().unwrap_or(&0) as u64);
            return filled;
        }
        loop {
            self.stream.readable().await?;
            match read::once(&self.stream, inbox.tail()) {
                Ok(n) => {
                    inbox.came(n, self.clock.now());
                    self.traffic.came(n as u64);
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => {
                    inbox.came(0, self.clock.now());
                    return Err(e);
                }
            }
        }
    }

    /// Hands all of `bytes` to the kernel.
    pub(crate) async fn send(&self, mut bytes: &[u8]) -> io::Result<Span> {
        if let Some(secure) = &self.secure {
            return secure.send(&self.stream, self.clock, &self.traffic, bytes).await;
        }
        let mut first = None;
        loop {
            let now = self.clock.now();
            match self.stream.try_write(bytes) {
                Ok(n) => {
                    self.traffic.went(n as u64);
                    bytes = &bytes[n..];
                    let first = *first.get_or_insert(now);
                    if bytes.is_empty() {
                        return Ok(Span { first, last: now });
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(e) => return Err(e),
            }
        }
    }

    /// Whether the peer has neither sent anything nor closed. Asks the kernel itself: the runtime may not have heard yet.
    pub(crate) fn is_quiet(&self) -> bool {
        if let Some(secure) = &self.secure {
            return secure.is_quiet(&self.stream, self.clock);
        }
        let mut probe = [MaybeUninit::uninit(); 1];
        let peeked = SockRef::from(&self.stream).peek(&mut probe);
        matches!(peeked, Err(e) if e.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until the peer has closed or reset; what it sends until then stays in `inbox`. Behind a full inbox only a
    /// reset is seen.
    pub(crate) async fn departure(&self, inbox: &mut Inbox) -> At {
        while inbox.len() < AHEAD_BYTES {
            match self.fill(inbox).await {
                Ok(0) | Err(_) => return self.clock.now(),
                Ok(_) => {}
            }
        }
        self.broken().await
    }

    /// Waits until the peer has reset, whatever it has sent before and nobody has read yet.
    pub(crate) async fn broken(&self) -> At {
        // An error says that the runtime ends, and everything with it.
        let _ending = self.stream.ready(Interest::ERROR).await;
        self.clock.now()
    }

    /// Waits until the peer has closed or reset; what it sends until then is thrown away.
    pub(crate) async fn silence(&self) -> At {
        let mut inbox = Inbox::default();
        loop {
            match self.fill(&mut inbox).await {
                Ok(0) | Err(_) => return self.clock.now(),
                Ok(_) => inbox.clear(),
            }
        }
    }

    /// Sends RST.
    pub(crate) fn reset(self) -> At {
        // On failure the close below is a FIN, or a RST if bytes are unread; the peer sees an end in any case.
        let _fin = self.stream.set_zero_linger();
        let at = self.clock.now();
        drop(self.stream);
        at
    }

    /// Sends FIN; reading goes on. With TLS the word that the data is whole goes before it, and when the kernel has no
    /// room for that, both follow as soon as it has: [`Wire::fill`], [`Wire::flushed`] and [`Wire::linger`] see to it.
    pub(crate) fn fin(&self) -> At {
        self.end(true)
    }

    /// Sends FIN as `source` did: over TLS without the word that the data is whole when that never came.
    pub(crate) fn fin_like(&self, source: &Wire) -> At {
        self.end(!source.is_truncated())
    }

    fn end(&self, is_whole: bool) -> At {
        let at = self.clock.now();
        if let Some(secure) = &self.secure {
            secure.finish(&self.stream, is_whole);
            return at;
        }
        // An error says that the connection is gone already.
        let _gone = SockRef::from(&self.stream).shutdown(Shutdown::Write);
        at
    }

    /// Whether the kernel has all that was sent. A write through TLS that was interrupted may leave a part of what it took;
    /// the next one, of nothing if need be, brings that on.
    pub(crate) fn is_flushed(&self) -> bool {
        self.secure.as_ref().is_none_or(Secure::is_flushed)
    }

    /// Waits until nothing of ours is left to be handed to the kernel.
    pub(crate) async fn flushed(&self) {
        if let Some(secure) = &self.secure {
            secure.flushed(&self.stream).await;
        }
    }

    /// Reads until the peer has closed too: closing over unread bytes would send RST, which may overtake what was sent.
    pub(crate) async fn linger(self, at_most: Duration) {
        let end = async {
            self.flushed().await;
            self.silence().await;
        };
        let _late = tokio::time::timeout(at_most, end).await;
    }

    /// The socket itself, when nothing stands between its bytes and ours.
    pub(crate) fn plain(&self) -> Option<&TcpStream> {
        self.secure.is_none().then_some(&self.stream)
    }

    /// What counts its bytes, for code that moves them past this type.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// As a stream for code that drives one itself. What is in `inbox` is read first.
    pub(crate) fn into_io(self, inbox: Inbox) -> Io {
        Io::new(self.stream, self.secure.map(Secure::into_session), inbox, self.clock, self.traffic)
    }
}
