//! Records as every stage writes them down. A stage fills in what its scenario is about; what no promise of it reads is
//! filled in here, once for all stages.

use judge::evidence::{
    Answer, At, Attempt, Body, Canary, ClientReply, Connection, ConnectionEnd, End, Evidence, FaultWindow, Header,
    Outcome, Reply, Struck, TimeBase, TraceContext, TraceId, Upstream,
};

/// One millisecond on the axis of the run.
pub const MS: u64 = 1_000_000;
/// The link to the dependency.
pub const LINK: &str = "bank";

/// Sealed evidence of nothing yet, of a quiet machine.
pub fn evidence(scenario: &str) -> Evidence {
    let mut evidence = Evidence::new(Header {
        run: "r".to_owned(),
        scenario: scenario.to_owned(),
        service: "payments".to_owned(),
        seed: 1,
        placement: "simulated".to_owned(),
        time: TimeBase { monotonic_ns: 0, wall_ns: 0 },
        eps_ns: 60 * MS,
        recorder: "0".to_owned(),
    });
    evidence.canary.push(Canary { process: None, samples: 400, max_ns: 3 * MS, p99_ns: MS, worst_at: At(MS) });
    evidence.sealed = true;
    evidence
}

/// A service that waited so long for a processor, beside a harness that was served in time.
pub fn waited(ms: u64) -> Canary {
    let process = Some("payments".to_owned());
    Canary { process, samples: 400, max_ns: ms * MS, p99_ns: ms * MS / 2, worst_at: At(MS) }
}

/// An attempt of nobody, read whole and answered whole by that status; `None`: by nothing.
pub fn attempt(seq: u64, (arrived, ended): (u64, u64), status: Option<u16>) -> Attempt {
    let reply =
        Reply { end: End::Replied, status, retry_after: None, grpc_status: None, first_byte: None, ended: At(ended) };
    Attempt {
        seq,
        link: LINK.to_owned(),
        conn: 1,
        key: None,
        ordinal: 1,
        context: None,
        method: "POST".to_owned(),
        path: "/charges".to_owned(),
        body: Body::default(),
        arrived: At(arrived),
        head: At(arrived),
        received: Some(At(arrived)),
        upstream: Upstream::default(),
        reply,
        fault: None,
        scope: None,
    }
}

/// What a client got for a payment of 100 without a key.
pub fn outcome(seq: u64, step: &str, context: TraceContext, (sent, ended): (u64, u64), answer: Answer) -> Outcome {
    Outcome {
        seq,
        step: step.to_owned(),
        key: None,
        caller: None,
        context,
        payload: "pay".to_owned(),
        amount: Some(100),
        sent: At(sent),
        ended: At(ended),
        answer,
        route: None,
        replica: None,
    }
}

/// A whole answer that says nothing but its status.
pub fn reply(status: u16) -> ClientReply {
    ClientReply {
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
    }
}

/// A fault that struck, without a delay or a gate.
pub fn struck(what: &str) -> Struck {
    Struck {
        rule: "f".to_owned(),
        what: what.to_owned(),
        delay_requested_ns: None,
        delay_injected_ns: None,
        held: None,
        released: None,
        epoch: 1,
    }
}

/// A connection that a fault reset before any request was read.
pub fn refused(conn: u64, (accepted, closed): (u64, u64), what: &str) -> Connection {
    Connection {
        link: LINK.to_owned(),
        conn,
        accepted: At(accepted),
        closed: At(closed),
        requests: 0,
        bytes_in: 0,
        bytes_out: 0,
        end: ConnectionEnd::ResetByFault,
        fault: Some(struck(what)),
    }
}

/// A fault that was in force between those moments.
pub fn window(what: &str, (applied, healed): (u64, u64), planned: u64, fired: u64) -> FaultWindow {
    FaultWindow {
        rule: "f".to_owned(),
        link: LINK.to_owned(),
        what: what.to_owned(),
        applied: At(applied),
        healed: At(healed),
        planned,
        fired,
    }
}

/// The trace of that number, never zero.
pub fn trace(n: u64) -> TraceId {
    let mut bytes = [1; 16];
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    TraceId(bytes)
}
