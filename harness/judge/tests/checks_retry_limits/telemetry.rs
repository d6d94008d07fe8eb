//! R15 against services that tell of their retries, and services that do not.

use judge::checks::{Check, retry};
use judge::evidence::{At, Evidence, Note, NoteWeight, SpanId};

use crate::support::MS;
use crate::world::{Met, World, reply};
use crate::{fails, is_unclear, passes, unjoined};

fn check() -> Check {
    retry::spans_tell_of_resends("bank")
}

/// Three attempts that fail by status and by time-out and then succeed, for each of five payments. `tell` may change what
/// the span of an attempt tells, by its rank.
fn play(tell: impl Fn(usize) -> Vec<(&'static str, Option<serde_json::Value>)>) -> Evidence {
    let mut w = World::new("retry-table");
    for n in 0..5 {
        let p = w.pay((1 + 2000 * n) * MS);
        let mut at = p.sent + MS;
        for (rank, met) in [Met::Status(503), Met::Hang(900 * MS), Met::Success].iter().enumerate() {
            w.misreport = tell(rank).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            at = w.attempt(p, at, rank, met) + 10 * MS;
        }
        w.answer(p, "case/503", at, reply(201));
    }
    w.evidence
}

fn sound() -> Evidence {
    play(|_| Vec::new())
}

/// Proves that the convention's own form passes, a refused connection before an attempt included: it counts as a resend.
#[test]
fn the_convention_passes() {
    passes(&check(), &sound());
    let mut w = World::new("retry-table");
    let p = w.pay(MS);
    w.refuse(p.sent + MS);
    w.misreport.insert("http.request.resend_count".into(), Some(1.into()));
    let ended = w.attempt(p, p.sent + 50 * MS, 0, &Met::Success);
    w.answer(p, "case/refuse", ended + MS, reply(201));
    passes(&check(), &w.evidence);
}

/// Proves that each way of telling it wrongly is failed with its class.
#[test]
fn wrong_tales_are_told_apart() {
    const COUNT: &str = "http.request.resend_count";
    fails(&check(), &play(|_| vec![(COUNT, None)]), 2);
    fails(&check(), &play(|rank| vec![(COUNT, Some(rank.into()))]), 3);
    fails(&check(), &play(|rank| if rank > 0 { vec![(COUNT, Some((rank + 1).into()))] } else { Vec::new() }), 3);
    fails(&check(), &play(|rank| if rank > 0 { vec![(COUNT, Some(1.into()))] } else { Vec::new() }), 3);
    fails(
        &check(),
        &play(|rank| if rank == 0 { vec![("http.response.status_code", Some(200.into()))] } else { Vec::new() }),
        4,
    );
    fails(&check(), &play(|rank| if rank == 0 { vec![("http.response.status_code", None)] } else { Vec::new() }), 4);
    fails(&check(), &play(|_| vec![("error.type", None)]), 5);
    fails(&check(), &play(|rank| if rank == 0 { vec![("error.type", Some("500".into()))] } else { Vec::new() }), 5);
    fails(&check(), &play(|rank| if rank == 2 { vec![("error.type", Some("503".into()))] } else { Vec::new() }), 5);
    let mut forgiven = sound();
    forgiven.spans.iter_mut().for_each(|s| s.error = false);
    fails(&check(), &forgiven, 5);
}

/// Proves that one span for a whole payment and a span that never came are failed, the one by the name it shares.
#[test]
fn missing_spans_fail() {
    let mut w = World::new("retry-table");
    let p = w.pay(MS);
    let span = SpanId([7; 8]);
    let first = w.attempt_under(p, p.sent + MS, 0, &Met::Status(503), span);
    let second = w.attempt_under(p, first + 10 * MS, 1, &Met::Success, span);
    w.answer(p, "case/503", second + MS, reply(201));
    fails(&check(), &w.evidence, 0);
    let mut lost = sound();
    lost.spans.remove(4);
    fails(&check(), &lost, 1);
}

/// Proves that a killed service, no spans at all, no retry and attempts without a trace prove nothing.
#[test]
fn doubts() {
    let mut killed = sound();
    killed.spans.remove(4);
    let (code, text) = ("service-killed".to_owned(), "it was killed".to_owned());
    killed.notes.push(Note { at: At(1), weight: NoteWeight::Info, code, text });
    is_unclear(&check(), &killed, "it was killed");
    let mut silent = sound();
    silent.spans.clear();
    is_unclear(&check(), &silent, "no CLIENT spans");
    let mut untraced = sound();
    untraced.attempts.iter_mut().for_each(|a| a.context = None);
    is_unclear(&check(), &untraced, "no trace context");
    let mut once = sound();
    once.attempts.retain(|a| a.ordinal == 1);
    is_unclear(&check(), &once, "no payment was retried");
    is_unclear(&check(), &unjoined(&sound()), "did not run");
    is_unclear(&check(), &Evidence::new(once.header), "did not run");
}
