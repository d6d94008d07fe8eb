//! R12, R13 and R15 at their edges: what makes a payment one of several attempts, and what a span may tell of a torn one.

use judge::checks::{Check, retry};
use judge::evidence::{At, End, Evidence};
use judge::{Finding, Ruling};

use crate::support::{MS, trace};
use crate::telemetry_service::{play, sound};
use crate::world::{Met, Payment, World, reply};

fn spans(evidence: &Evidence) -> Finding {
    retry::spans_tell_of_resends("bank").judge(evidence)
}

/// Proves that the span of an attempt which was open at the end of the run need not have come.
#[test]
fn an_open_attempt_has_no_span_yet() {
    for (end, ruling) in [(End::Unfinished, Ruling::Pass), (End::ClientLeft, Ruling::Fail)] {
        let mut evidence = sound();
        let last = evidence.attempts.last_mut().expect("an attempt");
        last.reply.end = end;
        let span = last.context.expect("traced").parent;
        evidence.spans.retain(|s| s.span != span);
        assert_eq!(spans(&evidence).ruling, ruling, "{:#?}", spans(&evidence));
    }
}

/// Proves that the count of resends grows from span to span, where a refused connection leaves it open which it is.
#[test]
fn the_count_of_resends_grows() {
    for (second, ruling) in [(1, Ruling::Fail), (2, Ruling::Pass)] {
        let mut w = World::new("retry-table");
        let p = w.pay(MS);
        w.refuse(2 * MS);
        let mut at = 10 * MS;
        for (rank, (met, told)) in [(Met::Status(503), 1), (Met::Success, second)].into_iter().enumerate() {
            w.misreport.insert("http.request.resend_count".into(), Some(told.into()));
            at = w.attempt(p, at, rank, &met) + 10 * MS;
        }
        w.answer(p, "case/refuse", at, reply(201));
        assert_eq!(spans(&w.evidence).ruling, ruling, "{second}: {:#?}", spans(&w.evidence));
    }
}

/// Proves that the span of an answer that was cut may tell its status or none, and no other; and that an error is named by a
/// status only where its name is three digits.
#[test]
fn a_cut_answer_may_have_shown_its_status() {
    for (told, ruling) in [(Some(503), Ruling::Pass), (None, Ruling::Pass), (Some(502), Ruling::Fail)] {
        let attribute = "http.response.status_code";
        let mut evidence = play(|rank| if rank == 0 { vec![(attribute, told.map(Into::into))] } else { Vec::new() });
        evidence.attempts[0].reply.end = End::Cut;
        evidence.attempts.retain(|a| a.arrived < At(2000 * MS));
        evidence.outcomes.truncate(1);
        assert_eq!(spans(&evidence).ruling, ruling, "{told:?}: {:#?}", spans(&evidence));
    }
    for name in ["EOF", "5031"] {
        let named = play(|rank| if rank == 1 { vec![("error.type", Some(name.into()))] } else { Vec::new() });
        assert_eq!(spans(&named).ruling, Ruling::Pass, "{name}: {:#?}", spans(&named));
    }
}

/// Proves that payments of one attempt each show neither that a key is kept nor that a payload is.
#[test]
fn one_attempt_keeps_nothing() {
    let mut w = World::new("steady");
    for n in 0..3 {
        let p = w.pay((1 + 10 * n) * MS);
        let ended = w.attempt(p, p.sent + MS, 0, &Met::Success);
        w.answer(p, "baseline", ended + MS, reply(201));
    }
    w.evidence.attempts.iter_mut().for_each(|a| a.body.sha256 = Some("a".repeat(64)));
    let checks: [Check; 2] = [retry::key_is_stable("bank"), retry::payload_is_stable("bank")];
    for check in checks {
        let finding = check.judge(&w.evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    }
}

/// Proves that a key which only changes from one request of the client to the next was forgotten, and that one which changes
/// within a request was drawn anew.
#[test]
fn a_forgotten_key_is_told_from_a_new_one() {
    for (keys, class) in [(["a", "a", "b", "b"], 2), (["a", "b", "b", "b"], 0)] {
        let mut w = World::new("one-effect");
        let first = w.pay(MS);
        for request in 0..2 {
            let sent = (1 + 100 * request) * MS;
            let p = Payment { sent, trace: trace(50 + request), ..first };
            let failed = w.attempt(p, sent + MS, 0, &Met::Status(503));
            let ended = w.attempt(p, failed + 10 * MS, 1, &Met::Success);
            w.answer(p, "again", ended + MS, reply(201));
        }
        for (attempt, key) in w.evidence.attempts.iter_mut().zip(keys) {
            attempt.key = Some(key.to_owned());
        }
        crate::fails(&retry::key_is_stable("bank"), &w.evidence, class);
    }
}
