//! How exchanges end: for the client at once, and for the upstream's answer perhaps later.

use std::future::pending;
use std::sync::Arc;

use bytes::Bytes;
use evidence::{At, End};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::answer::{Answer, Scope};
use super::client::{ClientSide, Gone};
use super::connection::Shared;
use super::door::Order;
use super::fields::fields_of;
use super::grpc::{grpc_fields, status_fields, status_of};
use super::stream::reason;
use crate::http::draft::Draft;
use crate::rules::{GrpcStatus, Http2Code};
use crate::strike::Terminal;
use crate::wire::Span;

/// What the upstream still owes when the exchange is over for the client.
#[derive(Debug)]
pub(super) enum Aftermath {
    /// Nothing: it was not asked, or its answer is on record.
    Nothing,
    /// Perhaps an answer. Dropping it before takes the request back.
    Owed(Box<Owed>),
}

#[derive(Debug)]
pub(super) struct Owed {
    up: SendStream<Bytes>,
    pub(super) answer: Answer,
    pub(super) kept: Vec<Bytes>,
}

impl Aftermath {
    pub(super) fn owed(up: SendStream<Bytes>, answer: Answer, kept: Vec<Bytes>) -> Self {
        Self::Owed(Box::new(Owed { up, answer, kept }))
    }
}

/// One exchange at its end.
pub(super) struct Ending {
    pub(super) shared: Arc<Shared>,
    pub(super) client: ClientSide,
    pub(super) draft: Draft,
    pub(super) aftermath: Aftermath,
    pub(super) is_head: bool,
    /// Kept so that the client's stream is not reset before the exchange is over.
    pub(super) body: RecvStream,
}

impl Ending {
    /// Carries out what ends an exchange.
    pub(super) async fn by_fault(mut self, terminal: Terminal) {
        match terminal {
            Terminal::Reset => self.reset(Reason::INTERNAL_ERROR).await,
            Terminal::RstStream(code) => self.reset(reason(code)).await,
            Terminal::Close => self.cut(Order::cut()).await,
            Terminal::Malformed { kind, noise } => {
                let last = match self.spoil(kind, noise).await {
                    Ok(last) => last,
                    Err(gone) => {
                        self.told(Err(gone));
                        return self.follow().await;
                    }
                };
                self.cut(last).await;
            }
            Terminal::GoAway { code, last_stream } => self.cut(Order::goaway(code, last_stream)).await,
            Terminal::Hang => return self.hang().await,
            Terminal::Reply { status, headers, body } => {
                let fields = fields_of(headers.into_iter());
                let told = self.reply(status, fields, Bytes::from(body)).await;
                self.told(told);
            }
            Terminal::GrpcStatus(status) => {
                let told = self.grpc(&status).await;
                self.told(told);
            }
        }
        self.follow().await;
    }

    /// The client is gone. Its reset is passed on; the end of its connection is not, as on HTTP/1.1.
    pub(super) async fn gone(mut self, gone: Gone) {
        match gone {
            Gone::Reset(at, code) => {
                self.draft.reply.ended(End::ClientLeft, at);
                if let Aftermath::Owed(mut owed) = std::mem::replace(&mut self.aftermath, Aftermath::Nothing)
                    && !owed.answer.is_whole()
                {
                    owed.up.send_reset(code);
                    let why = format!("the client's RST_STREAM ({}) was passed on", Http2Code(code.into()));
                    self.draft.upstream.error.get_or_insert(why);
                }
            }
            Gone::Connection(_) => {
                self.told(Err(gone));
                self.follow().await;
            }
        }
    }

    /// The upstream failed: passed on as the same kind of end.
    pub(super) async fn upstream_failed(mut self, why: String, scope: Scope) {
        self.draft.upstream.error = Some(why.clone());
        match scope {
            Scope::Stream(code) => {
                if let Some(at) = self.client.reset(code).await {
                    self.draft.reply.ended(End::UpstreamFailed, at);
                } else {
                    self.met_fate().await;
                }
            }
            Scope::Connection { is_reset, goaway } => {
                let goaway = goaway.map(|code| Http2Code(code.into()));
                self.cut(Order::upstream_gone(&why, is_reset, goaway)).await;
            }
        }
    }

    /// Answers something that the proxy does not pass on.
    pub(super) async fn refuse(mut self, status: u16, why: &str) {
        let link = &self.shared.link;
        let text = format!("link `{}`: answered {status}: {why}", link.name);
        link.log.remark(link.clock.now(), "malformed-request", text);
        let fields =
            HeaderMap::from_iter([(http::header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))]);
        match self.reply(status, fields, Bytes::from(format!("chaos-proxy: {why}\n"))).await {
            Ok(at) => self.draft.reply.ended(End::Malformed, at),
            told => self.told(told),
        }
    }

    async fn reset(&mut self, code: Reason) {
        match self.client.reset(code).await {
            Some(at) => self.draft.reply.ended(End::Reset, at),
            None => self.met_fate().await,
        }
    }

    async fn cut(&mut self, order: Order) {
        let fate = self.shared.door.end(order).await;
        self.told(Err(Gone::Connection(fate)));
    }

    async fn met_fate(&mut self) {
        let fate = self.shared.door.fate.wait().await.clone();
        self.told(Err(Gone::Connection(fate)));
    }

    /// Notes how it ended for the client.
    fn told(&mut self, told: Result<At, Gone>) {
        match told {
            Ok(at) => self.draft.reply.ended(End::Replied, at),
            Err(Gone::Reset(at, _)) => self.draft.reply.ended(End::ClientLeft, at),
            Err(Gone::Connection(fate)) => {
                self.draft.reply.ended(fate.end, fate.at);
                if let Some(why) = fate.why {
                    self.draft.upstream.error.get_or_insert_with(|| format!("another stream's: {why}"));
                }
            }
        }
    }

    /// Sends a reply of the proxy's own.
    async fn reply(&mut self, status: u16, mut fields: HeaderMap, body: Bytes) -> Result<At, Gone> {
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.draft.reply.retry_after =
            fields.get("retry-after").map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned());
        self.draft.reply.grpc_status = status_of(&fields);
        if !matches!(status, 204 | 304) && !fields.contains_key("grpc-status") {
            fields.insert(http::header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        let ends = body.is_empty() || self.is_head;
        let mut head = Response::new(());
        *head.status_mut() = code;
        *head.headers_mut() = fields;
        let span = self.client.head(head, ends).await?;
        self.draft.reply.status = Some(status);
        self.wrote(span);
        if !ends {
            let span = self.client.data(body, true).await?;
            return Ok(self.wrote(span));
        }
        Ok(span.last)
    }

    /// Sends a gRPC status: as trailers behind what the client has, or alone.
    async fn grpc(&mut self, status: &GrpcStatus) -> Result<At, Gone> {
        if status.after_messages
            && let Aftermath::Owed(owed) = &mut self.aftermath
            && let Some(head) = owed.answer.known_head().filter(|head| status_of(&head.fields).is_none())
        {
            let (code, head, kept) = (head.status, head.response(), std::mem::take(&mut owed.kept));
            let span = self.client.head(head, false).await?;
            self.draft.reply.status = Some(code);
            self.wrote(span);
            for piece in kept {
                let span = self.client.data(piece, false).await?;
                self.wrote(span);
            }
        }
        if !self.client.is_speaking() {
            return self.reply(200, fields_of(grpc_fields(status)), Bytes::new()).await;
        }
        let span = self.client.trailers(fields_of(status_fields(status))).await?;
        self.draft.reply.grpc_status = Some(status.code.number());
        Ok(self.wrote(span))
    }

    fn wrote(&mut self, span: Span) -> At {
        self.draft.reply.wrote(span);
        span.last
    }

    /// Says nothing until the client leaves. The answer of the upstream, if one is owed, is read meanwhile.
    async fn hang(mut self) {
        let gone = {
            let reading = async {
                if let Aftermath::Owed(owed) = &mut self.aftermath {
                    await_answer(&self.shared, &mut self.draft, &mut owed.answer).await;
                }
                pending::<()>().await;
            };
            tokio::select! {
                gone = self.client.gone() => gone,
                () = reading => return,
            }
        };
        self.told(Err(gone));
        self.follow().await;
    }

    /// Waits for what the upstream still owes: a network would deliver the request that was sent, so the call goes on, up
    /// to a limit, and what the upstream did is known.
    async fn follow(self) {
        let Self { shared, mut draft, aftermath, client, body, .. } = self;
        // The client's part is over, and its stream with it.
        drop((client, body));
        let Aftermath::Owed(mut owed) = aftermath else { return };
        if owed.answer.is_whole() || draft.upstream.error.is_some() {
            return;
        }
        if draft.upstream.sent.is_none() {
            draft.upstream.error = Some("the exchange ended before the request had been sent whole".to_owned());
            return;
        }
        await_answer(&shared, &mut draft, &mut owed.answer).await;
    }
}

/// Waits for the rest of an answer that nobody gets any more, and puts it on record.
async fn await_answer(shared: &Shared, draft: &mut Draft, answer: &mut Answer) {
    let limit = shared.link.limits.late_answer_time;
    let drained = tokio::time::timeout(limit, answer.drain()).await;
    draft.upstream.status = answer.known_head().map(|h| h.status);
    draft.upstream.answered = draft.upstream.answered.or(answer.whole_at());
    draft.upstream.grpc_status = answer.grpc_status().or(draft.upstream.grpc_status);
    match drained {
        Ok(Ok(())) => {}
        Ok(Err(failure)) => draft.upstream.error = Some(failure.why),
        Err(_) => {
            let why = format!("no whole answer within {limit:?} after the client's part was over");
            draft.upstream.error = Some(why);
        }
    }
}
