//! R15 against services that tell of their retries, and services that do not.

use judge::checks::{Check, retry};
use judge::evidence::{At, Evidence, Note, NoteWeight};

use crate::support::MS;
use crate::telemetry_service::{one_span_for_two, play, sound};
use crate::world::{Met, World, reply};
use crate::{fails, is_unclear, passes, unjoined};

fn check() -> Check {
    retry::spans_tell_of_resends("bank")
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
    // On a machine that stood still the service may know of a timeout where the wire shows an answer.
    let told = |rank| if rank == 0 { vec![("http.response.status_code", None)] } else { Vec::new() };
    let mut paused = play(told);
    paused.canary[0].max_ns = paused.header.eps_ns + 1;
    assert_eq!(check().judge(&paused).ruling, judge::Ruling::Inconclusive);
    let mut forgiven = sound();
    forgiven.spans.iter_mut().for_each(|s| s.error = false);
    fails(&check(), &forgiven, 5);
}

/// Proves that one span for a whole payment and a span that never came are failed, the one by the name it shares.
#[test]
fn missing_spans_fail() {
    fails(&check(), &one_span_for_two(), 0);
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
