//! The direction from the client to the upstream.

use std::future::{pending, poll_fn};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{RecvStream, SendStream};
use http::HeaderMap;
use judge::evidence::At;
use tokio::sync::SetOnce;

use crate::clock::Clock;
use crate::http::intake::Intake;

/// What was read of a request's body before it was forwarded.
#[derive(Debug, Default)]
pub(super) struct Absorbed {
    pub(super) pieces: Vec<Bytes>,
    pub(super) trailers: Option<HeaderMap>,
}

/// Sends one request while the client still sends it.
pub(super) struct There<'a> {
    pub(super) clock: Clock,
    pub(super) body: &'a mut RecvStream,
    pub(super) sender: &'a mut SendRequest<Bytes>,
    pub(super) up: &'a mut SendStream<Bytes>,
    pub(super) intake: &'a mut Intake,
    /// When the request had been sent whole; `None` when it cannot be.
    pub(super) sent: &'a SetOnce<Option<At>>,
}

impl There<'_> {
    /// Sends the request. Returns only when the client's half of the stream broke: why, the other half knows.
    pub(super) async fn run(mut self, absorbed: Option<Absorbed>, is_over: bool) {
        let pushed = match self.opened().await {
            Ok(()) if is_over => Ok(()),
            Ok(()) => match absorbed {
                Some(absorbed) => self.push_absorbed(absorbed).await,
                None => self.push().await,
            },
            stopped => stopped,
        };
        // When the upstream takes no more, what it says is what counts, and the other direction reads it.
        match pushed {
            Ok(()) => drop(self.sent.set(Some(self.clock.now()))),
            Err(Stopped::ByUpstream) => drop(self.sent.set(None)),
            Err(Stopped::ByClient) => return,
        }
        pending().await
    }

    /// Waits until the upstream admits one more stream.
    async fn opened(&mut self) -> Result<(), Stopped> {
        poll_fn(|cx| self.sender.poll_ready(cx)).await.map_err(|_| Stopped::ByUpstream)
    }

    async fn push_absorbed(&mut self, absorbed: Absorbed) -> Result<(), Stopped> {
        for piece in absorbed.pieces {
            self.send(piece, false).await?;
        }
        self.finish(absorbed.trailers)
    }

    async fn push(&mut self) -> Result<(), Stopped> {
        loop {
            match next(self.body, self.intake, self.clock).await.map_err(|_| Stopped::ByClient)? {
                Next::Piece(piece, is_last) => {
                    let n = piece.len();
                    self.send(piece, is_last).await?;
                    took(self.body, n);
                    if is_last {
                        return Ok(());
                    }
                }
                Next::Over(trailers) => return self.finish(trailers),
            }
        }
    }

    fn finish(&mut self, trailers: Option<HeaderMap>) -> Result<(), Stopped> {
        let sent = match trailers {
            Some(fields) => self.up.send_trailers(fields),
            None => self.up.send_data(Bytes::new(), true),
        };
        sent.map_err(|_| Stopped::ByUpstream)
    }

    /// Sends a piece as the upstream takes it.
    async fn send(&mut self, mut bytes: Bytes, is_last: bool) -> Result<(), Stopped> {
        loop {
            self.up.reserve_capacity(bytes.len());
            let room = match bytes.len() {
                0 => 0,
                _ => poll_fn(|cx| self.up.poll_capacity(cx)).await.and_then(Result::ok).ok_or(Stopped::ByUpstream)?,
            };
            let piece = bytes.split_to(room.min(bytes.len()));
            self.up.send_data(piece, is_last && bytes.is_empty()).map_err(|_| Stopped::ByUpstream)?;
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }
}

/// Why a request was not sent whole.
enum Stopped {
    ByUpstream,
    ByClient,
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
