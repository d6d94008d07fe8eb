//! The stage: proxy and client as recorders of evidence, on a clock that the service moves.

use judge::evidence::{
    Answer, At, Attempt, ClientReply, Connection, Evidence, FaultWindow, Outcome, Reply, SpanId, Step, TraceContext,
    TraceId,
};

use crate::support::{MS, attempt, evidence, outcome, refused, reply, struck, trace, window};

pub struct Stage {
    pub e: Evidence,
    pub now: u64,
    ids: u64,
    step: String,
}

/// Who was asked for what, and what came of it.
pub struct Ask<'a> {
    pub route: Option<&'a str>,
    pub trace: TraceId,
    pub sent: u64,
    pub ended: u64,
    pub status: u16,
    pub degraded: bool,
}

/// One arrival at a proxy.
pub struct Hit<'a> {
    pub link: &'a str,
    pub trace: Option<TraceId>,
    pub at: u64,
    pub ended: u64,
    pub status: u16,
    pub struck: bool,
}

impl Stage {
    pub fn new(scenario: &str, service: &str) -> Self {
        let mut e = evidence(scenario);
        service.clone_into(&mut e.header.service);
        Self { e, now: MS, ids: 0, step: String::new() }
    }

    pub fn trace(&mut self) -> TraceId {
        self.ids += 1;
        trace(self.ids)
    }

    /// Runs `body` as one step.
    pub fn step(&mut self, name: &str, body: impl FnOnce(&mut Self)) {
        let (from, before) = (At(self.now), self.e.outcomes.len());
        self.step = name.to_owned();
        body(self);
        self.now += 5 * MS;
        let planned = (self.e.outcomes.len() - before) as u64;
        self.e.steps.push(Step { name: name.to_owned(), from, to: At(self.now), planned });
        self.now += MS;
    }

    pub fn ask(&mut self, ask: Ask<'_>) {
        let seq = self.e.outcomes.len() as u64;
        let context = TraceContext { trace: ask.trace, parent: SpanId([7; 8]) };
        let degraded = ask.degraded.then(|| "cache".to_owned());
        let answer = Answer::Reply(ClientReply { degraded, ..reply(ask.status) });
        self.e.outcomes.push(Outcome {
            key: ask.route.is_none().then(|| format!("key-{seq}")),
            route: ask.route.map(str::to_owned),
            ..outcome(seq, &self.step, context, (ask.sent, ask.ended), answer)
        });
    }

    pub fn hit(&mut self, hit: Hit<'_>) {
        let seq = self.e.attempts.len() as u64;
        let attempt = attempt(seq, (hit.at, hit.ended), Some(hit.status));
        self.e.attempts.push(Attempt {
            link: hit.link.to_owned(),
            conn: seq,
            context: hit.trace.map(|trace| TraceContext { trace, parent: SpanId([9; 8]) }),
            path: "/".to_owned(),
            reply: Reply { first_byte: Some(At(hit.ended)), ..attempt.reply.clone() },
            fault: hit.struck.then(|| struck("request/fault")),
            ..attempt
        });
    }

    /// A connection that a fault refused.
    pub fn refuse(&mut self, link: &str) {
        let refused = refused(9_999, (self.now, self.now), "connect/reset");
        self.e.connections.push(Connection { link: link.to_owned(), ..refused });
    }

    /// Notes a fault that was in force.
    pub fn fault(&mut self, link: &str, planned: u64, fired: u64) {
        let window = window("request/reply 503", (0, self.now), planned, fired);
        self.e.faults.push(FaultWindow { link: link.to_owned(), ..window });
    }
}
