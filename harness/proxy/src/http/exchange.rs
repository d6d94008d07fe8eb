//! One exchange: the decision over a request, and the way it goes.

use std::sync::Arc;

use judge::evidence::{ConnectionEnd, End};

use super::answer::Upstream;
use super::draft::Draft;
use super::ending::{After, Aftermath, end_by_fault, refuse};
use super::forward::forward;
use super::intake::{Broken, Incoming, absorb};
use crate::conn::{Client, ConnRecord};
use crate::engine::{Strike, Who};
use crate::link::Link;
use crate::rules::{Call, Effect, Phase};
use crate::strike::{Onward, strike};

/// What the parts of an exchange share.
pub(super) struct Exchange<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) incoming: Incoming,
    pub(super) decision: Option<Strike>,
    /// The proxy has answered `expect: 100-continue` itself.
    pub(super) continued: bool,
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
    let decision = decide(link, record.conn, record.requests, &draft, &incoming);
    draft.enter(decision.as_ref().map(|d| d.rule.rule.id.clone()));
    let exchange = Exchange { link, incoming, decision, continued: false };
    match &exchange.decision {
        Some(decision) if decision.fault.at == Phase::Request => {
            let decision = decision.clone();
            at_request(exchange, &decision, client, kept, draft).await
        }
        _ => forward(exchange, client, kept, draft, None).await,
    }
}

/// The one decision over the `number`-th request of a connection.
pub(crate) fn decide(link: &Link, conn: u64, number: u32, draft: &Draft, incoming: &Incoming) -> Option<Strike> {
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
    link.engine.decide(link.id, &call, who)
}

/// Reads the request whole and lets the fault strike before anything is forwarded.
async fn at_request(
    mut exchange: Exchange<'_>,
    decision: &Strike,
    mut client: Client,
    kept: &mut Option<Upstream>,
    mut draft: Draft,
) -> After {
    let link = exchange.link;
    let goes_on = matches!(decision.fault.effect, Effect::Delay(_) | Effect::Hold { .. });
    let keep = goes_on.then_some(link.limits.withheld_bytes);
    let intake = &mut draft.intake;
    if exchange.incoming.head.expects_continue && intake.whole.is_none() {
        exchange.continued = true;
        // An error shows again in the read below.
        let _gone = client.wire.send(b"HTTP/1.1 100 Continue\r\n\r\n").await;
    }
    let body = match absorb(&mut client, intake, keep).await {
        Ok(body) => body,
        Err(Broken::Left(at)) => {
            draft.reply.ended(End::ClientLeft, at);
            return After::Over(ConnectionEnd::ByClient, Some(at));
        }
        Err(Broken::Framing(why)) => return refuse(link, client, draft, 400, why).await,
        Err(Broken::TooLong) => {
            let why = format!("a body of more than {} bytes cannot be withheld", link.limits.withheld_bytes);
            return refuse(link, client, draft, 413, &why).await;
        }
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
        Onward::GoOn | Onward::Change(_) => {
            exchange.decision = None;
            forward(exchange, client, kept, draft, Some(body)).await
        }
        Onward::End(terminal) => end_by_fault(&exchange, terminal, client, draft, Aftermath::Nothing).await,
    }
}
