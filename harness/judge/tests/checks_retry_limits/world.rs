//! The stage: proxy, collector and load driver as recorders of evidence.

use std::collections::BTreeMap;

use judge::evidence::{
    Answer, At, Attempt, End, Evidence, Outcome, Reply, Span, SpanId, SpanKind, Step, TraceContext, TraceId, Upstream,
};

use crate::support::{self, MS, attempt, evidence, outcome, refused, struck, trace};

/// The wall clock at the start of every run: 784,111,777 s, RFC 9110's own example of a date.
pub const WALL: u64 = 784_111_777_000_000_000;

/// What an attempt meets.
#[derive(Debug, Clone, PartialEq)]
pub enum Met {
    /// This status, by a fault, one millisecond later.
    Status(u16),
    /// As [`Met::Status`], with a `Retry-After`.
    Told(u16, String),
    /// A success of the dependency, three milliseconds later.
    Success,
    /// Nothing; the service leaves after that many nanoseconds.
    Hang(u64),
}

/// One payment while it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Payment {
    pub sent: u64,
    pub number: u64,
    pub trace: TraceId,
}

#[derive(Debug, Clone)]
pub struct World {
    pub evidence: Evidence,
    /// Attributes of the next attempt's span, in place of those of the convention.
    pub misreport: BTreeMap<String, Option<serde_json::Value>>,
    ids: u64,
}

impl World {
    pub fn new(scenario: &str) -> Self {
        let mut evidence = evidence(scenario);
        evidence.header.time.wall_ns = WALL;
        Self { evidence, misreport: BTreeMap::new(), ids: 0 }
    }

    fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    pub fn pay(&mut self, sent: u64) -> Payment {
        let number = self.id();
        Payment { sent, number, trace: trace(number) }
    }

    pub fn step(&mut self, name: &str, from: u64, to: u64) {
        self.evidence.steps.push(Step { name: name.to_owned(), from: At(from), to: At(to), planned: 1 });
    }

    /// One attempt with a span of its own; returns when it ended.
    pub fn attempt(&mut self, p: Payment, at: u64, rank: usize, met: &Met) -> u64 {
        let span = SpanId((self.id() | 1 << 60).to_be_bytes());
        self.attempt_under(p, at, rank, met, span)
    }

    pub fn attempt_under(&mut self, p: Payment, at: u64, rank: usize, met: &Met, span: SpanId) -> u64 {
        let (took, end, status, told) = match met {
            Met::Status(status) => (MS, End::Replied, Some(*status), None),
            Met::Told(status, text) => (MS, End::Replied, Some(*status), Some(text.clone())),
            Met::Success => (3 * MS, End::Replied, Some(201), None),
            Met::Hang(after) => (*after, End::ClientLeft, None, None),
        };
        let ended = at + took;
        let what = match met {
            Met::Success => None,
            Met::Hang(_) => Some("request/hang".to_owned()),
            Met::Status(s) | Met::Told(s, _) => Some(format!("request/reply {s}")),
        };
        let forwarded = *met == Met::Success;
        let attempt = attempt(self.evidence.attempts.len() as u64, (at, ended), status);
        self.evidence.attempts.push(Attempt {
            key: Some(key(p)),
            ordinal: rank as u32 + 1,
            context: Some(TraceContext { trace: p.trace, parent: span }),
            upstream: Upstream {
                sent: forwarded.then_some(At(at + MS)),
                status: forwarded.then_some(201),
                ..Upstream::default()
            },
            reply: Reply { end, retry_after: told, ..attempt.reply.clone() },
            fault: what.map(|what| struck(&what)),
            ..attempt
        });
        self.span(p, span, rank, (at, ended), status);
        ended
    }

    fn span(&mut self, p: Payment, span: SpanId, rank: usize, (at, ended): (u64, u64), status: Option<u16>) {
        let error = status.is_none_or(|s| s >= 400);
        let mut attributes: BTreeMap<String, serde_json::Value> =
            BTreeMap::from([("http.request.method".to_owned(), "POST".into())]);
        attributes.extend(status.map(|s| ("http.response.status_code".to_owned(), s.into())));
        if error {
            let kind = status.map_or_else(|| "timeout".to_owned(), |s| s.to_string());
            attributes.insert("error.type".to_owned(), kind.into());
        }
        if rank > 0 {
            attributes.insert("http.request.resend_count".to_owned(), rank.into());
        }
        for (name, value) in std::mem::take(&mut self.misreport) {
            match value {
                Some(value) => attributes.insert(name, value),
                None => attributes.remove(&name),
            };
        }
        self.evidence.spans.push(Span {
            trace: p.trace,
            span,
            parent: None,
            service: "payments".to_owned(),
            name: "POST".to_owned(),
            kind: SpanKind::Client,
            start: At(at),
            end: At(ended),
            error,
            attributes,
            events: Vec::new(),
        });
    }

    /// A connection that a fault refused.
    pub fn refuse(&mut self, at: u64) {
        let conn = 100 + self.evidence.connections.len() as u64;
        self.evidence.connections.push(refused(conn, (at, at), "connect/reset"));
    }

    /// What the client saw; a status is a whole reply.
    pub fn answer(&mut self, p: Payment, step: &str, at: u64, answer: Answer) {
        let context = TraceContext { trace: p.trace, parent: SpanId((self.id() | 1 << 59).to_be_bytes()) };
        let seq = self.evidence.outcomes.len() as u64;
        let outcome = outcome(seq, step, context, (p.sent, at), answer);
        self.evidence.outcomes.push(Outcome { key: Some(key(p)), ..outcome });
        self.step(step, p.sent, at);
    }
}

pub fn reply(status: u16) -> Answer {
    Answer::Reply(support::reply(status))
}

fn key(p: Payment) -> String {
    format!("key-{}", p.number)
}
