//! Forwarding a request and passing its answer back, both at once: an upstream may answer before it has read the body,
//! and a client may leave at any moment.

use judge::evidence::{At, ConnectionEnd, End, Struck};
use tokio::sync::SetOnce;

use super::answer::{Answer, Failure, Heading, Tap, Upstream};
use super::body::Framing;
use super::draft::{Draft, Progress};
use super::ending::{After, Aftermath, end_by_fault, left, refuse, upstream_failed};
use super::exchange::Exchange;
use super::head::ResponseHead;
use super::intake::Intake;
use crate::clock::Clock;
use crate::conn::Client;
use crate::engine::{Held, Strike};
use crate::link::Link;
use crate::rules::{Effect, Phase};
use crate::strike::{Onward, Terminal, strike};
use crate::tcp;
use crate::wire::{Inbox, Wire};

/// How the two directions together came to an end.
#[derive(Debug)]
enum Outcome {
    /// The answer was passed on whole.
    Replied,
    /// A fault ends the exchange.
    Fault(Terminal),
    /// The upstream failed.
    Failed(Failure),
    /// The client left.
    Left(At),
    /// The request's body cannot be read.
    Unreadable(&'static str),
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(failure)
    }
}

/// Forwards a request; `body` is what was already read of it.
pub(super) async fn forward(
    exchange: Exchange<'_>,
    mut client: Client,
    kept: &mut Option<Upstream>,
    mut draft: Draft,
    body: Option<Vec<u8>>,
) -> After {
    let link = exchange.link;
    let usable = kept.take().filter(|up| up.is_usable(link));
    let reused = usable.is_some();
    let mut up = match usable {
        Some(up) => up,
        None => tokio::select! {
            biased;
            dialled = Upstream::dial(link) => match dialled {
                Ok(up) => up,
                // As a refused dial looks on an accepted connection.
                Err(why) => return upstream_failed(link, client, draft, why, true).await,
            },
            at = client.wire.departure(&mut client.inbox) => return left(link, draft, at, Aftermath::Nothing),
        },
    };
    let mut answer = Answer::to(&exchange.incoming.head.method);
    let sent = SetOnce::new();
    let outcome = {
        let who = draft.at_gate();
        let Upstream { wire, inbox, .. } = &mut up;
        let there =
            There { client: &client.wire, inbox: &mut client.inbox, up: wire, intake: &mut draft.intake, sent: &sent };
        let back = Back {
            link,
            client: &client.wire,
            up: Tap { wire, inbox },
            answer: &mut answer,
            record: &mut draft.upstream,
            reply: &mut draft.reply,
            fault: &mut draft.fault,
            decision: exchange.decision.as_ref(),
            who,
            sent: &sent,
            continued: exchange.continued,
        };
        tokio::select! {
            biased;
            outcome = back.run() => outcome,
            outcome = there.run(&exchange.incoming.head.raw, body) => outcome,
        }
    };
    draft.upstream.sent = sent.get().copied().flatten();
    match outcome {
        Outcome::Replied => replied(&exchange, client, kept, draft, up, &answer).await,
        Outcome::Fault(terminal) => end_by_fault(&exchange, terminal, client, draft, Aftermath::owed(up, answer)).await,
        Outcome::Left(at) => left(link, draft, at, Aftermath::owed(up, answer)),
        Outcome::Unreadable(why) => refuse(link, client, draft, 400, why).await,
        Outcome::Failed(Failure { why, is_reset }) => {
            let why = if reused { format!("on a kept connection: {why}") } else { why };
            upstream_failed(link, client, draft, why, is_reset).await
        }
    }
}

/// The answer was passed on: ends the exchange, and the connection when either side wants that.
async fn replied(
    exchange: &Exchange<'_>,
    client: Client,
    kept: &mut Option<Upstream>,
    mut draft: Draft,
    up: Upstream,
    answer: &Answer,
) -> After {
    let link = exchange.link;
    let last = draft.reply.last_byte.unwrap_or_else(|| link.clock.now());
    let (framing, answer_keeps, tunnel) =
        answer.known_head().map_or((Framing::ToEnd, false, false), |h| (h.framing, h.keep_alive, h.is_tunnel));
    // An answer that lasts until the end of the connection ends with its FIN.
    let ended = if framing == Framing::ToEnd { client.wire.fin() } else { last };
    draft.reply.ended(End::Replied, ended);
    let request_whole = draft.intake.whole.is_some() && draft.upstream.sent.is_some();
    drop(draft);
    if tunnel {
        let end = tcp::relay(client, Client { wire: up.wire, inbox: up.inbox }).await;
        return After::Over(end, None);
    }
    if answer_keeps && exchange.incoming.head.keep_alive && request_whole {
        *kept = answer.leaves_connection_usable().then_some(up);
        return After::Next(client);
    }
    drop(up);
    client.wire.fin();
    client.wire.linger(link.limits.linger_time).await;
    After::Over(if answer_keeps { ConnectionEnd::ByClient } else { ConnectionEnd::ByUpstream }, None)
}

/// The direction from the client to the upstream.
struct There<'a> {
    client: &'a Wire,
    inbox: &'a mut Inbox,
    up: &'a Wire,
    intake: &'a mut Intake,
    /// When the request had been sent whole; `None` when it cannot be.
    sent: &'a SetOnce<Option<At>>,
}

impl There<'_> {
    /// Sends the request, then watches the client. Ends only when there is nothing left to wait for.
    async fn run(mut self, head: &[u8], body: Option<Vec<u8>>) -> Outcome {
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

/// The direction from the upstream to the client.
struct Back<'a> {
    link: &'a Link,
    client: &'a Wire,
    up: Tap<'a>,
    answer: &'a mut Answer,
    record: &'a mut judge::evidence::Upstream,
    reply: &'a mut Progress,
    fault: &'a mut Option<Struck>,
    decision: Option<&'a Strike>,
    who: Held,
    sent: &'a SetOnce<Option<At>>,
    continued: bool,
}

impl Back<'_> {
    async fn run(mut self) -> Outcome {
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
    async fn final_head(&mut self) -> Result<std::sync::Arc<ResponseHead>, Outcome> {
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
            Onward::GoOn => Ok(()),
            Onward::End(terminal) => Err(Outcome::Fault(terminal)),
        }
    }

    fn clock(&self) -> Clock {
        self.link.clock
    }
}
