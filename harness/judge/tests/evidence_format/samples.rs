//! One of each record, with everything that it can hold and with nothing that it need not.

use std::collections::BTreeMap;

use judge::evidence::*;

pub fn header() -> Header {
    Header {
        run: "20260102T030405Z-1a2b3c4d".into(),
        scenario: "retry-table".into(),
        service: "payments".into(),
        seed: 7,
        placement: "simulated".into(),
        time: TimeBase { monotonic_ns: 10, wall_ns: 1_000 },
        eps_ns: 60_000_000,
        recorder: "0.1.0".into(),
    }
}

fn context() -> TraceContext {
    TraceContext { trace: TraceId([1; 16]), parent: SpanId([2; 8]) }
}

fn struck(full: bool) -> Struck {
    Struck {
        rule: "r1".into(),
        what: "response/reset".into(),
        delay_requested_ns: full.then_some(5),
        delay_injected_ns: full.then_some(6),
        held: full.then_some(At(7)),
        released: full.then_some(At(8)),
        epoch: 1,
    }
}

fn upstream() -> Upstream {
    let error = Some("closed early".to_owned());
    let copy = Delivery { sent: Some(At(5)), status: Some(201), answered: Some(At(6)), error: error.clone() };
    Upstream {
        sent: Some(At(4)),
        status: Some(201),
        grpc_status: Some(14),
        answered: Some(At(5)),
        error,
        copies: vec![copy],
    }
}

fn attempt(full: bool) -> Attempt {
    Attempt {
        seq: 0,
        link: "bank".into(),
        conn: 1,
        key: full.then(|| "key-1".into()),
        ordinal: 1,
        context: full.then(context),
        method: "POST".into(),
        path: "/charges".into(),
        body: Body { bytes: 9, declared: full.then_some(9), sha256: full.then(|| "ab".repeat(32)) },
        arrived: At(1),
        head: At(2),
        received: full.then_some(At(3)),
        upstream: if full { upstream() } else { Upstream::default() },
        reply: Reply {
            end: End::Reset,
            status: full.then_some(503),
            retry_after: full.then(|| "1".into()),
            grpc_status: full.then_some(14),
            first_byte: full.then_some(At(6)),
            ended: At(9),
        },
        fault: full.then(|| struck(true)),
        scope: full.then(|| "s1".into()),
    }
}

fn connection(full: bool) -> Connection {
    Connection {
        link: "bank".into(),
        conn: 1,
        accepted: At(1),
        closed: At(2),
        requests: 0,
        bytes_in: 0,
        bytes_out: 0,
        end: ConnectionEnd::ResetByFault,
        fault: full.then(|| struck(true)),
    }
}

fn outcome(full: bool, answer: Answer) -> Outcome {
    Outcome {
        seq: 0,
        step: "case/lost".into(),
        key: full.then(|| "key-1".into()),
        context: context(),
        payload: "cd".repeat(32),
        amount: full.then_some(-5),
        sent: At(1),
        ended: At(9),
        answer,
        route: full.then(|| "confirm".into()),
        replica: full.then_some(2),
        caller: full.then(|| "shop-2".into()),
    }
}

fn reply(full: bool) -> ClientReply {
    let text = |t: &str| full.then(|| t.to_owned());
    ClientReply {
        status: 503,
        content_type: text("application/problem+json"),
        body_sha256: "ef".repeat(32),
        excerpt: "{}".into(),
        marker: text("true"),
        retry_after: text("1"),
        problem_status: full.then_some(503),
        problem_type: text("about:blank"),
        degraded: text("stale"),
        age: text("12"),
        word: text("confirmed"),
    }
}

fn row(full: bool) -> LedgerRow {
    let text = |t: &str| full.then(|| t.to_owned());
    LedgerRow {
        key: text("key-1"),
        id: text("1"),
        downstream_key: text("bank-key-1"),
        amount: full.then_some(5),
        status: text("confirmed"),
        settled: true,
    }
}

fn bank(full: bool) -> BankEntry {
    let text = |t: &str| full.then(|| t.to_owned());
    BankEntry {
        seq: 0,
        link: text("bank"),
        at: At(4),
        kind: BankEntryKind::Charge,
        key: text("bank-key-1"),
        amount: full.then_some(5),
        charge: text("ch-1"),
        status: full.then_some(201),
        replayed: false,
        context: full.then(context),
    }
}

fn span(full: bool) -> Span {
    let attributes = || BTreeMap::from([("http.request.method".to_owned(), serde_json::Value::from("POST"))]);
    let event = SpanEvent { at: At(2), name: "retry".into(), attributes: attributes() };
    Span {
        trace: TraceId([1; 16]),
        span: SpanId([2; 8]),
        parent: full.then_some(SpanId([3; 8])),
        service: "payments".into(),
        name: "POST".into(),
        kind: SpanKind::Client,
        start: At(1),
        end: At(9),
        error: true,
        attributes: if full { attributes() } else { BTreeMap::new() },
        events: if full { vec![event] } else { Vec::new() },
    }
}

fn edge(full: bool) -> FaultEdge {
    FaultEdge {
        at: At(1),
        change: EdgeChange::Disarmed,
        kind: FaultKind::Rule,
        rule: "r1".into(),
        link: "*".into(),
        what: "response/reset".into(),
        epoch: 2,
        scope: full.then(|| "s1".into()),
        since: full.then_some(At(0)),
        fired: full.then_some(3),
    }
}

fn canary(full: bool) -> Canary {
    Canary { process: full.then(|| "payments".into()), samples: 100, max_ns: 9, p99_ns: 5, worst_at: At(4) }
}

/// Every kind of record: with everything it can hold, or only with what it must.
pub fn records(full: bool) -> Vec<Record> {
    let link = || "bank".to_owned();
    let mut all = vec![
        Record::Step(Step { name: "case/lost".into(), from: At(0), to: At(10), planned: 1 }),
        Record::Attempt(attempt(full)),
        Record::Connection(connection(full)),
        Record::Outcome(outcome(full, Answer::Reply(reply(full)))),
        Record::Ledger(LedgerReading {
            at: At(11),
            step: "final".into(),
            source: "sqlite".into(),
            rows: vec![row(full)],
        }),
        Record::Bank(bank(full)),
        Record::Span(span(full)),
        Record::Breaker(BreakerReading {
            at: At(3),
            source: "actuator".into(),
            name: link(),
            state: BreakerState::HalfOpen,
            not_permitted: full.then_some(2),
            from: full.then_some(BreakerState::Open),
        }),
        Record::Fault(FaultWindow {
            rule: "r1".into(),
            link: link(),
            what: "response/reset".into(),
            applied: At(0),
            healed: At(10),
            planned: 1,
            fired: 1,
        }),
        Record::Edge(edge(full)),
        Record::Canary(canary(full)),
        Record::Disk(Disk { writes: 50, max_ns: 8 }),
        Record::Note(Note { at: At(5), weight: NoteWeight::Info, code: "stragglers".into(), text: "one".into() }),
    ];
    if full {
        all.push(Record::Outcome(outcome(true, Answer::Failed { error: "reset".into() })));
        all.push(Record::Outcome(outcome(true, Answer::TimedOut)));
        all.push(Record::Outcome(outcome(true, Answer::Left)));
    }
    all
}
