//! The direction from the upstream to the client, where most faults strike.

use std::sync::Arc;

use bytes::Bytes;
use evidence::{At, Struck};
use tokio::sync::SetOnce;

use super::answer::{Answer, Failure, Head, Heading, Scope};
use super::client::{ClientSide, Gone};
use super::grpc::status_of;
use crate::engine::{Held, Strike};
use crate::http::copies::{Copies, Message};
use crate::http::draft::Progress;
use crate::http::pace::{Pacer, Waits};
use crate::link::Link;
use crate::rules::{Effect, Part, Phase};
use crate::strike::{Change, Onward, Terminal, strike};
use crate::wire::Span;

/// How the two directions together came to an end.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer was passed on whole.
    Replied,
    /// A fault ends the exchange.
    Fault(Terminal),
    /// The upstream failed.
    Failed(Failure),
    /// The client is gone.
    Gone(Gone),
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(failure)
    }
}

impl From<Gone> for Outcome {
    fn from(gone: Gone) -> Self {
        Outcome::Gone(gone)
    }
}

/// Passes one answer back while the upstream still sends it.
pub(super) struct Back<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) client: &'a mut ClientSide,
    pub(super) answer: &'a mut Answer,
    pub(super) record: &'a mut evidence::Upstream,
    pub(super) reply: &'a mut Progress,
    pub(super) fault: &'a mut Option<Struck>,
    pub(super) decision: Option<&'a Strike>,
    pub(super) who: Held,
    pub(super) sent: &'a SetOnce<Option<At>>,
    pub(super) continued: bool,
    /// What a fault withholds and may still let go.
    pub(super) kept: &'a mut Vec<Bytes>,
    /// The request, when a fault may deliver it again.
    pub(super) message: Option<&'a Message>,
    pub(super) copies: &'a mut Option<Arc<Copies>>,
    pub(super) waits: &'a Waits,
    /// Of an answer that is delivered slowly.
    pub(super) pacer: Option<Pacer<'a>>,
}

impl Back<'_> {
    pub(super) async fn run(mut self) -> Outcome {
        let outcome = self.pass().await.err().unwrap_or(Outcome::Replied);
        self.note_answer();
        outcome
    }

    async fn pass(&mut self) -> Result<(), Outcome> {
        if self.strikes_at(Phase::Forwarded) {
            if self.client.unless_gone(self.sent.wait()).await?.is_none() {
                // It has said why, or is about to.
                self.client.unless_gone(self.answer.drain()).await??;
            }
            if let Some(Change::Copies { times, after }) = self.strike().await? {
                *self.copies = self.message.map(|message| Copies::start(self.link, message, times, after));
            }
        }
        let mut head = self.final_head().await?;
        self.note_answer();
        if self.strikes_at(Phase::Response) {
            self.withhold().await?;
        }
        if self.strikes_at(Phase::ResponseHead) || self.strikes_at(Phase::Response) {
            match self.strike().await? {
                Some(Change::Patch(patch)) => head = head.patched(&patch),
                Some(Change::Trickle(pace)) => self.pacer = Some(Pacer::new(pace, self.link.clock, self.waits)),
                // The request is delivered again before its answer is there or not at all; validation sees to that.
                Some(Change::Copies { .. }) | None => {}
            }
        }
        self.relay(&head).await
    }

    /// Passes the answer on as it comes; what was kept of it goes first.
    async fn relay(&mut self, head: &Head) -> Result<(), Outcome> {
        let mut strike_after =
            self.decision.filter(|d| d.fault.at == Phase::ResponseBody).and_then(|d| d.fault.after_bytes);
        let mut kept = std::mem::take(self.kept).into_iter().peekable();
        let is_over = |answer: &Answer, more: bool| answer.is_whole() && answer.trailers.is_none() && !more;
        let ends = is_over(self.answer, kept.peek().is_some());
        if let Some(pacer) = &mut self.pacer {
            self.client.unless_gone(pacer.head(head.bytes())).await?;
        }
        let span = self.client.head(head.response(), ends).await?;
        self.reply.status = Some(head.status);
        self.reply.retry_after = head.retry_after();
        self.wrote(span);
        if ends {
            self.reply.grpc_status = status_of(&head.fields);
            return Ok(());
        }
        let mut passed = 0;
        loop {
            if strike_after == Some(passed) && !self.answer.is_whole() {
                self.strike().await?;
                strike_after = None;
            }
            let (piece, was_kept) = match kept.next() {
                Some(piece) => (Some(piece), true),
                None => {
                    let room = strike_after.map_or(u64::MAX, |n| n.saturating_sub(passed));
                    (self.client.unless_gone(self.answer.piece(room)).await??, false)
                }
            };
            self.note_answer();
            let Some(piece) = piece else { break };
            let n = piece.len();
            let ends = is_over(self.answer, kept.peek().is_some());
            self.data(piece, ends).await?;
            if !was_kept {
                self.answer.took(n);
            }
            passed += n as u64;
            if ends {
                return Ok(());
            }
        }
        let span = match self.answer.trailers.take() {
            Some(fields) => {
                self.reply.grpc_status = status_of(&fields);
                self.client.trailers(fields).await?
            }
            None => self.client.data(Bytes::new(), true).await?,
        };
        self.wrote(span);
        Ok(())
    }

    /// Sends a piece of the body, perhaps slowly.
    async fn data(&mut self, mut piece: Bytes, ends: bool) -> Result<(), Outcome> {
        let slow = self.pacer.as_ref().filter(|pacer| pacer.slows(Part::Body)).map(Pacer::bytes);
        while let Some(n) = slow.filter(|n| *n < piece.len()) {
            self.pause().await?;
            let span = self.client.data(piece.split_to(n), false).await?;
            self.wrote(span);
        }
        if slow.is_some() {
            self.pause().await?;
        }
        let span = self.client.data(piece, ends).await?;
        self.wrote(span);
        Ok(())
    }

    async fn pause(&mut self) -> Result<(), Outcome> {
        if let Some(pacer) = &mut self.pacer {
            self.client.unless_gone(pacer.next()).await?;
        }
        Ok(())
    }

    /// Reads the body whole. Keeps it only when the client may still get it.
    async fn withhold(&mut self) -> Result<(), Outcome> {
        let keeps = self.decision.is_some_and(|d| match &d.fault.effect {
            Effect::GrpcStatus(status) => status.after_messages,
            Effect::Malformed { .. } => true,
            effect => effect.may_go_on(),
        });
        let mut bytes = 0;
        while let Some(piece) = self.client.unless_gone(self.answer.piece(u64::MAX)).await?? {
            self.answer.took(piece.len());
            if !keeps {
                continue;
            }
            bytes += piece.len();
            if bytes > self.link.limits.withheld_bytes {
                let why = format!("its answer is longer than {} bytes to withhold", self.link.limits.withheld_bytes);
                return Err(Outcome::Failed(Failure { why, scope: Scope::Stream(h2::Reason::INTERNAL_ERROR) }));
            }
            self.kept.push(piece);
        }
        self.note_answer();
        Ok(())
    }

    /// Reads up to the final head; interim answers are passed on.
    async fn final_head(&mut self) -> Result<Head, Outcome> {
        loop {
            match self.client.unless_gone(self.answer.head()).await?? {
                Heading::Final(head) => return Ok(head),
                // The client has had this one from the proxy itself.
                Heading::Interim(head) if self.continued && head.status() == 100 => {}
                Heading::Interim(head) => self.client.interim(head).await?,
            }
        }
    }

    /// Puts on record what is known of the answer.
    fn note_answer(&mut self) {
        self.record.status = self.answer.known_head().map(|head| head.status);
        self.record.answered = self.answer.whole_at();
        self.record.grpc_status = self.answer.grpc_status().or(self.record.grpc_status);
    }

    fn wrote(&mut self, span: Span) {
        self.reply.wrote(span);
    }

    fn strikes_at(&self, phase: Phase) -> bool {
        self.decision.is_some_and(|d| d.fault.at == phase)
    }

    async fn strike(&mut self) -> Result<Option<Change>, Outcome> {
        let Some(decision) = self.decision else { return Ok(None) };
        let work = strike(decision, self.fault, self.link.clock, self.who.clone());
        match self.client.unless_gone(work).await? {
            Onward::GoOn => Ok(None),
            Onward::Change(change) => Ok(Some(change)),
            Onward::End(terminal) => Err(Outcome::Fault(terminal)),
        }
    }
}
