//! Forwarding a request and passing its answer back, both at once: an upstream may answer before it has read the body,
//! and a client may leave at any moment.

use evidence::{At, ConnectionEnd, End};

use super::answer::{Answer, Failure, Tap, Upstream};
use super::back::Back;
use super::body::Framing;
use super::draft::Draft;
use super::ending::{After, Aftermath, end_by_fault, left, malformed, refuse, upstream_failed};
use super::exchange::Exchange;
use super::malformed::Basis;
use super::pace::{Pacer, Waits};
use super::there::There;
use crate::conn::Client;
use crate::rules::Malformed;
use crate::strike::Terminal;
use crate::tcp;

/// How the two directions together came to an end.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer was passed on whole.
    Replied,
    /// A fault ends the exchange.
    Fault(Terminal),
    /// A fault ends the exchange with what it makes of the upstream's answer.
    Spoiled(Basis, Malformed, u64),
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
                Err(why) => return Box::pin(upstream_failed(link, client, draft, why, true)).await,
            },
            at = client.wire.departure(&mut client.inbox) => return left(link, draft, at, Aftermath::Nothing),
        },
    };
    let mut answer = Answer::to(&exchange.incoming.head.method);
    let waits = Waits::default();
    let outcome = {
        let who = exchange.decision.is_some().then(|| draft.at_gate());
        let Upstream { wire, inbox, .. } = &mut up;
        let there = There {
            client: &client.wire,
            inbox: &mut client.inbox,
            up: wire,
            intake: &mut draft.intake,
            sent: &draft.sent,
            pacer: exchange.pace.map(|pace| Pacer::new(pace, link.clock, &waits)),
        };
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
            sent: &draft.sent,
            continued: exchange.continued,
            method: &exchange.incoming.head.method,
            message: exchange.message.as_ref(),
            copies: &mut draft.copies,
            waits: &waits,
            pacer: None,
        };
        tokio::select! {
            biased;
            outcome = back.run() => outcome,
            outcome = there.run(&exchange.incoming.head.raw, body) => outcome,
        }
    };
    draft.upstream.sent = draft.sent.get().copied().flatten();
    waits.onto(&mut draft.fault);
    // What is rare is boxed, so that a connection does not keep room for it.
    match outcome {
        Outcome::Replied => replied(&exchange, client, kept, draft, up, &answer).await,
        Outcome::Fault(terminal) => {
            Box::pin(end_by_fault(&exchange, terminal, client, draft, Aftermath::owed(up, answer))).await
        }
        Outcome::Spoiled(basis, kind, noise) => {
            Box::pin(malformed(link, client, draft, &basis.spoil(kind, noise), Aftermath::owed(up, answer))).await
        }
        Outcome::Left(at) => left(link, draft, at, Aftermath::owed(up, answer)),
        Outcome::Unreadable(why) => Box::pin(refuse(link, client, draft, 400, why)).await,
        Outcome::Failed(Failure { why, is_reset }) => {
            let why = if reused { format!("on a kept connection: {why}") } else { why };
            Box::pin(upstream_failed(link, client, draft, why, is_reset)).await
        }
    }
}

/// The answer was passed on: ends the exchange, and the connection when either side wants that.
async fn replied(
    exchange: &Exchange<'_>,
    client: Client,
    kept: &mut Option<Upstream>,
    mut draft: Draft,
    mut up: Upstream,
    answer: &Answer,
) -> After {
    let link = exchange.link;
    let last = draft.reply.last_byte.unwrap_or_else(|| link.clock.now());
    let (framing, answer_keeps, tunnel) =
        answer.known_head().map_or((Framing::ToEnd, false, false), |h| (h.framing, h.keep_alive, h.is_tunnel));
    // An answer that lasts until the end of the connection ends with its FIN.
    let ended = if framing == Framing::ToEnd { client.wire.fin_like(&up.wire) } else { last };
    if framing == Framing::ToEnd && up.wire.is_truncated() {
        let text = "an answer that lasts to the end of its connection ended with FIN without close_notify";
        link.log.remark(link.clock.now(), "tls-truncated", format!("link `{}`: {text}", link.name));
    }
    draft.reply.ended(End::Replied, ended);
    let request_whole = draft.intake.whole.is_some() && draft.upstream.sent.is_some();
    drop(draft);
    if tunnel {
        let end = Box::pin(tcp::relay(client, Client { wire: up.wire, inbox: up.inbox })).await;
        return After::Over(end, None);
    }
    if answer_keeps && exchange.incoming.head.keep_alive && request_whole {
        up.inbox.shrink();
        *kept = answer.leaves_connection_usable().then_some(up);
        return After::Next(client);
    }
    drop(up);
    client.wire.fin();
    Box::pin(client.wire.linger(link.limits.linger_time)).await;
    After::Over(if answer_keeps { ConnectionEnd::ByClient } else { ConnectionEnd::ByUpstream }, None)
}
