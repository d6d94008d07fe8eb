//! The stage: payments, attempts and faults as recorders write them down.

use judge::evidence::{
    Answer, At, Attempt, Body, Canary, ClientReply, End, Evidence, FaultWindow, Header, Outcome, Reply, SpanId,
    TimeBase, TraceContext, TraceId, Upstream,
};

pub const MS: u64 = 1_000_000;
pub const LINK: &str = "bank";

/// Evidence with a quiet canary.
pub fn evidence(scenario: &str) -> Evidence {
    let header = Header {
        run: "r".to_owned(),
        scenario: scenario.to_owned(),
        service: "payments".to_owned(),
        seed: 1,
        placement: "simulated".to_owned(),
        time: TimeBase { monotonic_ns: 0, wall_ns: 0 },
        eps_ns: 60 * MS,
        recorder: "0".to_owned(),
    };
    let mut evidence = Evidence::new(header);
    evidence.canary.push(Canary { samples: 400, max_ns: 3 * MS, p99_ns: MS, worst_at: At(MS) });
    evidence.sealed = true;
    evidence
}

/// One attempt: when it arrived, how long until its answer, and the answer's status.
#[derive(Debug, Clone, Copy)]
pub struct Try {
    pub at: u64,
    pub took: u64,
    pub status: u16,
}

/// Writes a payment down: its attempts, and what its client got when the last one had ended.
pub fn payment(evidence: &mut Evidence, step: &str, sent: u64, tries: &[Try]) {
    let n = evidence.outcomes.len() as u64;
    let mut id = [0; 16];
    id[8..].copy_from_slice(&(n + 1).to_be_bytes());
    let context = TraceContext { trace: TraceId(id), parent: SpanId((n + 1).to_be_bytes()) };
    let key = Some(format!("key-{n}"));
    for (i, t) in tries.iter().enumerate() {
        let ended = At(t.at + t.took);
        let reply = Reply {
            end: End::Replied,
            status: Some(t.status),
            retry_after: None,
            grpc_status: None,
            first_byte: Some(ended),
            ended,
        };
        evidence.attempts.push(Attempt {
            seq: evidence.attempts.len() as u64,
            link: LINK.to_owned(),
            conn: 1,
            key: key.clone(),
            ordinal: i as u32 + 1,
            context: Some(context),
            method: "POST".to_owned(),
            path: "/charges".to_owned(),
            body: Body { bytes: 2, declared: Some(2), sha256: Some("0".repeat(64)) },
            arrived: At(t.at),
            head: At(t.at),
            received: Some(At(t.at)),
            upstream: Upstream::default(),
            reply,
            fault: None,
            scope: None,
        });
    }
    let status = tries.last().map_or(503, |t| if t.status < 400 { 201 } else { 503 });
    let ended = tries.last().map_or(sent + MS, |t| t.at + t.took + MS);
    let reply = ClientReply {
        status,
        content_type: None,
        body_sha256: String::new(),
        excerpt: String::new(),
        marker: None,
        retry_after: None,
        problem_status: None,
        problem_type: None,
        degraded: None,
        age: None,
        word: None,
    };
    let (step, payload, answer) = (step.to_owned(), String::new(), Answer::Reply(reply));
    let (sent, ended) = (At(sent), At(ended));
    evidence.outcomes.push(Outcome {
        seq: n,
        step,
        key,
        caller: None,
        context,
        payload,
        amount: Some(1),
        sent,
        ended,
        answer,
        route: None,
        replica: None,
    });
}

/// Writes a fault down.
pub fn fault(evidence: &mut Evidence, (from, to): (u64, u64), planned: u64, fired: u64) {
    evidence.faults.push(FaultWindow {
        rule: "f".to_owned(),
        link: LINK.to_owned(),
        what: "request/reply 503".to_owned(),
        applied: At(from),
        healed: At(to),
        planned,
        fired,
    });
}
