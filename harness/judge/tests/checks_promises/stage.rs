//! The recorders of a scenario, on a clock that the simulated service moves.

use std::collections::HashMap;

use judge::evidence::{
    Answer, At, Attempt, BankEntry, BankEntryKind, ClientReply, Evidence, LedgerReading, LedgerRow, Outcome, Reply,
    SpanId, TraceContext, TraceId, Upstream,
};

use crate::support::{MS, attempt, evidence, outcome, reply, struck, trace, window};

pub struct Stage {
    pub evidence: Evidence,
    pub now: u64,
    pub rows: Vec<LedgerRow>,
    charged: HashMap<String, String>,
    ids: u64,
}

/// What a client gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Got {
    pub status: u16,
    pub body: String,
    pub marked: bool,
    pub degraded: bool,
    pub age: Option<String>,
    pub word: Option<String>,
}

impl Got {
    pub fn new(status: u16, body: &str) -> Self {
        Self { status, body: body.to_owned(), marked: false, degraded: false, age: None, word: None }
    }

    pub fn replayed(mut self) -> Self {
        self.marked = true;
        self
    }
}

/// What a client asks.
#[derive(Debug, Clone)]
pub struct Ask {
    pub key: String,
    pub caller: Option<&'static str>,
    /// The further route; `None`: the payment's own.
    pub route: Option<&'static str>,
    pub amount: i64,
    /// The bytes of the body.
    pub payload: String,
}

impl Ask {
    pub fn new(key: &str, amount: i64) -> Self {
        Self { key: key.to_owned(), caller: None, route: None, amount, payload: format!("bytes-{amount}") }
    }

    pub fn caller(mut self, caller: &'static str) -> Self {
        self.caller = Some(caller);
        self
    }

    pub fn route(mut self, route: &'static str) -> Self {
        self.route = Some(route);
        self
    }

    pub fn amount(mut self, amount: i64) -> Self {
        self.amount = amount;
        self.payload = format!("bytes-{amount}");
        self
    }

    pub fn respelt(mut self) -> Self {
        self.payload += " ";
        self
    }
}

impl Stage {
    pub fn new(scenario: &str) -> Self {
        let evidence = evidence(scenario);
        Self { evidence, now: MS, rows: Vec::new(), charged: HashMap::new(), ids: 0 }
    }

    pub fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    pub fn trace(&mut self) -> TraceId {
        trace(self.id())
    }

    /// One call to the dependency, answered by the proxy with that status, or by the bank.
    pub fn call(&mut self, trace: TraceId, key: &str, amount: i64, fault: Option<u16>) -> bool {
        let (at, parent) = (self.now, SpanId(self.id().to_be_bytes()));
        let context = Some(TraceContext { trace, parent });
        self.now += 3 * MS;
        if fault.is_none() {
            self.bank(at + MS, key, amount, context);
        }
        let status = fault.unwrap_or(201);
        let upstream = if fault.is_none() {
            Upstream { sent: Some(At(at)), status: Some(201), answered: Some(At(at + MS)), ..Upstream::default() }
        } else {
            Upstream::default()
        };
        let ordinal = self.evidence.attempts.iter().filter(|a| a.key.as_deref() == Some(key)).count();
        let attempt = attempt(self.evidence.attempts.len() as u64, (at, self.now), Some(status));
        self.evidence.attempts.push(Attempt {
            key: Some(key.to_owned()),
            ordinal: 1 + u32::try_from(ordinal).expect("few"),
            context,
            upstream,
            reply: Reply { first_byte: Some(At(self.now)), ..attempt.reply.clone() },
            fault: fault.map(|status| struck(&format!("request/reply {status}"))),
            ..attempt
        });
        status < 400
    }

    fn bank(&mut self, at: u64, key: &str, amount: i64, context: Option<TraceContext>) {
        let replayed = self.charged.contains_key(key);
        let id = format!("ch-{}", self.id());
        let charge = self.charged.entry(key.to_owned()).or_insert(id).clone();
        let kinds = [BankEntryKind::Arrival, BankEntryKind::Charge, BankEntryKind::Reply];
        for kind in kinds.into_iter().filter(|k| !(replayed && *k == BankEntryKind::Charge)) {
            self.evidence.bank.push(BankEntry {
                link: None,
                seq: self.evidence.bank.len() as u64,
                at: At(at),
                kind,
                key: Some(key.to_owned()),
                amount: Some(amount),
                charge: Some(charge.clone()),
                status: Some(201),
                replayed,
                context,
            });
        }
    }

    /// What the client saw; `None`: nothing.
    pub fn outcome(&mut self, step: &str, ask: &Ask, trace: TraceId, sent: u64, got: Option<Got>) {
        self.now += MS;
        let problem = |g: &Got| g.status >= 400;
        let answer = match got {
            None => Answer::Failed { error: "connection closed".to_owned() },
            Some(g) => Answer::Reply(ClientReply {
                content_type: Some(
                    if problem(&g) { "application/problem+json" } else { "application/json" }.to_owned(),
                ),
                body_sha256: g.body.clone(),
                excerpt: g.body.clone(),
                marker: g.marked.then(|| "true".to_owned()),
                problem_status: problem(&g).then_some(g.status),
                degraded: g.degraded.then(|| "true".to_owned()),
                age: g.age,
                word: g.word,
                ..reply(g.status)
            }),
        };
        let context = TraceContext { trace, parent: SpanId(self.id().to_be_bytes()) };
        let seq = self.evidence.outcomes.len() as u64;
        self.evidence.outcomes.push(Outcome {
            key: Some(ask.key.clone()),
            caller: ask.caller.map(str::to_owned),
            route: ask.route.map(str::to_owned),
            payload: ask.payload.clone(),
            amount: Some(ask.amount),
            ..outcome(seq, step, context, (sent, self.now), answer)
        });
        self.now += MS;
    }

    pub fn settle(&mut self, key: &str, downstream: &str, amount: i64) {
        let id = format!("pay-{}", self.id());
        self.rows.push(LedgerRow {
            key: Some(key.to_owned()),
            id: Some(id),
            downstream_key: Some(downstream.to_owned()),
            amount: Some(amount),
            status: Some("confirmed".to_owned()),
            settled: true,
        });
    }

    /// Notes a rule that was in force since `from`.
    pub fn fault(&mut self, what: &str, from: u64, planned: u64) {
        let fired = self.evidence.attempts.iter().filter(|a| a.arrived.0 >= from && a.fault.is_some()).count() as u64;
        self.evidence.faults.push(window(what, (from, self.now), planned, fired));
    }

    pub fn finish(mut self) -> Evidence {
        self.evidence.ledger.push(LedgerReading {
            at: At(self.now + MS),
            step: "final".to_owned(),
            source: "simulated".to_owned(),
            rows: self.rows,
        });
        self.evidence
    }
}
