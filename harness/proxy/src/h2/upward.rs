//! Sending one request on a stream towards the upstream, as the upstream takes it.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use evidence::Delivery;
use h2::SendStream;
use h2::client::{ResponseFuture, SendRequest};
use http::{HeaderMap, request};

use super::answer::Answer;
use super::uplink;
use crate::http::pace::Pacer;
use crate::link::Link;
use crate::rules::Part;

/// The body of a request that was read whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Absorbed {
    pub(super) pieces: Vec<Bytes>,
    pub(super) trailers: Option<HeaderMap>,
}

impl Absorbed {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.trailers.is_none()
    }
}

/// The upstream takes no more. What it says is what counts.
#[derive(Debug)]
pub(super) struct Refused;

/// The sending half of a stream.
#[derive(Debug)]
pub(super) struct Upward {
    pub(super) up: SendStream<Bytes>,
}

impl Upward {
    /// Sends a piece.
    pub(super) async fn send(&mut self, mut bytes: Bytes, is_last: bool) -> Result<(), Refused> {
        loop {
            self.up.reserve_capacity(bytes.len());
            let room = match bytes.len() {
                0 => 0,
                _ => poll_fn(|cx| self.up.poll_capacity(cx)).await.and_then(Result::ok).ok_or(Refused)?,
            };
            let piece = bytes.split_to(room.min(bytes.len()));
            self.up.send_data(piece, is_last && bytes.is_empty()).map_err(|_| Refused)?;
            if bytes.is_empty() {
                return Ok(());
            }
        }
    }

    /// Ends the request.
    pub(super) fn finish(&mut self, trailers: Option<HeaderMap>) -> Result<(), Refused> {
        let sent = match trailers {
            Some(fields) => self.up.send_trailers(fields),
            None => self.up.send_data(Bytes::new(), true),
        };
        sent.map_err(|_| Refused)
    }

    /// Sends a body that was read whole, perhaps slowly.
    pub(super) async fn send_absorbed(
        &mut self,
        absorbed: Absorbed,
        mut pacer: Option<Pacer<'_>>,
    ) -> Result<(), Refused> {
        for mut piece in absorbed.pieces {
            while !piece.is_empty() {
                let slow = pacer.as_mut().filter(|pacer| pacer.slows(Part::Body));
                let n = slow.as_ref().map_or(piece.len(), |pacer| pacer.bytes().min(piece.len()));
                if let Some(pacer) = slow {
                    pacer.next().await;
                }
                self.send(piece.split_to(n), false).await?;
            }
        }
        self.finish(absorbed.trailers)
    }
}

/// Waits until the upstream admits one more stream.
pub(super) async fn opened(sender: &mut SendRequest<Bytes>) -> Result<(), Refused> {
    poll_fn(|cx| sender.poll_ready(cx)).await.map_err(|_| Refused)
}

/// Begins a stream with the head of a request.
pub(super) fn begin(
    sender: &mut SendRequest<Bytes>,
    parts: &request::Parts,
    is_over: bool,
) -> Result<(ResponseFuture, SendStream<Bytes>), h2::Error> {
    let mut request = http::Request::new(());
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    // A request without an authority is written as one that came over HTTP/1.1; there is no other way to send it.
    let is_complete = parts.uri.authority().is_some();
    *request.version_mut() = if is_complete { http::Version::HTTP_2 } else { http::Version::HTTP_11 };
    request.headers_mut().clone_from(&parts.headers);
    sender.send_request(request, is_over)
}

/// A whole request, which may be delivered again.
#[derive(Debug)]
pub(crate) struct Whole {
    parts: request::Parts,
    body: Absorbed,
}

impl Whole {
    pub(super) fn new(parts: &request::Parts, body: &Absorbed) -> Arc<Self> {
        Arc::new(Self { parts: parts.clone(), body: body.clone() })
    }

    /// Delivers it on a connection of its own, and awaits the answer. `note` gets what is known so far.
    pub(crate) async fn deliver(&self, link: &Link, note: &(dyn Fn(Delivery) + Sync)) -> Result<(), String> {
        let mut line = uplink::dial(link).await?;
        let broke = |e: h2::Error| format!("the upstream broke off: {e}");
        let (response, up) = begin(&mut line.sender, &self.parts, self.body.is_empty()).map_err(broke)?;
        let mut answer = Answer::new(link.clock, response);
        let mut delivery = Delivery::default();
        let mut upward = Upward { up };
        let limit = link.limits.late_answer_time;
        let work = async {
            let is_open = opened(&mut line.sender).await.is_ok();
            if is_open && (self.body.is_empty() || upward.send_absorbed(self.body.clone(), None).await.is_ok()) {
                delivery.sent = Some(link.clock.now());
                note(delivery.clone());
            }
            answer.drain().await
        };
        let drained = tokio::time::timeout(limit, work).await;
        delivery.status = answer.known_head().map(|head| head.status);
        delivery.answered = answer.whole_at();
        note(delivery);
        match drained {
            Ok(drained) => drained.map_err(|failure| failure.why),
            Err(_) => Err(format!("no whole answer within {limit:?}")),
        }
    }
}
