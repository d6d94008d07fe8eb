//! What has nothing to do with a promise does not change its verdict.

use judge::evidence::{
    At, BreakerReading, BreakerState, Canary, Connection, ConnectionEnd, Disk, EdgeChange, Evidence, FaultEdge,
    FaultKind, FaultWindow, LedgerReading, Note, NoteWeight, SpanKind,
};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clean::end;
use crate::scene::{PLAYED, tries};

const ELSEWHERE: &str = "fraud-check";

/// Adds what a busy rig sees beside the promise: another dependency's traffic under the same keys and traces, the spans of
/// other services, health checks, remarks.
fn crowded(evidence: &Evidence, seed: u64) -> Evidence {
    let (mut e, mut rng) = (evidence.clone(), ChaCha8Rng::seed_from_u64(seed));
    let last = end(evidence).max(1);
    let mut now = || At(rng.random_range(0..=last));
    for attempt in &evidence.attempts {
        let mut other = attempt.clone();
        other.link = ELSEWHERE.to_owned();
        (other.fault, other.reply.status, other.reply.end) = (None, Some(200), judge::evidence::End::Replied);
        e.attempts.push(other);
        let mut ping = attempt.clone();
        (ping.key, ping.context, ping.method) = (None, None, "GET".to_owned());
        (ping.seq, ping.path, ping.fault) = (ping.seq + 9_000_000, "/health".to_owned(), None);
        ping.link = ELSEWHERE.to_owned();
        ping.arrived = now();
        e.attempts.push(ping);
    }
    for span in &evidence.spans {
        let mut other = span.clone();
        (other.kind, other.service) = (SpanKind::Internal, "elsewhere".to_owned());
        other.span.0[7] ^= 0x55;
        e.spans.push(other);
    }
    remarks(&mut e, last, &mut now);
    e
}

/// Adds what is no exchange: connections without a request, faults elsewhere, readings, remarks.
fn remarks(e: &mut Evidence, last: u64, now: &mut impl FnMut() -> At) {
    for (n, link) in [(1, "bank"), (2, ELSEWHERE)] {
        let end = ConnectionEnd::ByClient;
        let (accepted, closed) = (now(), At(last));
        let link = link.to_owned();
        let conn = 9_000_000 + n;
        e.connections.push(Connection {
            link,
            conn,
            accepted,
            closed,
            requests: 0,
            bytes_in: 0,
            bytes_out: 0,
            end,
            fault: None,
        });
    }
    e.faults.push(FaultWindow {
        rule: "elsewhere".to_owned(),
        link: ELSEWHERE.to_owned(),
        what: "request/reply 503".to_owned(),
        applied: At(0),
        healed: At(last),
        planned: 1,
        fired: 3,
    });
    e.edges.push(FaultEdge {
        at: now(),
        change: EdgeChange::Armed,
        kind: FaultKind::Toxic,
        rule: "slow".to_owned(),
        link: ELSEWHERE.to_owned(),
        what: "downstream latency".to_owned(),
        epoch: 1,
        scope: None,
        since: None,
        fired: None,
    });
    let state = BreakerState::Open;
    e.breakers.push(BreakerReading {
        at: now(),
        source: "span".to_owned(),
        name: "bank".to_owned(),
        state,
        not_permitted: None,
        from: None,
    });
    e.canary.push(Canary { process: None, samples: 5, max_ns: 10, p99_ns: 5, worst_at: now() });
    e.disk.push(Disk { writes: 5, max_ns: 10 });
    e.ledger.push(LedgerReading {
        at: At(0),
        step: "before".to_owned(),
        source: "simulated".to_owned(),
        rows: Vec::new(),
    });
    e.notes.push(Note { at: now(), weight: NoteWeight::Info, code: "remark".to_owned(), text: "nothing".to_owned() });
}

fn unmoved(index: usize, seed: u64) -> Result<(), TestCaseError> {
    let (scene, name, evidence) = &PLAYED[index % PLAYED.len()];
    let crowded = crowded(evidence, seed);
    for check in &scene.checks {
        let (alone, beside) = (check.judge(evidence), check.judge(&crowded));
        prop_assert_eq!(alone.ruling, beside.ruling, "{}: {:#?} became {:#?}", name, alone, beside);
    }
    Ok(())
}

/// Proves for every evidence that a crowd of bystanders neither acquits nor accuses.
#[test]
fn bystanders_change_no_ruling() {
    (0..PLAYED.len()).for_each(|index| unmoved(index, 1).expect("the same ruling"));
}

proptest! {
    #![proptest_config(tries(24))]

    /// The same, whenever they come.
    #[test]
    fn bystanders_change_no_ruling_at_any_time(index: usize, seed: u64) {
        unmoved(index, seed)?;
    }
}
