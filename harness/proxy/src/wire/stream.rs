//! A wire as an ordinary stream, for code that drives its own connection (HTTP/2), with a handle that resets it from
//! outside.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, BytesMut};
use evidence::At;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Inbox;
use super::read;
use super::session::Session;
use crate::clock::Clock;
use crate::sync::locked;
use crate::traffic::Traffic;

/// A wire as a stream.
#[derive(Debug)]
pub(crate) struct Io {
    shared: Arc<Shared>,
    /// What was read and not yet asked for.
    ahead: BytesMut,
}

/// Resets the connection of an [`Io`], whoever drives that meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct ResetHandle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    socket: Mutex<Socket>,
    clock: Clock,
    traffic: Arc<Traffic>,
}

#[derive(Debug)]
struct Socket {
    /// Gone once it was reset.
    stream: Option<TcpStream>,
    session: Option<Session>,
    /// Who waits for it: a reset takes the socket from under them, and the runtime would not wake them.
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Socket {
    fn poll_read(&mut self, cx: &mut Context<'_>, clock: Clock, ahead: &mut BytesMut) -> Poll<io::Result<usize>> {
        let stream = self.stream.as_ref().ok_or(io::ErrorKind::ConnectionReset)?;
        loop {
            if self.session.as_mut().is_none_or(Session::waits_for_socket) {
                self.reader = Some(cx.waker().clone());
                ready!(stream.poll_read_ready(cx))?;
            }
            let read = match &mut self.session {
                Some(session) => session.receive(stream, clock, ahead),
                None => read::once(stream, ahead),
            };
            match read {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return Poll::Ready(other),
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, mut bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_flush(cx))?;
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::ConnectionReset)?;
        match &mut self.session {
            Some(session) => {
                let n = session.encrypt(&mut bytes)?;
                // What the kernel has no room for goes with the next write or flush.
                session.flush(stream)?;
                Poll::Ready(Ok(n))
            }
            None => {
                self.writer = Some(cx.waker().clone());
                Pin::new(stream).poll_write(cx, bytes)
            }
        }
    }

    /// Waits until the kernel has taken all that TLS has to send.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.stream.as_ref().ok_or(io::ErrorKind::ConnectionReset)?;
        let Some(session) = &mut self.session else { return Poll::Ready(Ok(())) };
        while !session.flush(stream)? {
            self.writer = Some(cx.waker().clone());
            ready!(stream.poll_write_ready(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = self.stream.as_mut().ok_or(io::ErrorKind::ConnectionReset)?;
        match &mut self.session {
            Some(session) => {
                session.finish(stream, true)?;
                self.poll_flush(cx)
            }
            None => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl Io {
    pub(super) fn new(
        stream: TcpStream,
        session: Option<Session>,
        mut inbox: Inbox,
        clock: Clock,
        traffic: Arc<Traffic>,
    ) -> Self {
        let socket = Socket { stream: Some(stream), session, reader: None, writer: None };
        let ahead = BytesMut::from(inbox.take(inbox.len()));
        Self { shared: Arc::new(Shared { socket: Mutex::new(socket), clock, traffic }), ahead }
    }

    /// A handle that resets this connection.
    pub(crate) fn reset_handle(&self) -> ResetHandle {
        ResetHandle(Arc::clone(&self.shared))
    }
}

impl AsyncRead for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { shared, ahead } = &mut *self;
        if ahead.is_empty() {
            let n = ready!(locked(&shared.socket).poll_read(cx, shared.clock, ahead))?;
            shared.traffic.came(n as u64);
        }
        let n = ahead.len().min(buf.remaining());
        buf.put_slice(&ahead[..n]);
        ahead.advance(n);
        if ahead.is_empty() {
            // Gives the memory back while the connection is idle.
            *ahead = BytesMut::new();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = locked(&self.shared.socket).poll_write(cx, bytes);
        if let Poll::Ready(Ok(n)) = polled {
            self.shared.traffic.went(n as u64);
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        locked(&self.shared.socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        locked(&self.shared.socket).poll_shutdown(cx)
    }
}

impl ResetHandle {
    /// Sends RST. Whoever drives the stream gets `ConnectionReset` from then on; on a connection that is gone it does
    /// nothing.
    pub(crate) fn reset(&self) -> At {
        let (stream, waiting) = {
            let mut socket = locked(&self.0.socket);
            (socket.stream.take(), [socket.reader.take(), socket.writer.take()])
        };
        if let Some(stream) = &stream {
            // On failure the close below is a FIN, or a RST if bytes are unread; the peer sees an end in any case.
            let _fin = stream.set_zero_linger();
        }
        let at = self.0.clock.now();
        drop(stream);
        waiting.into_iter().flatten().for_each(Waker::wake);
        at
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::wire::Wire;

    async fn pair() -> (Wire, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let peer = TcpStream::connect(listener.local_addr().expect("addr")).await.expect("connect");
        let (stream, _) = listener.accept().await.expect("accept");
        (Wire::new(stream, Clock::new(Clock::base_now()), Arc::default()), peer)
    }

    // Proves that what came before the wire became a stream is read first, in order, and that writes go out.
    #[tokio::test]
    async fn a_stream_begins_with_what_came_before() {
        let (wire, mut peer) = pair().await;
        peer.write_all(b"early ").await.expect("send");
        let mut inbox = Inbox::default();
        while inbox.len() < 6 {
            wire.fill(&mut inbox).await.expect("bytes");
        }
        let mut io = wire.into_io(inbox);
        peer.write_all(b"late").await.expect("send");
        let mut all = [0; 10];
        io.read_exact(&mut all).await.expect("all");
        assert_eq!(&all, b"early late");
        io.write_all(b"answer").await.expect("write");
        io.shutdown().await.expect("fin");
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).await.expect("answer");
        assert_eq!(answer, b"answer");
    }

    // Proves that a reset from outside is a RST on the network at once, and wakes a reader that waits.
    #[tokio::test]
    async fn a_reset_from_outside_wakes_the_reader() {
        let (wire, mut peer) = pair().await;
        let mut io = wire.into_io(Inbox::default());
        let handle = io.reset_handle();
        let reading = tokio::spawn(async move { io.read(&mut [0; 8]).await.map_err(|e| e.kind()) });
        tokio::task::yield_now().await;
        handle.reset();
        let seen = peer.read(&mut [0; 8]).await.map_err(|e| e.kind());
        assert_eq!(seen, Err(io::ErrorKind::ConnectionReset));
        let read = tokio::time::timeout(Duration::from_secs(30), reading).await.expect("woken").expect("joined");
        assert_eq!(read, Err(io::ErrorKind::ConnectionReset));
        handle.reset();
    }
}
