//! One stream towards the client: what it is told, and whether it is still there.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use evidence::At;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderMap, Response};

use super::connection::Shared;
use super::door::Fate;
use crate::wire::Span;

/// Why the client gets nothing more on a stream.
#[derive(Debug)]
pub(super) enum Gone {
    /// It reset the stream.
    Reset(At, Reason),
    /// Its connection ended.
    Connection(Fate),
}

/// The sending half of a client's stream.
#[derive(Debug)]
pub(super) struct ClientSide {
    shared: Arc<Shared>,
    half: Half,
}

#[derive(Debug)]
enum Half {
    /// No final head was sent.
    Silent(SendResponse<Bytes>),
    /// One was.
    Speaking(SendStream<Bytes>),
}

impl ClientSide {
    pub(super) fn new(shared: Arc<Shared>, respond: SendResponse<Bytes>) -> Self {
        Self { shared, half: Half::Silent(respond) }
    }

    /// Waits until the client, or its connection, is gone.
    pub(super) async fn gone(&mut self) -> Gone {
        let fate = &self.shared.door.fate;
        let half = &mut self.half;
        let reset = poll_fn(|cx| match half {
            Half::Silent(respond) => respond.poll_reset(cx),
            Half::Speaking(stream) => stream.poll_reset(cx),
        });
        tokio::select! {
            biased;
            fate = fate.wait() => Gone::Connection(fate.clone()),
            reset = reset => match reset {
                Ok(reason) => Gone::Reset(self.shared.link.clock.now(), reason),
                Err(_) => Gone::Connection(fate.wait().await.clone()),
            },
        }
    }

    /// Does `work`, unless the client goes first.
    pub(super) async fn unless_gone<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            gone = self.gone() => Err(gone),
        }
    }

    /// The number of the stream.
    pub(super) fn stream(&self) -> u32 {
        match &self.half {
            Half::Silent(respond) => respond.stream_id().as_u32(),
            Half::Speaking(stream) => stream.stream_id().as_u32(),
        }
    }

    /// Whether a final head was sent.
    pub(super) fn is_speaking(&self) -> bool {
        matches!(self.half, Half::Speaking(_))
    }

    /// Sends an interim head (1xx).
    pub(super) async fn interim(&mut self, head: Response<()>) -> Result<(), Gone> {
        let passed = self.hand_over(|half| match half {
            Half::Silent(respond) => respond.send_informational(head),
            // Behind the final head there is none.
            Half::Speaking(_) => Ok(()),
        });
        self.settled(passed).await.map(drop)
    }

    /// Sends the final head.
    pub(super) async fn head(&mut self, head: Response<()>, is_last: bool) -> Result<Span, Gone> {
        let passed = self.hand_over(|half| {
            if let Half::Silent(respond) = half {
                *half = Half::Speaking(respond.send_response(head, is_last)?);
            }
            Ok(())
        });
        self.settled(passed).await
    }

    /// Sends a piece of the body as the client takes it.
    pub(super) async fn data(&mut self, mut bytes: Bytes, is_last: bool) -> Result<Span, Gone> {
        let mut first = None;
        loop {
            let room = if bytes.is_empty() { 0 } else { self.room(bytes.len()).await? };
            let piece = bytes.split_to(room.min(bytes.len()));
            let ends = is_last && bytes.is_empty();
            let passed = self.hand_over(|half| match half {
                Half::Speaking(stream) => stream.send_data(piece, ends),
                Half::Silent(_) => Ok(()),
            });
            let span = self.settled(passed).await?;
            let first = *first.get_or_insert(span.first);
            if bytes.is_empty() {
                return Ok(Span { first, last: span.last });
            }
        }
    }

    /// Sends trailers, which end the stream.
    pub(super) async fn trailers(&mut self, fields: HeaderMap) -> Result<Span, Gone> {
        let passed = self.hand_over(|half| match half {
            Half::Speaking(stream) => stream.send_trailers(fields),
            Half::Silent(_) => Ok(()),
        });
        self.settled(passed).await
    }

    /// Sends RST_STREAM behind what was handed over before; `None` when the connection ends first.
    pub(super) async fn reset(&mut self, code: Reason) -> Option<At> {
        if self.is_speaking() {
            // The framing layer throws away what a stream that is reset has not yet written.
            self.shared.flushed().await;
        }
        let clock = self.shared.link.clock;
        let half = &mut self.half;
        self.shared.door.pass(|| {
            let at = clock.now();
            half.reset(code);
            at
        })
    }

    /// Waits until the client takes something, and says how much.
    async fn room(&mut self, wanted: usize) -> Result<usize, Gone> {
        if let Half::Speaking(stream) = &mut self.half {
            stream.reserve_capacity(wanted);
            if let Some(Ok(room)) = poll_fn(|cx| stream.poll_capacity(cx)).await {
                return Ok(room);
            }
        }
        Err(self.gone().await)
    }

    fn hand_over(&mut self, say: impl FnOnce(&mut Half) -> Result<(), h2::Error>) -> Option<Span> {
        let clock = self.shared.link.clock;
        let half = &mut self.half;
        self.shared.door.pass(|| {
            let now = clock.now();
            if say(half).is_ok() {
                return Some(Span { first: now, last: now });
            }
            // Gone already, or something that the framing layer does not write: then it ends here.
            half.reset(Reason::INTERNAL_ERROR);
            None
        })?
    }

    async fn settled(&mut self, passed: Option<Span>) -> Result<Span, Gone> {
        match passed {
            Some(span) => Ok(span),
            None => Err(self.gone().await),
        }
    }
}

impl Half {
    fn reset(&mut self, code: Reason) {
        match self {
            Self::Silent(respond) => respond.send_reset(code),
            Self::Speaking(stream) => stream.send_reset(code),
        }
    }
}
