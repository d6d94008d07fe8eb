//! One stream, one attempt: the decision over it, and the way it goes.

use std::sync::Arc;

use bytes::Bytes;
use evidence::{At, End};
use h2::{Reason, RecvStream};
use http::{Response, StatusCode, request};

use super::answer::{Answer, Failure, Scope};
use super::back::{Back, Outcome};
use super::client::ClientSide;
use super::connection::{Arrival, Shared};
use super::ending::{Aftermath, Ending};
use super::fields::list_bytes;
use super::there::{Next, There, next, took};
use super::uplink::Line;
use super::upward::{Absorbed, Upward, Whole, begin};
use crate::engine::Strike;
use crate::http::copies::{Copies, Message};
use crate::http::draft::Draft;
use crate::http::exchange::decide;
use crate::http::head::RequestHead;
use crate::http::intake::{Incoming, Intake};
use crate::http::pace::{Pacer, Waits};
use crate::rules::{Effect, Phase};
use crate::strike::{Change, Onward, Pace, strike};

/// What the parts of an exchange share.
struct Exchange {
    shared: Arc<Shared>,
    parts: request::Parts,
    body: RecvStream,
    client: ClientSide,
    draft: Draft,
    /// The proxy has answered `expect: 100-continue` itself.
    continued: bool,
    /// The request, when a fault may deliver it again.
    message: Option<Message>,
    /// How slowly the request is delivered.
    pace: Option<Pace>,
    head_bytes: usize,
}

/// Serves one stream to its end.
pub(super) async fn serve(shared: Arc<Shared>, arrival: Arrival, at: At, number: u32) {
    let (request, respond) = arrival;
    let (parts, body) = request.into_parts();
    let link = &shared.link;
    let incoming = Incoming { head: head_of(&parts), arrived: at, head_at: at };
    let mut draft = Draft::new(link, shared.conn, &incoming);
    draft.intake = Intake::of_stream(declared(&parts), body.is_end_stream().then_some(at));
    let head_bytes = list_bytes(incoming.head.fields.iter().map(|(name, value)| (name.len(), value.len())));
    let is_too_long = head_bytes > link.limits.head_bytes;
    let decision = if is_too_long || shared.door.fate.get().is_some() {
        None
    } else {
        decide(link, shared.conn, number, &mut draft, &incoming)
    };
    draft.enter(decision.as_ref().map(|d| d.rule.rule.id.clone()));
    let client = ClientSide::new(Arc::clone(&shared), respond);
    let exchange =
        Exchange { shared, parts, body, client, draft, continued: false, message: None, pace: None, head_bytes };
    match decision {
        _ if is_too_long => {
            let why = format!("a header list of more than {} bytes", exchange.shared.link.limits.head_bytes);
            exchange.ending(Aftermath::Nothing).refuse(431, &why).await;
        }
        Some(decision) if decision.fault.at == Phase::Request => exchange.at_request(&decision).await,
        Some(decision) if matches!(decision.fault.effect, Effect::Duplicate { .. }) => {
            if let Some((exchange, absorbed)) = exchange.whole(&decision).await {
                exchange.forward(Some(decision), Some(absorbed)).await;
            }
        }
        decision => exchange.forward(decision, None).await,
    }
}

impl Exchange {
    /// Reads the request whole and lets the fault strike before anything is forwarded.
    async fn at_request(self, decision: &Strike) {
        let Some((mut exchange, absorbed)) = self.whole(decision).await else { return };
        let link = Arc::clone(&exchange.shared.link);
        let who = exchange.draft.at_gate();
        let work = strike(decision, &mut exchange.draft.fault, link.clock, who);
        match exchange.client.unless_gone(work).await {
            Ok(Onward::End(terminal)) => return exchange.ending(Aftermath::Nothing).by_fault(terminal).await,
            Err(gone) => return exchange.ending(Aftermath::Nothing).gone(gone).await,
            Ok(Onward::Change(Change::Copies { times, after })) => {
                let message = exchange.message.as_ref();
                exchange.draft.copies = message.map(|message| Copies::start(&link, message, times, after));
            }
            Ok(Onward::Change(Change::Trickle(pace))) => exchange.pace = Some(pace),
            // A head of an answer can only be changed once it is there; validation sees to that.
            Ok(Onward::GoOn | Onward::Change(Change::Patch(_))) => {}
        }
        exchange.forward(None, Some(absorbed)).await;
    }

    /// Reads the request whole; `None` when the exchange is over with that.
    async fn whole(mut self, decision: &Strike) -> Option<(Self, Absorbed)> {
        let limit = self.shared.link.limits.withheld_bytes;
        let keep = decision.fault.effect.may_go_on().then_some(limit);
        match self.absorb(keep).await {
            Ok(Some(absorbed)) => {
                if matches!(decision.fault.effect, Effect::Duplicate { .. }) {
                    self.message = Some(Message::Http2(Whole::new(&self.parts, &absorbed)));
                }
                return Some((self, absorbed));
            }
            Ok(None) => {
                let why = format!("a body of more than {limit} bytes cannot be withheld");
                self.ending(Aftermath::Nothing).refuse(413, &why).await;
            }
            Err(()) => {
                let gone = self.client.gone().await;
                self.ending(Aftermath::Nothing).gone(gone).await;
            }
        }
        None
    }

    /// Reads the body whole. Keeps its bytes when `keep` says how many at most; `None` when there are more. An error says
    /// that the client is gone.
    async fn absorb(&mut self, keep: Option<usize>) -> Result<Option<Absorbed>, ()> {
        let mut absorbed = Absorbed::default();
        let mut bytes = 0;
        let clock = self.shared.link.clock;
        if self.draft.intake.whole.is_none() && self.parts.headers.get("expect").is_some() {
            self.continued = true;
            let mut head = Response::new(());
            *head.status_mut() = StatusCode::CONTINUE;
            self.client.interim(head).await.map_err(drop)?;
        }
        while self.draft.intake.whole.is_none() {
            let piece = match next(&mut self.body, &mut self.draft.intake, clock).await.map_err(drop)? {
                Next::Piece(piece, _) => piece,
                Next::Over(trailers) => {
                    absorbed.trailers = trailers;
                    break;
                }
            };
            took(&mut self.body, piece.len());
            if let Some(limit) = keep {
                bytes += piece.len();
                if bytes > limit {
                    return Ok(None);
                }
                absorbed.pieces.push(piece);
            }
        }
        Ok(Some(absorbed))
    }

    /// Forwards the request, and its answer; `absorbed` is what was already read of its body.
    async fn forward(mut self, decision: Option<Strike>, absorbed: Option<Absorbed>) {
        let link = Arc::clone(&self.shared.link);
        let mut line = match self.client.unless_gone(self.shared.uplink.line(&link)).await {
            Ok(Ok(line)) => line,
            // As a refused dial looks on an accepted connection.
            Ok(Err(why)) => return self.upstream_failed(why, Scope::Connection { is_reset: true, goaway: None }).await,
            Err(gone) => return self.ending(Aftermath::Nothing).gone(gone).await,
        };
        let waits = Waits::default();
        let mut pacer = self.pace.map(|pace| Pacer::new(pace, link.clock, &waits));
        if let Some(pacer) = &mut pacer
            && let Err(gone) = self.client.unless_gone(pacer.head(self.head_bytes)).await
        {
            waits.onto(&mut self.draft.fault);
            return self.ending(Aftermath::Nothing).gone(gone).await;
        }
        let is_over = absorbed.as_ref().map_or(self.draft.intake.whole.is_some(), Absorbed::is_empty);
        let (response, up) = match begin(&mut line.sender, &self.parts, is_over) {
            Ok(both) => both,
            Err(e) => {
                let Failure { why, scope } = Failure::from(e);
                return self.upstream_failed(why, scope).await;
            }
        };
        let mut upward = Upward { up };
        let mut answer = Answer::new(link.clock, response);
        let mut kept = Vec::<Bytes>::new();
        let who = self.draft.at_gate();
        let draft = &mut self.draft;
        let there = There {
            clock: link.clock,
            body: &mut self.body,
            sender: &mut line.sender,
            upward: &mut upward,
            intake: &mut draft.intake,
            sent: &draft.sent,
            pacer,
        };
        let back = Back {
            link: &link,
            client: &mut self.client,
            answer: &mut answer,
            record: &mut draft.upstream,
            reply: &mut draft.reply,
            fault: &mut draft.fault,
            decision: decision.as_ref(),
            who,
            sent: &draft.sent,
            continued: self.continued,
            kept: &mut kept,
            message: self.message.as_ref(),
            copies: &mut draft.copies,
            waits: &waits,
            pacer: None,
        };
        let outcome = tokio::select! {
            biased;
            outcome = back.run() => Some(outcome),
            () = there.run(absorbed, is_over) => None,
        };
        self.draft.upstream.sent = self.draft.sent.get().copied().flatten();
        waits.onto(&mut self.draft.fault);
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => Outcome::Gone(self.client.gone().await),
        };
        self.over(outcome, &line, Aftermath::owed(upward.up, answer, kept)).await;
    }

    /// Both directions came to an end.
    async fn over(mut self, outcome: Outcome, line: &Line, owed: Aftermath) {
        let link = Arc::clone(&self.shared.link);
        match outcome {
            Outcome::Replied => {
                let at = self.draft.reply.last_byte.unwrap_or_else(|| link.clock.now());
                self.draft.reply.ended(End::Replied, at);
            }
            Outcome::Fault(terminal) => self.ending(owed).by_fault(terminal).await,
            Outcome::Gone(gone) => self.ending(owed).gone(gone).await,
            Outcome::Failed(Failure { why, scope }) => {
                drop(owed);
                let scope = match scope {
                    Scope::Connection { is_reset, goaway: None } => {
                        let end = line.end(link.limits.linger_time).await.unwrap_or_default();
                        Scope::Connection { is_reset: is_reset || end.is_reset, goaway: end.goaway }
                    }
                    known => known,
                };
                self.upstream_failed(why, scope).await;
            }
        }
    }

    async fn upstream_failed(self, why: String, scope: Scope) {
        self.ending(Aftermath::Nothing).upstream_failed(why, scope).await;
    }

    fn ending(self, aftermath: Aftermath) -> Ending {
        let is_head = self.parts.method == http::Method::HEAD;
        Ending { shared: self.shared, client: self.client, draft: self.draft, aftermath, is_head, body: self.body }
    }
}

/// What rules and records look at.
fn head_of(parts: &request::Parts) -> RequestHead {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut fields: Vec<_> = parts.headers.iter().map(|(n, v)| (n.as_str().to_owned(), text(v.as_bytes()))).collect();
    let authority = parts.uri.authority().map(ToString::to_string);
    let target = match (parts.uri.path_and_query(), &authority) {
        (Some(path), _) => path.as_str().to_owned(),
        (None, Some(authority)) => authority.clone(),
        (None, None) => String::new(),
    };
    if let Some(authority) = authority
        && !parts.headers.contains_key("host")
    {
        fields.push(("host".to_owned(), authority));
    }
    RequestHead::of_stream(parts.method.as_str(), target, fields)
}

fn declared(parts: &request::Parts) -> Option<u64> {
    parts.headers.get("content-length")?.to_str().ok()?.parse().ok()
}

/// What the framing layer calls a code.
pub(super) fn reason(code: crate::rules::Http2Code) -> Reason {
    Reason::from(code.0)
}
