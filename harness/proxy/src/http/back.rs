//! The direction from the upstream to the client, where most faults strike.

use std::sync::Arc;

use evidence::{At, Struck};
use tokio::sync::SetOnce;

use super::answer::{Answer, Failure, Heading, Tap};
use super::copies::{Copies, Message};
use super::draft::Progress;
use super::forward::Outcome;
use super::head::ResponseHead;
use super::malformed::Basis;
use super::pace::{Pacer, Waits};
use crate::clock::Clock;
use crate::engine::{Held, Strike};
use crate::link::Link;
use crate::rules::{Effect, Part, Phase};
use crate::strike::{Change, Onward, Terminal, strike};
use crate::wire::Wire;

/// Passes one answer back while the upstream still sends it.
pub(super) struct Back<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) client: &'a Wire,
    pub(super) up: Tap<'a>,
    pub(super) answer: &'a mut Answer,
    pub(super) record: &'a mut evidence::Upstream,
    pub(super) reply: &'a mut Progress,
    pub(super) fault: &'a mut Option<Struck>,
    pub(super) decision: Option<&'a Strike>,
    /// How the call shows at a gate, if a fault may keep it there.
    pub(super) who: Option<Held>,
    pub(super) sent: &'a SetOnce<Option<At>>,
    pub(super) continued: bool,
    pub(super) method: &'a str,
    /// The request, when a fault may deliver it again.
    pub(super) message: Option<&'a Message>,
    pub(super) copies: &'a mut Option<Arc<Copies>>,
    pub(super) waits: &'a Waits,
    /// Of an answer that is delivered slowly.
    pub(super) pacer: Option<Pacer<'a>>,
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
            if let Some(Change::Copies { times, after }) = self.strike().await? {
                *self.copies = self.message.map(|message| Copies::start(self.link, message, times, after));
            }
        }
        let mut head = self.final_head().await?;
        self.record.status = Some(head.status);
        // Behind such a head comes no HTTP, so that there is nothing to change.
        let patches = self.decision.is_some_and(|d| matches!(d.fault.effect, Effect::PatchResponse(_)));
        if head.is_tunnel && patches {
            return self.relay(&head).await;
        }
        if self.strikes_at(Phase::ResponseHead) {
            self.strike_with(&mut head, &[]).await?;
        }
        if self.strikes_at(Phase::Response) {
            let body = self.withhold().await?;
            self.strike_with(&mut head, &body).await?;
            return self.send_whole(&head, &body).await;
        }
        self.relay(&head).await
    }

    /// Passes head and body on as they come.
    async fn relay(&mut self, head: &ResponseHead) -> Result<(), Outcome> {
        let body_fault = self.decision.filter(|d| d.fault.at == Phase::ResponseBody);
        let mut strike_after = body_fault.and_then(|d| d.fault.after_bytes);
        let mut passed = 0;
        let mut out = head.raw.to_vec();
        if self.pacer.is_some() {
            self.send(head, Part::Head, &std::mem::take(&mut out)).await?;
        }
        loop {
            let room = strike_after.map_or(u64::MAX, |n: u64| n.saturating_sub(passed));
            let (ready, payload) = self.answer.ready(&mut self.up, room)?;
            out.extend_from_slice(&ready);
            passed += payload;
            self.record.answered = self.answer.whole_at(self.up.inbox);
            if !out.is_empty() {
                self.send(head, Part::Body, &std::mem::take(&mut out)).await?;
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
                    passed += payload;
                    self.record.answered = self.answer.whole_at(self.up.inbox);
                    self.send(head, Part::Body, &piece).await?;
                }
                None => self.record.answered = self.answer.whole_at(self.up.inbox),
            }
        }
    }

    /// Reads the body whole. Keeps it only when the client may still get it.
    async fn withhold(&mut self) -> Result<Vec<u8>, Outcome> {
        let needs = |effect: &Effect| effect.may_go_on() || matches!(effect, Effect::Malformed { .. });
        let keeps = self.decision.is_some_and(|d| needs(&d.fault.effect));
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

    async fn send_whole(&mut self, head: &ResponseHead, body: &[u8]) -> Result<(), Outcome> {
        if self.pacer.is_none() {
            return self.send(head, Part::All, &[head.raw.as_ref(), body].concat()).await;
        }
        self.send(head, Part::Head, &head.raw).await?;
        self.send(head, Part::Body, body).await
    }

    async fn send(&mut self, head: &ResponseHead, part: Part, bytes: &[u8]) -> Result<(), Outcome> {
        let slow = self.pacer.as_ref().filter(|pacer| pacer.slows(part)).map(Pacer::bytes);
        for piece in bytes.chunks(slow.unwrap_or(bytes.len()).max(1)) {
            if let Some(pacer) = self.pacer.as_mut().filter(|_| slow.is_some()) {
                pacer.next().await;
            }
            let Ok(span) = self.client.send(piece).await else {
                return Err(Outcome::Left(self.clock().now()));
            };
            self.reply.status = Some(head.status);
            self.reply.retry_after.clone_from(&head.retry_after);
            self.reply.wrote(span);
        }
        Ok(())
    }

    fn strikes_at(&self, phase: Phase) -> bool {
        self.decision.is_some_and(|d| d.fault.at == phase)
    }

    /// Strikes where the head of the answer is known, and perhaps its body.
    async fn strike_with(&mut self, head: &mut Arc<ResponseHead>, body: &[u8]) -> Result<(), Outcome> {
        match self.strike().await {
            Ok(Some(Change::Patch(patch))) => *head = Arc::new(head.patched(&patch, self.method)),
            Ok(Some(Change::Trickle(pace))) => self.pacer = Some(Pacer::new(pace, self.clock(), self.waits)),
            // The request is delivered again before its answer is there or not at all; validation sees to that.
            Ok(Some(Change::Copies { .. }) | None) => {}
            Err(Outcome::Fault(Terminal::Malformed { kind, noise })) => {
                return Err(Outcome::Spoiled(Basis::of(head, body), kind, noise));
            }
            Err(outcome) => return Err(outcome),
        }
        Ok(())
    }

    async fn strike(&mut self) -> Result<Option<Change>, Outcome> {
        let (Some(decision), Some(who)) = (self.decision, &self.who) else { return Ok(None) };
        match strike(decision, self.fault, self.link.clock, who.clone()).await {
            Onward::GoOn => Ok(None),
            Onward::Change(change) => Ok(Some(change)),
            Onward::End(terminal) => Err(Outcome::Fault(terminal)),
        }
    }

    fn clock(&self) -> Clock {
        self.link.clock
    }
}
