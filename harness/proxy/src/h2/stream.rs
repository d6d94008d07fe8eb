//! One stream, one attempt: the decision over it, and the way it goes.

use std::sync::Arc;

use bytes::Bytes;
use h2::{Reason, RecvStream};
use http::{Response, StatusCode, request};
use judge::evidence::{At, End};
use tokio::sync::SetOnce;

use super::answer::{Answer, Failure, Scope};
use super::back::{Back, Outcome};
use super::client::ClientSide;
use super::connection::{Arrival, Shared};
use super::ending::{Aftermath, Ending};
use super::there::{Absorbed, Next, There, next, took};
use crate::engine::Strike;
use crate::http::draft::Draft;
use crate::http::exchange::decide;
use crate::http::head::RequestHead;
use crate::http::intake::{Incoming, Intake};
use crate::rules::Phase;
use crate::strike::{Onward, strike};

/// What the parts of an exchange share.
struct Exchange {
    shared: Arc<Shared>,
    parts: request::Parts,
    body: RecvStream,
    client: ClientSide,
    draft: Draft,
    /// The proxy has answered `expect: 100-continue` itself.
    continued: bool,
}

/// Serves one stream to its end.
pub(super) async fn serve(shared: Arc<Shared>, arrival: Arrival, at: At, number: u32) {
    let (request, respond) = arrival;
    let (parts, body) = request.into_parts();
    let link = &shared.link;
    let incoming = Incoming { head: head_of(&parts), arrived: at, head_at: at };
    let mut draft = Draft::new(link, shared.conn, &incoming);
    draft.intake = Intake::of_stream(declared(&parts), body.is_end_stream().then_some(at));
    let is_too_long = list_bytes(&incoming.head.fields) > link.limits.head_bytes;
    let decision = if is_too_long || shared.door.fate.get().is_some() {
        None
    } else {
        decide(link, shared.conn, number, &mut draft, &incoming)
    };
    draft.enter(decision.as_ref().map(|d| d.rule.rule.id.clone()));
    let client = ClientSide::new(Arc::clone(&shared), respond);
    let exchange = Exchange { shared, parts, body, client, draft, continued: false };
    match decision {
        _ if is_too_long => {
            let why = format!("a header list of more than {} bytes", exchange.shared.link.limits.head_bytes);
            exchange.ending(Aftermath::Nothing).refuse(431, &why).await;
        }
        Some(decision) if decision.fault.at == Phase::Request => exchange.at_request(&decision).await,
        decision => exchange.forward(decision, None).await,
    }
}

impl Exchange {
    /// Reads the request whole and lets the fault strike before anything is forwarded.
    async fn at_request(mut self, decision: &Strike) {
        let link = Arc::clone(&self.shared.link);
        let goes_on = decision.fault.effect.may_go_on();
        let absorbed = match self.absorb(goes_on.then_some(link.limits.withheld_bytes)).await {
            Ok(Some(absorbed)) => absorbed,
            Ok(None) => {
                let why = format!("a body of more than {} bytes cannot be withheld", link.limits.withheld_bytes);
                return self.ending(Aftermath::Nothing).refuse(413, &why).await;
            }
            Err(()) => {
                let gone = self.client.gone().await;
                return self.ending(Aftermath::Nothing).gone(gone).await;
            }
        };
        let who = self.draft.at_gate();
        let work = strike(decision, &mut self.draft.fault, link.clock, who);
        match self.client.unless_gone(work).await {
            Ok(Onward::GoOn | Onward::Change(_)) => self.forward(None, Some(absorbed)).await,
            Ok(Onward::End(terminal)) => self.ending(Aftermath::Nothing).by_fault(terminal).await,
            Err(gone) => self.ending(Aftermath::Nothing).gone(gone).await,
        }
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
        let is_over = match &absorbed {
            Some(absorbed) => absorbed.pieces.is_empty() && absorbed.trailers.is_none(),
            None => self.draft.intake.whole.is_some(),
        };
        let (response, mut up) = match line.sender.send_request(self.onward(), is_over) {
            Ok(both) => both,
            Err(e) => {
                let Failure { why, scope } = Failure::from(e);
                return self.upstream_failed(why, scope).await;
            }
        };
        let mut answer = Answer::new(link.clock, response);
        let sent = SetOnce::new();
        let mut kept = Vec::<Bytes>::new();
        let who = self.draft.at_gate();
        let draft = &mut self.draft;
        let there = There {
            clock: link.clock,
            body: &mut self.body,
            sender: &mut line.sender,
            up: &mut up,
            intake: &mut draft.intake,
            sent: &sent,
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
            sent: &sent,
            continued: self.continued,
            kept: &mut kept,
        };
        let outcome = tokio::select! {
            biased;
            outcome = back.run() => Some(outcome),
            () = there.run(absorbed, is_over) => None,
        };
        self.draft.upstream.sent = sent.get().copied().flatten();
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => Outcome::Gone(self.client.gone().await),
        };
        match outcome {
            Outcome::Replied => {
                let at = self.draft.reply.last_byte.unwrap_or_else(|| link.clock.now());
                self.draft.reply.ended(End::Replied, at);
            }
            Outcome::Fault(terminal) => self.ending(Aftermath::owed(up, answer, kept)).by_fault(terminal).await,
            Outcome::Gone(gone) => self.ending(Aftermath::owed(up, answer, kept)).gone(gone).await,
            Outcome::Failed(Failure { why, scope }) => {
                drop((up, answer));
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

    /// The request as it goes on.
    fn onward(&self) -> http::Request<()> {
        let mut request = http::Request::new(());
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = self.parts.uri.clone();
        // A request without an authority is written as one that came over HTTP/1.1; there is no other way to send it.
        let is_complete = self.parts.uri.authority().is_some();
        *request.version_mut() = if is_complete { http::Version::HTTP_2 } else { http::Version::HTTP_11 };
        request.headers_mut().clone_from(&self.parts.headers);
        request
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

/// The size of a header list as HTTP/2 counts it: 32 bytes more for each field.
fn list_bytes(fields: &[(String, String)]) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len() + 32).sum()
}

/// What the framing layer calls a code.
pub(super) fn reason(code: crate::rules::Http2Code) -> Reason {
    Reason::from(code.0)
}
