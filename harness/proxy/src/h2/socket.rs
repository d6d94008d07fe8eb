//! The client's socket, shared between the HTTP/2 framing layer, which reads and writes it, and the proxy, which ends it
//! in ways that the framing layer has no word for.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use evidence::At;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::clock::Clock;
use crate::sync::locked;
use crate::wire::Io;

/// Room for one read of what nobody needs any more.
const DISCARD_BYTES: usize = 4 << 10;

/// A socket. Clones are the same socket.
#[derive(Debug, Clone)]
pub(super) struct Socket {
    state: Arc<Mutex<State>>,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    io: Io,
    /// The kernel took no more at the last write.
    is_blocked: bool,
    /// The end of what the peer sends is kept back until every request before it was taken up: the framing layer forgets
    /// those that it has not handed out when it learns of the end.
    guards_end: bool,
    /// The end, once it was seen, and the error that it was if it was one.
    end: Option<(At, Option<io::ErrorKind>)>,
}

impl Socket {
    pub(super) fn new(io: Io, clock: Clock) -> Self {
        Self { state: Arc::new(Mutex::new(State { io, is_blocked: false, guards_end: false, end: None })), clock }
    }

    /// Keeps the end back from now on, until [`Socket::let_end`].
    pub(super) fn guard_end(&self) {
        locked(&self.state).guards_end = true;
    }

    /// Stops keeping back an end that has come; says whether there is one that was kept back. The reader has to look
    /// again then, for nothing wakes it.
    pub(super) fn let_end(&self) -> bool {
        let mut state = locked(&self.state);
        let kept_back = state.guards_end && state.end.is_some();
        state.guards_end &= !kept_back;
        kept_back
    }

    /// When the peer ended what it sends.
    pub(super) fn ended_at(&self) -> Option<At> {
        locked(&self.state).end.map(|(at, _)| at)
    }

    /// Whether bytes wait for the kernel to take more.
    pub(super) fn is_blocked(&self) -> bool {
        locked(&self.state).is_blocked
    }

    /// Hands `bytes` to the kernel behind what the framing layer has written.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes).await
    }

    /// Sends FIN; reading goes on.
    pub(super) async fn fin(&mut self) -> At {
        locked(&self.state).guards_end = false;
        let at = self.clock.now();
        // An error says that the connection is gone already.
        let _gone = self.shutdown().await;
        at
    }

    /// Sends RST.
    pub(super) fn reset(&self) -> At {
        let handle = locked(&self.state).io.reset_handle();
        handle.reset()
    }

    /// Reads until the peer has closed too: closing over unread bytes would send RST, which may overtake what was sent.
    pub(super) async fn linger(mut self, at_most: Duration) {
        let mut discarded = [0; DISCARD_BYTES];
        let silence = async { while !matches!(self.read(&mut discarded).await, Ok(0) | Err(_)) {} };
        let _late = tokio::time::timeout(at_most, silence).await;
    }
}

impl State {
    fn told(&self, error: Option<io::ErrorKind>) -> Poll<io::Result<()>> {
        match error {
            _ if self.guards_end => Poll::Pending,
            Some(kind) => Poll::Ready(Err(kind.into())),
            None => Poll::Ready(Ok(())),
        }
    }

    fn wrote<T>(&mut self, polled: Poll<T>) -> Poll<T> {
        self.is_blocked = polled.is_pending();
        polled
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = locked(&self.state);
        if let Some((_, error)) = state.end {
            return state.told(error);
        }
        let before = buf.filled().len();
        let error = match Pin::new(&mut state.io).poll_read(cx, buf) {
            Poll::Ready(Err(e)) => Some(e.kind()),
            Poll::Ready(Ok(())) if buf.filled().len() == before => None,
            polled => return polled,
        };
        state.end = Some((self.clock.now(), error));
        state.told(error)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = locked(&self.state);
        let polled = Pin::new(&mut state.io).poll_write(cx, buf);
        state.wrote(polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut state = locked(&self.state);
        let polled = Pin::new(&mut state.io).poll_write_vectored(cx, bufs);
        state.wrote(polled)
    }

    fn is_write_vectored(&self) -> bool {
        locked(&self.state).io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = locked(&self.state);
        let polled = Pin::new(&mut state.io).poll_flush(cx);
        state.wrote(polled)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut locked(&self.state).io).poll_shutdown(cx)
    }
}
