//! A wire as an ordinary stream, for code that drives its own connection (HTTP/2), with a handle that resets it from
//! outside.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use judge::evidence::At;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Inbox;
use crate::clock::Clock;
use crate::sync::locked;
use crate::traffic::Traffic;

/// A wire as a stream.
#[derive(Debug)]
pub(crate) struct Io {
    shared: Arc<Shared>,
    /// What was read before the wire became a stream.
    ahead: Bytes,
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
    /// Who waits for it: a reset takes the socket from under them, and the runtime would not wake them.
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Io {
    pub(super) fn new(stream: TcpStream, mut inbox: Inbox, clock: Clock, traffic: Arc<Traffic>) -> Self {
        let socket = Socket { stream: Some(stream), reader: None, writer: None };
        let ahead = inbox.take(inbox.len());
        Self { shared: Arc::new(Shared { socket: Mutex::new(socket), clock, traffic }), ahead }
    }

    /// A handle that resets this connection.
    pub(crate) fn reset_handle(&self) -> ResetHandle {
        ResetHandle(Arc::clone(&self.shared))
    }

    /// Runs `step` on the socket and notes who waits when it has to wait.
    fn write_step<T>(
        &self,
        cx: &mut Context<'_>,
        step: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut socket = locked(&self.shared.socket);
        let stream = socket.stream.as_mut().ok_or(io::ErrorKind::ConnectionReset)?;
        let polled = step(Pin::new(stream), cx);
        socket.writer = polled.is_pending().then(|| cx.waker().clone());
        polled
    }

    fn count_sent(&self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(n)) = polled {
            self.shared.traffic.went(n as u64);
        }
        polled
    }
}

impl AsyncRead for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let n = self.ahead.len().min(buf.remaining());
            buf.put_slice(&self.ahead[..n]);
            self.ahead.advance(n);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let mut socket = locked(&self.shared.socket);
        let stream = socket.stream.as_mut().ok_or(io::ErrorKind::ConnectionReset)?;
        let polled = Pin::new(stream).poll_read(cx, buf);
        socket.reader = polled.is_pending().then(|| cx.waker().clone());
        drop(socket);
        ready!(polled)?;
        let n = buf.filled().len() - before;
        self.shared.traffic.came(n as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = self.write_step(cx, |stream, cx| stream.poll_write(cx, buf));
        self.count_sent(polled)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = self.write_step(cx, |stream, cx| stream.poll_write_vectored(cx, bufs));
        self.count_sent(polled)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write_step(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write_step(cx, AsyncWrite::poll_shutdown)
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
