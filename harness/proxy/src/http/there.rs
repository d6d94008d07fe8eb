//! The direction from the client to the upstream.

use judge::evidence::At;
use tokio::sync::SetOnce;

use super::forward::Outcome;
use super::intake::Intake;
use crate::wire::{Inbox, Wire};

/// Sends one request while the client still sends it.
pub(super) struct There<'a> {
    pub(super) client: &'a Wire,
    pub(super) inbox: &'a mut Inbox,
    pub(super) up: &'a Wire,
    pub(super) intake: &'a mut Intake,
    /// When the request had been sent whole; `None` when it cannot be.
    pub(super) sent: &'a SetOnce<Option<At>>,
}

impl There<'_> {
    /// Sends the request, then watches the client. Ends only when there is nothing left to wait for.
    pub(super) async fn run(mut self, head: &[u8], body: Option<Vec<u8>>) -> Outcome {
        match self.push(head, body).await {
            // When the upstream takes no more, what it says is what counts, and the other direction reads it.
            Ok(at) => drop(self.sent.set(at)),
            Err(outcome) => return outcome,
        }
        Outcome::Left(self.client.departure(self.inbox).await)
    }

    async fn push(&mut self, head: &[u8], body: Option<Vec<u8>>) -> Result<Option<At>, Outcome> {
        let mut out = head.to_vec();
        out.extend_from_slice(&body.unwrap_or_default());
        loop {
            out.extend_from_slice(&self.intake.take(self.inbox).map_err(Outcome::Unreadable)?);
            if !out.is_empty() {
                let Ok(span) = self.up.send(&out).await else { return Ok(None) };
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
