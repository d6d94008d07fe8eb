//! The body of an answer on its way out.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::watch;

use super::pace::Pace;
use super::reply::Content;

/// How long a stream may go on when the server stops: long enough for its last line when the proxy stops too.
const STREAM_GRACE: Duration = Duration::from_secs(2);

/// Where the server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Run {
    Serving,
    /// No new connections; calls in flight end.
    Draining,
}

/// Tells the connection when the answer is over, so that its idle time begins.
pub(super) struct Outgoing {
    content: Content,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    pace: Arc<Pace>,
}

impl Outgoing {
    pub(super) fn new(content: Content, mut run: watch::Receiver<Run>, pace: Arc<Pace>) -> Self {
        let stopped = Box::pin(async move {
            // An error says that the server is gone altogether.
            drop(run.wait_for(|run| *run != Run::Serving).await);
            tokio::time::sleep(STREAM_GRACE).await;
        });
        Self { content, stopped, pace }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        match &mut this.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Stream(pieces) => {
                if let Poll::Ready(piece) = pieces.poll_recv(cx) {
                    return Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))));
                }
                this.stopped.as_mut().poll(cx).map(|()| None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.pace.answered();
    }
}
