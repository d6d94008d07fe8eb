//! The stage: payments, attempts and faults as recorders write them down.

use judge::evidence::{Answer, At, Attempt, Body, Evidence, Outcome, SpanId, TraceContext};

use crate::support::{MS, attempt, outcome, refused, reply, trace, window};

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
    let context = TraceContext { trace: trace(n + 1), parent: SpanId((n + 1).to_be_bytes()) };
    let key = Some(format!("key-{n}"));
    for (i, t) in tries.iter().enumerate() {
        evidence.attempts.push(Attempt {
            key: key.clone(),
            ordinal: i as u32 + 1,
            context: Some(context),
            body: Body { bytes: 2, declared: Some(2), sha256: Some("0".repeat(64)) },
            ..attempt(evidence.attempts.len() as u64, (t.at, t.at + t.took), Some(t.status))
        });
    }
    let status = tries.last().map_or(503, |t| if t.status < 400 { 201 } else { 503 });
    let ended = tries.last().map_or(sent + MS, |t| t.at + t.took + MS);
    let outcome = outcome(n, step, context, (sent, ended), Answer::Reply(reply(status)));
    evidence.outcomes.push(Outcome { key, ..outcome });
}

/// Writes down a connection that a fault refused.
pub fn refuse(evidence: &mut Evidence, at: At) {
    evidence.connections.push(refused(100 + evidence.connections.len() as u64, (at.0, at.0), "connect/reset"));
}

/// Writes a fault down.
pub fn fault(evidence: &mut Evidence, time: (u64, u64), planned: u64, fired: u64) {
    evidence.faults.push(window("request/reply 503", time, planned, fired));
}
