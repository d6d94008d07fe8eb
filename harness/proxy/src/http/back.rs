//! The direction from the upstream to the client, where most faults strike.

use std::sync::Arc;

use judge::evidence::{At, Struck};
use tokio::sync::SetOnce;

use super::answer::{Answer, Failure, Heading, Tap};
use super::draft::Progress;
use super::forward::Outcome;
use super::head::ResponseHead;
use crate::clock::Clock;
use crate::engine::{Held, Strike};
use crate::link::Link;
use crate::rules::{Effect, Phase};
use crate::strike::{Onward, strike};
use crate::wire::Wire;

/// Passes one answer back while the upstream still sends it.
pub(super) struct Back<'a> {
    pub(super) link: &'a Link,
    pub(super) client: &'a Wire,
    pub(super) up: Tap<'a>,
    pub(super) answer: &'a mut Answer,
    pub(super) record: &'a mut judge::evidence::Upstream,
    pub(super) reply: &'a mut Progress,
    pub(super) fault: &'a mut Option<Struck>,
    pub(super) decision: Option<&'a Strike>,
    pub(super) who: Held,
    pub(super) sent: &'a SetOnce<Option<At>>,
    pub(super) continued: bool,
}

impl Back<'_> {
    pub(super) async fn run(mut self) -> Outcome {
        match self.pass().await {
            Ok(()) => Outcome::Replied,
            Err(outcome) => outcome,
        }
    }

    async fn pass(&mut self) -> Result<(), Outcome> {
        if self.strikes_at(Phase::Forwarded) {
            if self.sent.wait().await.is_none() {
                let why = "the upstream did not take the whole request".to_owned();
                return Err(Outcome::Failed(Failure { why, is_reset: true }));
            }
            self.strike().await?;
        }
        let head = self.final_head().await?;
        self.record.status = Some(head.status);
        if self.strikes_at(Phase::ResponseHead) {
            self.strike().await?;
        }
        if self.strikes_at(Phase::Response) {
            let body = self.withhold().await?;
            self.strike().await?;
            return self.send(&head, [head.raw.as_ref(), &body].concat()).await;
        }
        self.relay(&head).await
    }

    /// Passes head and body on as they come.
    async fn relay(&mut self, head: &ResponseHead) -> Result<(), Outcome> {
        let body_fault = self.decision.filter(|d| d.fault.at == Phase::ResponseBody);
        let mut strike_after = body_fault.and_then(|d| d.fault.after_bytes);
        let mut passed = 0;
        let mut out = head.raw.to_vec();
        loop {
            let room = strike_after.map_or(u64::MAX, |n: u64| n.saturating_sub(passed));
            let (ready, payload) = self.answer.ready(&mut self.up, room)?;
            out.extend_from_slice(&ready);
            passed += payload;
            self.record.answered = self.answer.whole_at(self.up.inbox);
            if !out.is_empty() {
                self.send(head, std::mem::take(&mut out)).await?;
            }
            if self.answer.is_whole() {
                return Ok(());
            }
            if strike_after == Some(passed) {
                self.strike().await?;
                strike_after = None;
                continue;
            }
            let room = strike_after.map_or(u64::MAX, |n| n.saturating_sub(passed));
            match self.answer.piece(&mut self.up, room).await? {
                Some((piece, payload)) => {
                    out.extend_from_slice(&piece);
                    passed += payload;
                }
                None => self.record.answered = self.answer.whole_at(self.up.inbox),
            }
        }
    }

    /// Reads the body whole. Keeps it only when the client may still get it.
    async fn withhold(&mut self) -> Result<Vec<u8>, Outcome> {
        let keeps = self.decision.is_some_and(|d| matches!(d.fault.effect, Effect::Delay(_) | Effect::Hold { .. }));
        let mut body = Vec::new();
        while let Some((piece, _)) = self.answer.piece(&mut self.up, u64::MAX).await? {
            if !keeps {
                continue;
            }
            if body.len() + piece.len() > self.link.limits.withheld_bytes {
                let why = format!("its answer is longer than {} bytes to withhold", self.link.limits.withheld_bytes);
                return Err(Outcome::Failed(Failure { why, is_reset: false }));
            }
            body.extend_from_slice(&piece);
        }
        self.record.answered = self.answer.whole_at(self.up.inbox);
        Ok(body)
    }

    /// Reads up to the final head; interim answers are passed on.
    async fn final_head(&mut self) -> Result<Arc<ResponseHead>, Outcome> {
        loop {
            match self.answer.head(&mut self.up, &self.link.limits).await? {
                Heading::Final(head) => return Ok(head),
                // The client has had this one from the proxy itself.
                Heading::Interim(_, 100) if self.continued => {}
                Heading::Interim(raw, _) => {
                    if self.client.send(&raw).await.is_err() {
                        return Err(Outcome::Left(self.clock().now()));
                    }
                }
            }
        }
    }

    async fn send(&mut self, head: &ResponseHead, bytes: Vec<u8>) -> Result<(), Outcome> {
        let Ok(span) = self.client.send(&bytes).await else {
            return Err(Outcome::Left(self.clock().now()));
        };
        self.reply.status = Some(head.status);
        self.reply.retry_after.clone_from(&head.retry_after);
        self.reply.wrote(span);
        Ok(())
    }

    fn strikes_at(&self, phase: Phase) -> bool {
        self.decision.is_some_and(|d| d.fault.at == phase)
    }

    async fn strike(&mut self) -> Result<(), Outcome> {
        let Some(decision) = self.decision else { return Ok(()) };
        match strike(decision, self.fault, self.link.clock, self.who.clone()).await {
            Onward::GoOn | Onward::Change(_) => Ok(()),
            Onward::End(terminal) => Err(Outcome::Fault(terminal)),
        }
    }

    fn clock(&self) -> Clock {
        self.link.clock
    }
}
