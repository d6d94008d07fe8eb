//! One exchange: the decision over a request, and the way it goes.

use std::sync::Arc;

use bytes::Bytes;
use evidence::{ConnectionEnd, End};

use super::answer::Upstream;
use super::copies::{Copies, Message};
use super::draft::Draft;
use super::ending::{After, Aftermath, end_by_fault, refuse};
use super::forward::forward;
use super::intake::{Broken, Incoming, absorb};
use crate::conn::{Client, ConnRecord};
use crate::engine::{Strike, Subject, Who};
use crate::link::Link;
use crate::rules::{Call, Effect, Phase};
use crate::strike::{Change, Onward, Pace, strike};

/// What the parts of an exchange share.
pub(super) struct Exchange<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) incoming: Incoming,
    pub(super) decision: Option<Strike>,
    /// The proxy has answered `expect: 100-continue` itself.
    pub(super) continued: bool,
    /// The request, when a fault may deliver it again.
    pub(super) message: Option<Message>,
    /// How slowly the request is delivered.
    pub(super) pace: Option<Pace>,
}

/// Serves one request to its end.
pub(super) async fn run(
    link: &Arc<Link>,
    record: &ConnRecord,
    client: Client,
    kept: &mut Option<Upstream>,
    incoming: Incoming,
) -> After {
    let mut draft = Draft::new(link, record.conn, &incoming);
    let decision = decide(link, record.conn, record.requests, &mut draft, &incoming);
    draft.enter(decision.as_ref().map(|d| d.rule.rule.id.clone()));
    let exchange = Exchange { link, incoming, decision, continued: false, message: None, pace: None };
    match exchange.decision.clone() {
        Some(decision) if decision.fault.at == Phase::Request => {
            // Rare, and large: boxed, so that a connection does not keep room for it.
            Box::pin(at_request(exchange, &decision, client, kept, draft)).await
        }
        Some(decision) if matches!(decision.fault.effect, Effect::Duplicate { .. }) => {
            let mut exchange = exchange;
            match Box::pin(whole(&mut exchange, client, draft, true)).await {
                Ok((client, draft, body)) => Box::pin(forward(exchange, client, kept, draft, Some(body))).await,
                Err(after) => after,
            }
        }
        _ => forward(exchange, client, kept, draft, None).await,
    }
}

/// The one decision over the `number`-th request of a connection; the record learns its scope.
pub(crate) fn decide(link: &Link, conn: u64, number: u32, draft: &mut Draft, incoming: &Incoming) -> Option<Strike> {
    let head = &incoming.head;
    let call = Call {
        method: &head.method,
        target: &head.target,
        key: draft.key.as_deref(),
        ordinal: draft.ordinal,
        trace: draft.context.map(|c| c.trace),
        headers: &head.fields,
    };
    let who = match &draft.key {
        Some(key) => Who::Key(key, draft.ordinal),
        None => Who::Conn(conn, number),
    };
    let subject = Subject { link: link.id, link_name: &link.name, conn, call: Some(&call), who };
    let verdict = link.engine.decide(&subject);
    draft.scope = verdict.scope;
    draft.reply.watched = verdict.watched;
    verdict.strike
}

/// Reads the request whole. Its body is kept when what was to come may still come.
async fn whole(
    exchange: &mut Exchange<'_>,
    mut client: Client,
    mut draft: Draft,
    keeps: bool,
) -> Result<(Client, Draft, Vec<u8>), After> {
    let link = exchange.link;
    let head = &exchange.incoming.head;
    let intake = &mut draft.intake;
    if head.expects_continue && intake.whole.is_none() {
        exchange.continued = true;
        // An error shows again in the read below.
        let _gone = client.wire.send(b"HTTP/1.1 100 Continue\r\n\r\n").await;
    }
    let body = match absorb(&mut client, intake, keeps.then_some(link.limits.withheld_bytes)).await {
        Ok(body) => body,
        Err(Broken::Left(at)) => {
            draft.reply.ended(End::ClientLeft, at);
            return Err(After::Over(ConnectionEnd::ByClient, Some(at)));
        }
        Err(Broken::Framing(why)) => return Err(refuse(link, client, draft, 400, why).await),
        Err(Broken::TooLong) => {
            let why = format!("a body of more than {} bytes cannot be withheld", link.limits.withheld_bytes);
            return Err(refuse(link, client, draft, 413, &why).await);
        }
    };
    if exchange.decision.as_ref().is_some_and(|d| matches!(d.fault.effect, Effect::Duplicate { .. })) {
        let bytes = Bytes::from([head.raw.as_ref(), &body].concat());
        exchange.message = Some(Message::Http1 { method: head.method.clone(), bytes });
    }
    Ok((client, draft, body))
}

/// Reads the request whole and lets the fault strike before anything is forwarded.
async fn at_request(
    mut exchange: Exchange<'_>,
    decision: &Strike,
    client: Client,
    kept: &mut Option<Upstream>,
    draft: Draft,
) -> After {
    let link = exchange.link;
    let keeps = decision.fault.effect.may_go_on();
    let (mut client, mut draft, body) = match whole(&mut exchange, client, draft, keeps).await {
        Ok(read) => read,
        Err(after) => return after,
    };
    let who = draft.at_gate();
    let onward = tokio::select! {
        biased;
        onward = strike(decision, &mut draft.fault, link.clock, who) => onward,
        at = client.wire.departure(&mut client.inbox) => {
            draft.reply.ended(End::ClientLeft, at);
            return After::Over(ConnectionEnd::ByClient, Some(at));
        }
    };
    match onward {
        Onward::End(terminal) => return end_by_fault(&exchange, terminal, client, draft, Aftermath::Nothing).await,
        Onward::Change(Change::Copies { times, after }) => {
            draft.copies = exchange.message.as_ref().map(|message| Copies::start(link, message, times, after));
        }
        Onward::Change(Change::Trickle(pace)) => exchange.pace = Some(pace),
        // A head of an answer can only be changed once it is there; validation sees to that.
        Onward::GoOn | Onward::Change(Change::Patch(_)) => {}
    }
    exchange.decision = None;
    forward(exchange, client, kept, draft, Some(body)).await
}
