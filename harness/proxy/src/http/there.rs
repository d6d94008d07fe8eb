//! The direction from the client to the upstream.

use evidence::At;
use tokio::sync::SetOnce;

use super::forward::Outcome;
use super::intake::Intake;
use super::pace::Pacer;
use crate::rules::Part;
use crate::wire::{Inbox, Wire};

/// Sends one request while the client still sends it.
pub(super) struct There<'a> {
    pub(super) client: &'a Wire,
    pub(super) inbox: &'a mut Inbox,
    pub(super) up: &'a Wire,
    pub(super) intake: &'a mut Intake,
    /// When the request had been sent whole; `None` when it cannot be.
    pub(super) sent: &'a SetOnce<Option<At>>,
    /// Of a request that was read whole and is delivered slowly.
    pub(super) pacer: Option<Pacer<'a>>,
}

impl There<'_> {
    /// Sends the request, then watches the client. Ends only when there is nothing left to wait for.
    pub(super) async fn run(mut self, head: &[u8], body: Option<Vec<u8>>) -> Outcome {
        let pushed = match self.pacer.take() {
            Some(pacer) => self.dribble(pacer, head, &body.unwrap_or_default()).await,
            None => self.push(head, body).await,
        };
        match pushed {
            // When the upstream takes no more, what it says is what counts, and the other direction reads it.
            Ok(at) => drop(self.sent.set(at)),
            Err(outcome) => return outcome,
        }
        Outcome::Left(self.client.departure(self.inbox).await)
    }

    /// Sends a request slowly, and watches the client meanwhile.
    async fn dribble(&mut self, mut pacer: Pacer<'_>, head: &[u8], body: &[u8]) -> Result<Option<At>, Outcome> {
        let up = self.up;
        let send = async {
            let mut last = None;
            for (part, bytes) in [(Part::Head, head), (Part::Body, body)] {
                let slow = pacer.slows(part);
                let together = if slow { pacer.bytes() } else { bytes.len().max(1) };
                for piece in bytes.chunks(together) {
                    if slow {
                        pacer.next().await;
                    }
                    last = Some(up.send(piece).await.ok()?.last);
                }
            }
            last
        };
        tokio::select! {
            biased;
            last = send => Ok(last),
            at = self.client.departure(self.inbox) => Err(Outcome::Left(at)),
        }
    }

    async fn push(&mut self, head: &[u8], body: Option<Vec<u8>>) -> Result<Option<At>, Outcome> {
        let mut out = head.to_vec();
        out.extend_from_slice(&body.unwrap_or_default());
        loop {
            out.extend_from_slice(&self.intake.take(self.inbox).map_err(Outcome::Unreadable)?);
            if !out.is_empty() {
                // A client that resets is gone, however long the upstream takes over what it has sent.
                let span = tokio::select! {
                    biased;
                    sent = self.up.send(&out) => match sent {
                        Ok(span) => span,
                        Err(_) => return Ok(None),
                    },
                    at = self.client.broken() => return Err(Outcome::Left(at)),
                };
                if self.intake.whole.is_some() {
                    return Ok(Some(span.last));
                }
                out.clear();
            }
            if let Ok(0) | Err(_) = self.client.fill(self.inbox).await {
                return Err(Outcome::Left(self.inbox.last_came()));
            }
        }
    }
}
