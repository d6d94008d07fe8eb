//! The direction from the client to the upstream.

use std::future::pending;

use bytes::Bytes;
use evidence::At;
use h2::RecvStream;
use h2::client::SendRequest;
use http::HeaderMap;
use tokio::sync::SetOnce;

use super::upward::{Absorbed, Refused, Upward, opened};
use crate::clock::Clock;
use crate::http::intake::Intake;
use crate::http::pace::Pacer;

/// Sends one request while the client still sends it.
pub(super) struct There<'a> {
    pub(super) clock: Clock,
    pub(super) body: &'a mut RecvStream,
    pub(super) sender: &'a mut SendRequest<Bytes>,
    pub(super) upward: &'a mut Upward,
    pub(super) intake: &'a mut Intake,
    /// When the request had been sent whole; `None` when it cannot be.
    pub(super) sent: &'a SetOnce<Option<At>>,
    /// Of a request that is delivered slowly.
    pub(super) pacer: Option<Pacer<'a>>,
}

/// Why a request was not sent whole.
enum Stopped {
    ByUpstream,
    ByClient,
}

impl From<Refused> for Stopped {
    fn from(_: Refused) -> Self {
        Self::ByUpstream
    }
}

impl There<'_> {
    /// Sends the request. Returns only when the client's half of the stream broke: why, the other half knows.
    pub(super) async fn run(mut self, absorbed: Option<Absorbed>, is_over: bool) {
        match self.push(absorbed, is_over).await {
            Ok(()) => drop(self.sent.set(Some(self.clock.now()))),
            // What the upstream says is what counts, and the other direction reads it.
            Err(Stopped::ByUpstream) => drop(self.sent.set(None)),
            Err(Stopped::ByClient) => return,
        }
        pending().await
    }

    async fn push(&mut self, absorbed: Option<Absorbed>, is_over: bool) -> Result<(), Stopped> {
        opened(self.sender).await?;
        if is_over {
            return Ok(());
        }
        if let Some(absorbed) = absorbed {
            return Ok(self.upward.send_absorbed(absorbed, self.pacer.take()).await?);
        }
        loop {
            match next(self.body, self.intake, self.clock).await.map_err(|_| Stopped::ByClient)? {
                Next::Piece(piece, is_last) => {
                    let n = piece.len();
                    self.upward.send(piece, is_last).await?;
                    took(self.body, n);
                    if is_last {
                        return Ok(());
                    }
                }
                Next::Over(trailers) => return Ok(self.upward.finish(trailers)?),
            }
        }
    }
}

/// What came next of a request's body.
pub(super) enum Next {
    /// A piece, and whether the request is whole with it.
    Piece(Bytes, bool),
    /// The end, with trailers if there are any.
    Over(Option<HeaderMap>),
}

/// Waits for the next part of a request's body. The client may send more only after [`took`].
pub(super) async fn next(body: &mut RecvStream, intake: &mut Intake, clock: Clock) -> Result<Next, h2::Error> {
    if let Some(piece) = body.data().await.transpose()? {
        intake.feed(&piece);
        let is_last = body.is_end_stream();
        if is_last {
            intake.end(clock.now());
        }
        return Ok(Next::Piece(piece, is_last));
    }
    let trailers = body.trailers().await?;
    intake.end(clock.now());
    Ok(Next::Over(trailers))
}

/// Lets the client send `n` more bytes.
pub(super) fn took(body: &mut RecvStream, n: usize) {
    // An error says that nothing more can come.
    let _over = body.flow_control().release_capacity(n);
}
