//! The connection to the upstream: one for each client connection, kept while both live, dialled again when it is gone.

use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::client::SendRequest;
use tokio::sync::SetOnce;

use super::limits;
use crate::link::Link;
use crate::tls;
use crate::traffic::Traffic;
use crate::wire::Inbox;

/// Where the streams of one client connection are sent.
#[derive(Debug, Default)]
pub(super) struct Uplink {
    kept: tokio::sync::Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    line: Line,
    generation: u64,
}

/// One connection to the upstream, as its streams see it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Takes one request.
    pub(super) sender: SendRequest<Bytes>,
    /// Set when the connection has ended.
    end: Arc<SetOnce<LineEnd>>,
}

/// How a connection to the upstream ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineEnd {
    /// The error that the upstream went away with, if it did.
    pub(super) goaway: Option<Reason>,
    /// By RST rather than FIN.
    pub(super) is_reset: bool,
}

impl LineEnd {
    fn of(error: &h2::Error) -> Self {
        let broke = |e: &io::Error| matches!(e.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
        Self { goaway: error.reason().filter(|_| error.is_go_away()), is_reset: error.get_io().is_some_and(broke) }
    }
}

impl Line {
    /// How the connection ended, for a stream that met its end: the framing layer tells the streams only that nothing
    /// more comes. `None` when it has not ended after `at_most`.
    pub(super) async fn end(&self, at_most: Duration) -> Option<LineEnd> {
        tokio::time::timeout(at_most, self.end.wait()).await.ok().copied()
    }
}

impl Uplink {
    /// A connection that takes one request more. Streams that come while a dial goes on wait for that one.
    pub(super) async fn line(&self, link: &Link) -> Result<Line, String> {
        let mut kept = self.kept.lock().await;
        if let Some(known) = kept.as_mut()
            && known.generation == link.target().generation
            && is_alive(&mut known.line.sender).await
        {
            return Ok(known.line.clone());
        }
        let (line, generation) = dial_at(link).await?;
        *kept = Some(Kept { line: line.clone(), generation });
        Ok(line)
    }
}

/// Whether the connection takes another request: it has neither ended nor been told to go away.
async fn is_alive(sender: &mut SendRequest<Bytes>) -> bool {
    poll_fn(|cx| Poll::Ready(!matches!(sender.poll_ready(cx), Poll::Ready(Err(_))))).await
}

/// A connection to the upstream that nobody else uses.
pub(super) async fn dial(link: &Link) -> Result<Line, String> {
    dial_at(link).await.map(|(line, _)| line)
}

/// A new connection, and the generation of the address that it leads to.
async fn dial_at(link: &Link) -> Result<(Line, u64), String> {
    let traffic = Traffic::within(&link.flow.upstream);
    let (wire, generation) = tls::connect(link, traffic, Some(tls::HTTP_2)).await?;
    let handshake = limits::client(&link.limits).handshake(wire.into_io(Inbox::default()));
    let (sender, connection) = match tokio::time::timeout(link.limits.dial_time, handshake).await {
        Ok(Ok(both)) => both,
        Ok(Err(e)) => return Err(format!("the upstream's connection failed at once: {e}")),
        Err(_) => return Err(format!("the upstream took no HTTP/2 preface within {:?}", link.limits.dial_time)),
    };
    let end = Arc::new(SetOnce::new());
    let line = Line { sender, end: Arc::clone(&end) };
    link.tasks.spawn(async move {
        let ended = connection.await.err().map_or_else(LineEnd::default, |e| LineEnd::of(&e));
        // Nobody else sets it.
        let _set = end.set(ended);
    });
    Ok((line, generation))
}
