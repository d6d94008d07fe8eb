//! The record of one attempt while it goes on. It writes itself when it is dropped: exactly once, at the end, and as
//! unfinished when a shutdown or a panic drops it early.

use std::sync::Arc;

use evidence::{At, Attempt, End, Reply, Struck, TraceContext, Upstream};

use tokio::sync::SetOnce;

use super::copies::{Copies, Record};
use super::intake::{Incoming, Intake};
use crate::engine::{Held, InFlight};
use crate::link::Link;
use crate::wire::Span;

/// What the client got so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) status: Option<u16>,
    pub(crate) retry_after: Option<String>,
    pub(crate) grpc_status: Option<u32>,
    pub(crate) first_byte: Option<At>,
    /// The last byte so far.
    pub(crate) last_byte: Option<At>,
    /// Rules that count it as in flight until it is over for the client.
    pub(super) watched: Vec<InFlight>,
    end: Option<(End, At)>,
}

impl Progress {
    /// Says how the exchange ended for the client. The first word counts.
    pub(crate) fn ended(&mut self, end: End, at: At) {
        self.end.get_or_insert((end, at));
        self.watched.clear();
    }

    /// Notes that bytes of the reply were handed to the kernel.
    pub(crate) fn wrote(&mut self, span: Span) {
        self.first_byte.get_or_insert(span.first);
        self.last_byte = Some(span.last);
    }
}

/// One attempt.
#[derive(Debug)]
pub(crate) struct Draft {
    link: Arc<Link>,
    conn: u64,
    live: Option<u64>,
    pub(crate) key: Option<String>,
    pub(crate) ordinal: u32,
    pub(crate) context: Option<TraceContext>,
    method: String,
    path: String,
    arrived: At,
    head: At,
    pub(crate) intake: Intake,
    pub(crate) upstream: Upstream,
    /// When the request had been sent whole; `None` in it when it cannot be. Here, so that it is on record also when the
    /// exchange is dropped in its middle.
    pub(crate) sent: SetOnce<Option<At>>,
    pub(crate) reply: Progress,
    pub(crate) fault: Option<Struck>,
    /// The scope that it belongs to.
    pub(super) scope: Option<Arc<str>>,
    /// Further deliveries of the request; the record waits for them.
    pub(crate) copies: Option<Arc<Copies>>,
}

impl Draft {
    /// An attempt whose head came. Its ordinal is taken here.
    pub(crate) fn new(link: &Arc<Link>, conn: u64, incoming: &Incoming) -> Self {
        let head = &incoming.head;
        let key = link.key_header.as_deref().and_then(|name| head.field(name)).map(str::to_owned);
        let mut draft = Self::unreadable(link, conn, incoming.arrived, incoming.head_at);
        draft.ordinal = link.ordinal(key.as_deref());
        draft.key = key;
        draft.context = head.field("traceparent").and_then(TraceContext::from_traceparent);
        draft.method = head.method.clone();
        draft.path = head.target.clone();
        draft.intake = Intake::new(head.framing, incoming.head_at);
        draft
    }

    /// An attempt whose head never came, or cannot be read. It has no ordinal.
    pub(crate) fn unreadable(link: &Arc<Link>, conn: u64, arrived: At, head: At) -> Self {
        Self {
            link: Arc::clone(link),
            conn,
            live: None,
            key: None,
            ordinal: 0,
            context: None,
            method: String::new(),
            path: String::new(),
            arrived,
            head,
            intake: Intake::unreadable(),
            upstream: Upstream::default(),
            sent: SetOnce::new(),
            reply: Progress::default(),
            fault: None,
            copies: None,
            scope: None,
        }
    }

    /// Shows it among the live attempts until it is recorded.
    pub(crate) fn enter(&mut self, rule: Option<String>) {
        self.live = Some(self.link.live.enter(crate::live::LiveAttempt {
            conn: self.conn,
            key: self.key.clone(),
            ordinal: self.ordinal,
            method: self.method.clone(),
            path: self.path.clone(),
            arrived: self.arrived,
            rule,
        }));
    }

    /// How it shows at a gate.
    pub(crate) fn at_gate(&self) -> Held {
        Held {
            link: self.link.name.clone(),
            conn: self.conn,
            key: self.key.clone(),
            ordinal: self.ordinal,
            method: self.method.clone(),
            path: self.path.clone(),
            since: self.link.clock.now(),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.upstream.sent = self.sent.get().copied().flatten();
        let (end, ended) = self.reply.end.unwrap_or_else(|| (End::Unfinished, self.link.clock.now()));
        let attempt = Attempt {
            seq: 0,
            link: self.link.name.clone(),
            conn: self.conn,
            key: self.key.take(),
            ordinal: self.ordinal,
            context: self.context,
            method: std::mem::take(&mut self.method),
            path: std::mem::take(&mut self.path),
            body: self.intake.seal(),
            arrived: self.arrived,
            head: self.head,
            received: self.intake.whole,
            upstream: std::mem::take(&mut self.upstream),
            reply: Reply {
                end,
                status: self.reply.status,
                retry_after: self.reply.retry_after.take(),
                grpc_status: self.reply.grpc_status,
                first_byte: self.reply.first_byte,
                ended,
            },
            fault: self.fault.take(),
            scope: self.scope.as_deref().map(str::to_owned),
        };
        let record = Record { attempt, link: Arc::clone(&self.link), live: self.live };
        match self.copies.take() {
            Some(copies) => copies.leave(record),
            None => record.write(),
        }
    }
}
