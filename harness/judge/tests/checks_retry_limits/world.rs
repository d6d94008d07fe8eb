//! The stage: proxy, collector and load driver as recorders of evidence.

use std::collections::BTreeMap;

use judge::evidence::{
    Answer, At, Attempt, Body, Canary, ClientReply, Connection, ConnectionEnd, End, Evidence, Header, Outcome, Reply,
    Span, SpanId, SpanKind, Step, Struck, TimeBase, TraceContext, TraceId, Upstream,
};

pub const MS: u64 = 1_000_000;
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
        let header = Header {
            run: "r".to_owned(),
            scenario: scenario.to_owned(),
            service: "payments".to_owned(),
            seed: 1,
            placement: "simulated".to_owned(),
            time: TimeBase { monotonic_ns: 0, wall_ns: WALL },
            eps_ns: 60 * MS,
            recorder: "0".to_owned(),
        };
        let mut evidence = Evidence::new(header);
        evidence.canary.push(Canary { samples: 400, max_ns: 3 * MS, p99_ns: MS, worst_at: At(MS) });
        evidence.sealed = true;
        Self { evidence, misreport: BTreeMap::new(), ids: 0 }
    }

    fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    pub fn pay(&mut self, sent: u64) -> Payment {
        let number = self.id();
        let mut bytes = [1; 16];
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        Payment { sent, number, trace: TraceId(bytes) }
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
        self.evidence.attempts.push(Attempt {
            seq: self.evidence.attempts.len() as u64,
            link: "bank".to_owned(),
            conn: 1,
            key: Some(key(p)),
            ordinal: rank as u32 + 1,
            context: Some(TraceContext { trace: p.trace, parent: span }),
            method: "POST".to_owned(),
            path: "/charges".to_owned(),
            body: Body::default(),
            arrived: At(at),
            head: At(at),
            received: Some(At(at + 1)),
            upstream: Upstream {
                sent: forwarded.then_some(At(at + MS)),
                status: forwarded.then_some(201),
                ..Upstream::default()
            },
            reply: Reply { end, status, retry_after: told, grpc_status: None, first_byte: None, ended: At(ended) },
            fault: what.map(struck),
            scope: None,
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
        self.evidence.connections.push(Connection {
            link: "bank".to_owned(),
            conn: 100 + self.evidence.connections.len() as u64,
            accepted: At(at),
            closed: At(at),
            requests: 0,
            bytes_in: 0,
            bytes_out: 0,
            end: ConnectionEnd::ResetByFault,
            fault: Some(struck("connect/reset".to_owned())),
        });
    }

    /// What the client saw; a status is a whole reply.
    pub fn answer(&mut self, p: Payment, step: &str, at: u64, answer: Answer) {
        let parent = SpanId((self.id() | 1 << 59).to_be_bytes());
        self.evidence.outcomes.push(Outcome {
            seq: self.evidence.outcomes.len() as u64,
            step: step.to_owned(),
            key: Some(key(p)),
            caller: None,
            context: TraceContext { trace: p.trace, parent },
            payload: "pay".to_owned(),
            amount: Some(100),
            sent: At(p.sent),
            ended: At(at),
            answer,
            route: None,
            replica: None,
        });
        self.step(step, p.sent, at);
    }
}

pub fn reply(status: u16) -> Answer {
    Answer::Reply(ClientReply {
        status,
        content_type: None,
        body_sha256: "body".to_owned(),
        excerpt: "body".to_owned(),
        marker: None,
        retry_after: None,
        problem_status: None,
        problem_type: None,
        degraded: None,
        age: None,
        word: None,
    })
}

fn key(p: Payment) -> String {
    format!("key-{}", p.number)
}

fn struck(what: String) -> Struck {
    Struck {
        rule: "f1".to_owned(),
        what,
        delay_requested_ns: None,
        delay_injected_ns: None,
        held: None,
        released: None,
        epoch: 1,
    }
}
