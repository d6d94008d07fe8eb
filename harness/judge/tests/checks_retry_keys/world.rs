//! The stage: proxy, bank, ledger, collector and load driver as recorders of evidence, on a clock that the service moves.

use std::collections::{BTreeMap, HashMap};

use judge::evidence::{
    Answer, At, Attempt, BankEntry, BankEntryKind, Body, ClientReply, End, Evidence, LedgerReading, LedgerRow, Outcome,
    Reply, Span, SpanId, SpanKind, Step, Struck, TraceContext, TraceId, Upstream,
};

use crate::support::{MS, attempt, evidence, outcome, refused, reply, struck, trace, window};

/// What the proxy does to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Status(u16),
    Refuse,
    Reset,
    Cut,
    Hang,
    Lost,
    /// Held at a gate until released, then passed on.
    Hold,
}

impl Fault {
    fn what(self) -> String {
        match self {
            Fault::Status(status) => format!("request/reply {status}"),
            Fault::Refuse => "connect/reset".to_owned(),
            Fault::Reset => "request/reset".to_owned(),
            Fault::Cut => "request/close".to_owned(),
            Fault::Hang => "request/hang".to_owned(),
            Fault::Lost => "response/reset".to_owned(),
            Fault::Hold => "request/hold".to_owned(),
        }
    }
}

/// One attempt as the service makes it.
pub struct Call<'c> {
    pub at: u64,
    pub trace: TraceId,
    pub key: Option<&'c str>,
    pub amount: i64,
    pub body: String,
    pub declared: u64,
}

/// How an attempt ended for the service, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    pub status: Option<u16>,
    pub at: u64,
}

impl Ended {
    pub fn ok(self) -> bool {
        self.status.is_some_and(|s| s < 400)
    }
}

pub struct World {
    pub evidence: Evidence,
    pub now: u64,
    pub rows: Vec<LedgerRow>,
    charged: HashMap<String, String>,
    ordinals: BTreeMap<Option<String>, u32>,
    ids: u64,
}

impl World {
    pub fn new(scenario: &str) -> Self {
        let evidence = evidence(scenario);
        Self { evidence, now: MS, rows: Vec::new(), charged: HashMap::new(), ordinals: BTreeMap::new(), ids: 0 }
    }

    pub fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    pub fn trace(&mut self) -> TraceId {
        trace(self.id())
    }

    fn span(&mut self) -> SpanId {
        SpanId((self.id() | 1 << 60).to_be_bytes())
    }

    /// Runs `body` as one step.
    pub fn step(&mut self, name: &str, planned: u64, body: impl FnOnce(&mut Self)) {
        let from = At(self.now);
        body(self);
        self.now += MS;
        self.evidence.steps.push(Step { name: name.to_owned(), from, to: At(self.now), planned });
    }

    /// Notes a rule that was in force since `from` and struck whatever the proxy recorded since.
    pub fn planned(&mut self, fault: Fault, from: u64, planned: u64) {
        let rule = format!("f{}", self.id());
        let what = fault.what();
        let struck = |f: &Option<Struck>| f.as_ref().is_some_and(|f| f.what == what);
        let attempts = self.evidence.attempts.iter().filter(|a| a.arrived.0 >= from && struck(&a.fault)).count();
        let refused = self.evidence.connections.iter().filter(|c| c.accepted.0 >= from && struck(&c.fault)).count();
        let window = window(&what, (from, self.now + MS), planned, (attempts + refused) as u64);
        self.evidence.faults.push(judge::evidence::FaultWindow { rule, ..window });
    }

    /// One attempt through the proxy. A held one is released 300 ms later.
    pub fn attempt(&mut self, call: &Call<'_>, fault: Option<Fault>) -> Ended {
        let arrived = call.at;
        if fault == Some(Fault::Refuse) {
            self.refuse(arrived);
            return Ended { status: None, at: arrived + MS / 10 };
        }
        let parent = self.span();
        let forwarded = matches!(fault, None | Some(Fault::Lost | Fault::Hold));
        let held = if fault == Some(Fault::Hold) { 300 * MS } else { 0 };
        let upstream = if forwarded { self.bank(call, arrived + held + MS) } else { Upstream::default() };
        let (end, status, took) = match fault {
            None | Some(Fault::Hold) => (End::Replied, upstream.status, held + 3 * MS),
            Some(Fault::Status(status)) => (End::Replied, Some(status), MS),
            Some(Fault::Reset | Fault::Lost) => (End::Reset, None, 3 * MS),
            Some(Fault::Cut) => (End::Cut, None, MS),
            Some(Fault::Hang) => (End::ClientLeft, None, 1000 * MS),
            Some(Fault::Refuse) => unreachable!("refused above"),
        };
        let ended = arrived + took;
        let key = call.key.map(str::to_owned);
        let ordinal = self.ordinals.entry(key.clone()).or_insert(0);
        *ordinal += 1;
        let attempt = attempt(self.evidence.attempts.len() as u64, (arrived, ended), status);
        let gate = (held > 0).then_some((At(arrived), At(arrived + held)));
        self.evidence.attempts.push(Attempt {
            key,
            ordinal: *ordinal,
            context: Some(TraceContext { trace: call.trace, parent }),
            body: Body {
                bytes: call.body.len() as u64,
                declared: Some(call.declared),
                sha256: Some(format!("{:0>64}", call.body)),
            },
            received: Some(At(arrived + 1)),
            upstream,
            reply: Reply { end, first_byte: status.map(|_| At(ended)), ..attempt.reply.clone() },
            fault: fault.map(|f| Struck {
                held: gate.map(|(held, _)| held),
                released: gate.map(|(_, released)| released),
                ..struck(&f.what())
            }),
            ..attempt
        });
        self.client_span(call.trace, parent, (arrived - MS / 2, ended + MS / 2), status);
        Ended { status, at: ended }
    }

    fn refuse(&mut self, at: u64) {
        let conn = 1 + self.evidence.connections.len() as u64;
        self.evidence.connections.push(refused(conn, (at, at), &Fault::Refuse.what()));
    }

    /// The bank: one charge for each of its keys.
    fn bank(&mut self, call: &Call<'_>, at: u64) -> Upstream {
        let parent = self.span();
        let context = Some(TraceContext { trace: call.trace, parent });
        let key = call.key.unwrap_or_default().to_owned();
        let replayed = self.charged.contains_key(&key) && call.key.is_some();
        let id = format!("ch-{}", self.id());
        let charge = if call.key.is_some() { self.charged.entry(key).or_insert(id).clone() } else { id };
        let mut kinds = vec![BankEntryKind::Arrival, BankEntryKind::Reply];
        if !replayed {
            kinds.insert(1, BankEntryKind::Charge);
        }
        for kind in kinds {
            self.evidence.bank.push(BankEntry {
                seq: self.evidence.bank.len() as u64,
                at: At(at),
                kind,
                key: call.key.map(str::to_owned),
                amount: Some(call.amount),
                charge: Some(charge.clone()),
                status: Some(201),
                replayed,
                context,
                link: None,
            });
        }
        Upstream { sent: Some(At(at)), status: Some(201), answered: Some(At(at + MS)), ..Upstream::default() }
    }

    fn client_span(&mut self, trace: TraceId, span: SpanId, (start, end): (u64, u64), status: Option<u16>) {
        let mut attributes = BTreeMap::from([
            ("http.request.method".to_owned(), "POST".into()),
            ("server.address".to_owned(), "127.0.0.1".into()),
            ("server.port".to_owned(), 4000.into()),
        ]);
        attributes.extend(status.map(|s| ("http.response.status_code".to_owned(), s.into())));
        self.evidence.spans.push(Span {
            trace,
            span,
            parent: None,
            service: "payments".to_owned(),
            name: "POST".to_owned(),
            kind: SpanKind::Client,
            start: At(start),
            end: At(end),
            error: status.is_none_or(|s| s >= 400),
            attributes,
            events: Vec::new(),
        });
    }

    /// What the client saw.
    pub fn outcome(&mut self, step: &str, key: Option<&str>, amount: i64, trace: TraceId, sent: u64, got: Got) {
        let context = TraceContext { trace, parent: self.span() };
        let seq = self.evidence.outcomes.len() as u64;
        self.evidence.outcomes.push(Outcome {
            key: key.map(str::to_owned),
            payload: format!("pay-{amount}"),
            amount: Some(amount),
            ..outcome(seq, step, context, (sent, got.at), got.answer)
        });
    }

    /// Reads the ledger for the last time.
    pub fn finish(mut self) -> Evidence {
        self.now += MS;
        let latest = self.evidence.outcomes.iter().map(|o| o.ended.0).max().unwrap_or(0).max(self.now);
        self.evidence.ledger.push(LedgerReading {
            at: At(latest + MS),
            step: "final".to_owned(),
            source: "simulated".to_owned(),
            rows: self.rows,
        });
        self.evidence
    }
}

/// An answer to a client, and when it came.
pub struct Got {
    pub answer: Answer,
    pub at: u64,
}

impl Got {
    pub fn reply(at: u64, status: u16, body: &str, marked: bool) -> Self {
        let problem = status >= 400;
        let media = if problem { "application/problem+json" } else { "application/json" };
        let answer = Answer::Reply(ClientReply {
            content_type: Some(media.to_owned()),
            body_sha256: body.to_owned(),
            excerpt: body.to_owned(),
            marker: marked.then(|| "true".to_owned()),
            problem_status: problem.then_some(status),
            ..reply(status)
        });
        Self { answer, at }
    }

    pub fn broken(at: u64) -> Self {
        Self { answer: Answer::Failed { error: "connection closed".to_owned() }, at }
    }
}
