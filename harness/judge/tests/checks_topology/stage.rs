//! The stage: proxy and client as recorders of evidence, on a clock that the service moves.

use judge::evidence::{
    Answer, At, Attempt, Body, Canary, ClientReply, Connection, ConnectionEnd, End, Evidence, FaultWindow, Header,
    Outcome, Reply, SpanId, Step, Struck, TimeBase, TraceContext, TraceId, Upstream,
};

pub const MS: u64 = 1_000_000;

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
        let header = Header {
            run: "r".to_owned(),
            scenario: scenario.to_owned(),
            service: service.to_owned(),
            seed: 1,
            placement: "simulated".to_owned(),
            time: TimeBase { monotonic_ns: 0, wall_ns: 0 },
            eps_ns: 60 * MS,
            recorder: "0".to_owned(),
        };
        let mut e = Evidence::new(header);
        e.canary.push(Canary { samples: 400, max_ns: 3 * MS, p99_ns: MS, worst_at: At(MS) });
        e.sealed = true;
        Self { e, now: MS, ids: 0, step: String::new() }
    }

    pub fn trace(&mut self) -> TraceId {
        self.ids += 1;
        let mut bytes = [0; 16];
        bytes[8..].copy_from_slice(&self.ids.to_be_bytes());
        bytes[0] = 1;
        TraceId(bytes)
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
        self.e.outcomes.push(Outcome {
            seq,
            step: self.step.clone(),
            key: ask.route.is_none().then(|| format!("key-{seq}")),
            context: TraceContext { trace: ask.trace, parent: SpanId([7; 8]) },
            payload: "00".to_owned(),
            amount: Some(100),
            sent: At(ask.sent),
            ended: At(ask.ended),
            answer: Answer::Reply(ClientReply {
                status: ask.status,
                content_type: None,
                body_sha256: "00".to_owned(),
                excerpt: String::new(),
                marker: None,
                retry_after: None,
                problem_status: None,
                problem_type: None,
                degraded: ask.degraded.then(|| "cache".to_owned()),
                age: None,
                word: None,
            }),
            route: ask.route.map(str::to_owned),
            replica: None,
            caller: None,
        });
    }

    pub fn hit(&mut self, hit: Hit<'_>) {
        let seq = self.e.attempts.len() as u64;
        let struck = Struck {
            rule: "f".to_owned(),
            what: "request/fault".to_owned(),
            delay_requested_ns: None,
            delay_injected_ns: None,
            held: None,
            released: None,
            epoch: 1,
        };
        self.e.attempts.push(Attempt {
            seq,
            link: hit.link.to_owned(),
            conn: seq,
            key: None,
            ordinal: 1,
            context: hit.trace.map(|trace| TraceContext { trace, parent: SpanId([9; 8]) }),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            body: Body::default(),
            arrived: At(hit.at),
            head: At(hit.at),
            received: Some(At(hit.at)),
            upstream: Upstream::default(),
            reply: Reply {
                end: End::Replied,
                status: Some(hit.status),
                retry_after: None,
                grpc_status: None,
                first_byte: Some(At(hit.ended)),
                ended: At(hit.ended),
            },
            fault: hit.struck.then_some(struck),
            scope: None,
        });
    }

    /// A connection that a fault refused.
    pub fn refuse(&mut self, link: &str) {
        let fault = Struck {
            rule: "f".to_owned(),
            what: "connect/reset".to_owned(),
            delay_requested_ns: None,
            delay_injected_ns: None,
            held: None,
            released: None,
            epoch: 1,
        };
        self.e.connections.push(Connection {
            link: link.to_owned(),
            conn: 9_999,
            accepted: At(self.now),
            closed: At(self.now),
            requests: 0,
            bytes_in: 0,
            bytes_out: 0,
            end: ConnectionEnd::ResetByFault,
            fault: Some(fault),
        });
    }

    /// Notes a fault that was in force.
    pub fn fault(&mut self, link: &str, planned: u64, fired: u64) {
        self.e.faults.push(FaultWindow {
            rule: "f".to_owned(),
            link: link.to_owned(),
            what: "request/reply 503".to_owned(),
            applied: At(0),
            healed: At(self.now),
            planned,
            fired,
        });
    }
}
