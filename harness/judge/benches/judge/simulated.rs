//! Evidence of any size: payments whose every attempt fails, on the waits of a simulated fleet.

use std::collections::BTreeMap;

use judge::evidence::{
    Answer, At, Attempt, Body, Canary, ClientReply, End, Evidence, FaultWindow, Header, LedgerReading, LedgerRow,
    Outcome, Reply, Span, SpanId, SpanKind, Step, Struck, TimeBase, TraceContext, TraceId, Upstream,
};
use judge::sim::{Fleet, Policy};

pub const LINK: &str = "bank";
/// Attempts of each payment.
pub const ATTEMPTS_EACH: usize = 4;

const MS: u64 = 1_000_000;
/// Time between the first attempts of two payments of `waves`.
const APART: u64 = MS;
/// Rows of the ledger at most: a reading is one line of the evidence, and readers refuse lines beyond 8 MiB.
const LEDGER_ROWS: usize = 50_000;
const WHAT: &str = "request/reply 503";

/// At least that many attempts: half of the payments in `waves`, half in `herd`.
pub fn evidence(attempts: usize) -> Evidence {
    let payments = attempts.div_ceil(2 * ATTEMPTS_EACH);
    let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
    let mut evidence = Evidence::new(Header {
        run: "bench".to_owned(),
        scenario: "retry-law".to_owned(),
        service: "payments".to_owned(),
        seed: 1,
        placement: "simulated".to_owned(),
        time,
        eps_ns: 60 * MS,
        recorder: env!("CARGO_PKG_VERSION").to_owned(),
    });
    let waves = stretch(&mut evidence, "waves", payments, APART, MS);
    let end = stretch(&mut evidence, "herd", payments, 0, waves);
    let fired = evidence.attempts.len() as u64;
    evidence.faults.push(FaultWindow {
        rule: "f1".to_owned(),
        link: LINK.to_owned(),
        what: WHAT.to_owned(),
        applied: At(0),
        healed: At(end),
        planned: fired,
        fired,
    });
    evidence.canary.push(Canary { process: None, samples: 400, max_ns: 3 * MS, p99_ns: MS, worst_at: At(MS) });
    let rows = (0..evidence.outcomes.len().min(LEDGER_ROWS)).map(|i| LedgerRow {
        key: Some(key(i)),
        id: Some(format!("p-{i}")),
        downstream_key: None,
        amount: Some(100),
        status: Some("failed".to_owned()),
        settled: false,
    });
    let reading =
        LedgerReading { at: At(end), step: "final".to_owned(), source: "simulated".to_owned(), rows: rows.collect() };
    evidence.ledger.push(reading);
    evidence.sealed = true;
    in_order(&mut evidence);
    evidence
}

/// Puts the records where `Evidence::ordered` wants them, which else would copy them for each row. In place, for the sake of
/// the measured memory.
fn in_order(evidence: &mut Evidence) {
    evidence.attempts.sort_unstable_by_key(|a| (a.arrived, a.seq));
    evidence.outcomes.sort_unstable_by_key(|o| (o.sent, o.seq));
    evidence.spans.sort_unstable_by_key(|s| (s.start, s.trace, s.span));
    evidence.ledger.iter_mut().for_each(|l| l.rows.sort_unstable_by(|a, b| (&a.key, &a.id).cmp(&(&b.key, &b.id))));
    assert!(matches!(evidence.ordered(), std::borrow::Cow::Borrowed(_)), "some list is in another order");
}

fn key(payment: usize) -> String {
    format!("3f0c9a52-{payment:010}")
}

/// One step of payments that start `apart` nanoseconds apart; returns its end.
fn stretch(evidence: &mut Evidence, step: &str, payments: usize, apart: u64, from: u64) -> u64 {
    let fleet = Fleet { cap: 5.0, ..Fleet::new(Policy::Full, payments) }.base(0.2);
    let mut end = from;
    for (i, gaps) in fleet.observe(7).gaps.rows().iter().enumerate() {
        let number = evidence.outcomes.len();
        let sent = from + i as u64 * apart;
        let mut at = sent + MS;
        for attempt in 0..ATTEMPTS_EACH {
            if let Some(gap) = attempt.checked_sub(1).and_then(|k| gaps.get(k)) {
                at += (gap * 1e9) as u64;
            }
            call(evidence, number, attempt, at);
            at += MS;
        }
        evidence.outcomes.push(outcome(step, number, sent, at + MS));
        end = end.max(at + 2 * MS);
    }
    evidence.steps.push(Step { name: step.to_owned(), from: At(from), to: At(end), planned: payments as u64 });
    end
}

fn trace(payment: usize) -> TraceId {
    TraceId((payment as u128 + (1 << 100)).to_be_bytes())
}

/// One attempt and its span.
fn call(evidence: &mut Evidence, payment: usize, attempt: usize, at: u64) {
    let seq = evidence.attempts.len() as u64;
    let parent = SpanId((seq + (1 << 60)).to_be_bytes());
    let body = format!("{payment:064x}");
    evidence.attempts.push(Attempt {
        seq,
        link: LINK.to_owned(),
        conn: 1 + seq % 20,
        key: Some(key(payment)),
        ordinal: attempt as u32 + 1,
        context: Some(TraceContext { trace: trace(payment), parent }),
        method: "POST".to_owned(),
        path: "/charges".to_owned(),
        body: Body { bytes: 80, declared: Some(80), sha256: Some(body) },
        arrived: At(at),
        head: At(at),
        received: Some(At(at + 1)),
        upstream: Upstream::default(),
        reply: Reply {
            end: End::Replied,
            status: Some(503),
            retry_after: None,
            grpc_status: None,
            first_byte: Some(At(at + MS)),
            ended: At(at + MS),
        },
        fault: Some(Struck {
            rule: "f1".to_owned(),
            what: WHAT.to_owned(),
            delay_requested_ns: None,
            delay_injected_ns: None,
            held: None,
            released: None,
            epoch: 1,
        }),
        scope: None,
    });
    evidence.spans.push(Span {
        trace: trace(payment),
        span: parent,
        parent: None,
        service: "payments".to_owned(),
        name: "POST".to_owned(),
        kind: SpanKind::Client,
        start: At(at - MS / 2),
        end: At(at + MS + MS / 2),
        error: true,
        attributes: BTreeMap::from([
            ("http.request.method".to_owned(), "POST".into()),
            ("http.response.status_code".to_owned(), 503.into()),
            ("server.address".to_owned(), "127.0.0.1".into()),
            ("server.port".to_owned(), 4000.into()),
        ]),
        events: Vec::new(),
    });
}

fn outcome(step: &str, payment: usize, sent: u64, ended: u64) -> Outcome {
    Outcome {
        seq: payment as u64,
        step: step.to_owned(),
        key: Some(key(payment)),
        context: TraceContext { trace: trace(payment), parent: SpanId((payment as u64 + (1 << 61)).to_be_bytes()) },
        payload: format!("{payment:064x}"),
        amount: Some(100),
        sent: At(sent),
        ended: At(ended),
        answer: Answer::Reply(ClientReply {
            status: 503,
            content_type: Some("application/problem+json".to_owned()),
            body_sha256: format!("{payment:064x}"),
            excerpt: r#"{"type":"about:blank","title":"bank unavailable","status":503}"#.to_owned(),
            marker: None,
            retry_after: None,
            problem_status: Some(503),
            problem_type: Some("about:blank".to_owned()),
            degraded: None,
            age: None,
            word: None,
        }),
        route: None,
        replica: None,
        caller: None,
    }
}
