//! How exchanges end: for the client at once, and for the upstream's answer perhaps later.

use std::sync::Arc;

use evidence::{At, ConnectionEnd, End};

use super::answer::{Answer, Upstream};
use super::draft::Draft;
use super::exchange::Exchange;
use super::malformed::Basis;
use super::reply::{encode, refusal};
use crate::conn::Client;
use crate::link::Link;
use crate::strike::Terminal;

/// What becomes of the client's connection.
#[derive(Debug)]
pub(super) enum After {
    /// It may carry another request.
    Next(Client),
    /// It is gone; with the moment when a fault or a failure ended it.
    Over(ConnectionEnd, Option<At>),
}

/// What the upstream still owes when the exchange is over for the client.
#[derive(Debug)]
pub(super) enum Aftermath {
    /// Nothing: it was not asked, or its answer is on record.
    Nothing,
    /// Perhaps an answer.
    Owed(Box<(Upstream, Answer)>),
}

impl Aftermath {
    pub(super) fn owed(up: Upstream, answer: Answer) -> Self {
        Self::Owed(Box::new((up, answer)))
    }

    /// Writes the record: now, or once the answer is there. A network would deliver the request that was sent, so the
    /// call goes on, up to a limit, and what the upstream did is known.
    pub(super) fn follow(self, link: &Arc<Link>, mut draft: Draft) {
        let Self::Owed(mut owed) = self else { return };
        if owed.1.is_whole() {
            draft.upstream.answered = draft.upstream.answered.or(owed.1.whole_at(&owed.0.inbox));
            return;
        }
        if draft.upstream.sent.is_none() {
            let why = "the exchange ended before the request had been sent whole";
            draft.upstream.error.get_or_insert_with(|| why.to_owned());
            return;
        }
        let shared = Arc::clone(link);
        link.tasks.spawn(async move {
            let (up, answer) = &mut *owed;
            await_answer(&shared, &mut draft, up, answer).await;
        });
    }
}

/// Waits for the rest of an answer that nobody gets any more, and puts it on record.
async fn await_answer(link: &Link, draft: &mut Draft, up: &mut Upstream, answer: &mut Answer) {
    let limits = &link.limits;
    let drained = tokio::time::timeout(limits.late_answer_time, answer.drain(&mut up.tap(), limits)).await;
    draft.upstream.status = answer.known_head().map(|h| h.status);
    draft.upstream.answered = draft.upstream.answered.or(answer.whole_at(&up.inbox));
    match drained {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => draft.upstream.error = Some(failure.why),
        Err(_) => {
            let why = format!("no whole answer within {:?} after the client's part was over", limits.late_answer_time);
            draft.upstream.error = Some(why);
        }
    }
}

/// Carries out what ends an exchange.
pub(super) async fn end_by_fault(
    exchange: &Exchange<'_>,
    terminal: Terminal,
    client: Client,
    mut draft: Draft,
    aftermath: Aftermath,
) -> After {
    let link = exchange.link;
    let terminal = match terminal.on_http1() {
        // Part of an answer was passed on: another head in its middle would be read as its body.
        Terminal::Reply { .. } if draft.reply.first_byte.is_some() => Terminal::Close,
        other => other,
    };
    match terminal {
        Terminal::Reset | Terminal::RstStream(_) => {
            let at = client.wire.reset();
            draft.reply.ended(End::Reset, at);
            aftermath.follow(link, draft);
            After::Over(ConnectionEnd::ResetByFault, Some(at))
        }
        Terminal::Close | Terminal::GoAway { .. } | Terminal::GrpcStatus(_) => {
            let at = client.wire.fin();
            draft.reply.ended(End::Cut, at);
            aftermath.follow(link, draft);
            client.wire.linger(link.limits.linger_time).await;
            After::Over(ConnectionEnd::CutByFault, Some(at))
        }
        Terminal::Malformed { kind, noise } => {
            malformed(link, client, draft, &Basis::default().spoil(kind, noise), aftermath).await
        }
        Terminal::Hang => hang(link, client, draft, aftermath).await,
        Terminal::Reply { status, headers, body } => {
            let keep = exchange.incoming.head.keep_alive && draft.intake.whole.is_some();
            let bytes = encode(status, &headers, &body, &exchange.incoming.head.method, keep);
            let retry_after = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
            draft.reply.retry_after = retry_after.map(|(_, value)| value.clone());
            let Ok(span) = client.wire.send(&bytes).await else {
                return left(link, draft, link.clock.now(), aftermath);
            };
            draft.reply.status = Some(status);
            draft.reply.wrote(span);
            draft.reply.ended(End::Replied, span.last);
            aftermath.follow(link, draft);
            if keep {
                return After::Next(client);
            }
            client.wire.fin();
            client.wire.linger(link.limits.linger_time).await;
            After::Over(ConnectionEnd::ByClient, None)
        }
    }
}

/// Sends what is not a whole answer, with its status when a client can read one, and closes.
pub(super) async fn malformed(
    link: &Arc<Link>,
    client: Client,
    mut draft: Draft,
    (bytes, status): &(Vec<u8>, Option<u16>),
    aftermath: Aftermath,
) -> After {
    if !bytes.is_empty() {
        let Ok(span) = client.wire.send(bytes).await else {
            return left(link, draft, link.clock.now(), aftermath);
        };
        draft.reply.status = *status;
        draft.reply.wrote(span);
    }
    let at = client.wire.fin();
    draft.reply.ended(End::Cut, at);
    aftermath.follow(link, draft);
    client.wire.linger(link.limits.linger_time).await;
    After::Over(ConnectionEnd::CutByFault, Some(at))
}

/// Says nothing until the client leaves. The answer of the upstream, if one is owed, is read meanwhile.
async fn hang(link: &Arc<Link>, client: Client, mut draft: Draft, mut aftermath: Aftermath) -> After {
    let at = match &mut aftermath {
        Aftermath::Nothing => client.wire.silence().await,
        Aftermath::Owed(owed) => {
            let (up, answer) = &mut **owed;
            let reading = async {
                await_answer(link, &mut draft, up, answer).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                at = client.wire.silence() => at,
                () = reading => link.clock.now(),
            }
        }
    };
    left(link, draft, at, aftermath)
}

/// The client left.
pub(super) fn left(link: &Arc<Link>, mut draft: Draft, at: At, aftermath: Aftermath) -> After {
    draft.reply.ended(End::ClientLeft, at);
    aftermath.follow(link, draft);
    After::Over(ConnectionEnd::ByClient, Some(at))
}

/// The upstream failed: passed on as the same kind of end.
pub(super) async fn upstream_failed(
    link: &Link,
    client: Client,
    mut draft: Draft,
    why: String,
    is_reset: bool,
) -> After {
    draft.upstream.error = Some(why);
    let over = |at| After::Over(ConnectionEnd::ByUpstream, Some(at));
    if is_reset {
        let at = client.wire.reset();
        draft.reply.ended(End::UpstreamFailed, at);
        return over(at);
    }
    let at = client.wire.fin();
    draft.reply.ended(End::UpstreamFailed, at);
    drop(draft);
    client.wire.linger(link.limits.linger_time).await;
    over(at)
}

/// Answers something that is not a request of ours, and ends the connection: where the next one begins is not known.
pub(super) async fn refuse(link: &Link, client: Client, mut draft: Draft, status: u16, why: &str) -> After {
    link.log.remark(link.clock.now(), "malformed-request", format!("link `{}`: answered {status}: {why}", link.name));
    if draft.reply.first_byte.is_none()
        && let Ok(span) = client.wire.send(&refusal(status, why)).await
    {
        draft.reply.status = Some(status);
        draft.reply.wrote(span);
    }
    let at = client.wire.fin();
    draft.reply.ended(End::Malformed, draft.reply.last_byte.unwrap_or(at));
    drop(draft);
    client.wire.linger(link.limits.linger_time).await;
    After::Over(ConnectionEnd::ByClient, None)
}
