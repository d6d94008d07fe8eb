//! When a check must say neither pass nor fail, and when doubt must not excuse.

use std::time::Duration;

use judge::Ruling;
use judge::checks::{idempotency, retry, trust};
use judge::evidence::{At, Evidence, Note, NoteWeight};
use judge::law::Law;
use judge::promise::{Noise, RetryPolicy};
use judge::sim::Policy;

use crate::judged::{LINK, i2, i6, r1, r2, r3, r6};
use crate::scenarios::{all_fail, duplicates, one_effect, restart, retry_policy, retry_table, steady};
use crate::service::Defect;
use crate::support::{MS, waited};

fn paused(mut evidence: Evidence, ms: u64) -> Evidence {
    evidence.canary[0].max_ns = ms * MS;
    evidence
}

/// Proves that a pause above the bound makes timing verdicts inconclusive, whichever way they would have gone, and
/// leaves counting verdicts alone.
#[test]
fn a_pause_silences_the_clocks_and_not_the_counters() {
    for policy in [Policy::Full, Policy::FixedExponential] {
        let finding = r2().judge(&paused(all_fail("waves", policy, 100, Defect::Sound), 61));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{policy}: {finding:#?}");
        let finding = r3().judge(&paused(all_fail("herd", policy, 100, Defect::Sound), 61));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{policy}: {finding:#?}");
    }
    let counted = r1().judge(&paused(all_fail("waves", Policy::Full, 100, Defect::OneAttemptMore), 240));
    assert_eq!(counted.ruling, Ruling::Fail, "{counted:#?}");
    let sound = idempotency::exactly_one_effect(LINK).judge(&paused(one_effect(Defect::Sound), 500));
    assert_eq!(sound.ruling, Ruling::Pass, "{sound:#?}");
}

/// Proves that an attempt which may have timed out before the proxy saw it is no breach while the machine paused, and is one
/// on a machine that did not, or when there was no time for it.
#[test]
fn a_pause_may_hide_an_attempt_that_timed_out() {
    let policy = RetryPolicy { attempt_timeout: Some(Duration::from_secs(1)), ..retry_policy() };
    let judged = |pause: u64, outlasts: u64| {
        let mut evidence = paused(all_fail("waves", Policy::Full, 100, Defect::Sound), pause);
        let trace = Some(evidence.outcomes[7].context.trace);
        let last = evidence.attempts.iter().rposition(|a| a.context.map(|c| c.trace) == trace).expect("its attempts");
        evidence.attempts.remove(last);
        let outcome = &mut evidence.outcomes[7];
        outcome.ended = outcome.sent + Duration::from_millis(outlasts);
        retry::bounded_attempts(&policy, LINK).judge(&evidence).ruling
    };
    assert_eq!(judged(61, 1_100), Ruling::Inconclusive);
    assert_eq!(judged(61, 900), Ruling::Fail);
    assert_eq!(judged(60, 1_100), Ruling::Fail);
}

/// Proves the edges of H1: within half the bound, within the bound with a remark, above it, no canary.
#[test]
fn the_canary_is_read_at_its_edges() {
    let check = trust::canary_is_quiet(Noise::default());
    let rule = |ms| check.judge(&paused(steady(Defect::Sound), ms));
    assert_eq!(rule(30).ruling, Ruling::Pass);
    assert!(!rule(30).headline.contains("half of the bound"));
    assert!(rule(31).headline.contains("half of the bound"));
    assert_eq!(rule(60).ruling, Ruling::Pass);
    assert_eq!(rule(61).ruling, Ruling::Inconclusive);
    let mut none = steady(Defect::Sound);
    none.canary.clear();
    assert_eq!(check.judge(&none).ruling, Ruling::Inconclusive);
    assert_eq!(r2().judge(&none).ruling, Ruling::Inconclusive);
}

/// Proves that a service which waited for a processor silences the clocks and not the counters, that H1 says whose wait it was and what
/// to do, and that it says nothing of a harness without a canary of its own.
#[test]
fn a_service_that_waited_is_told_by_name() {
    let check = trust::canary_is_quiet(Noise::default());
    let with = |ms, mut evidence: Evidence| {
        evidence.canary.push(waited(ms));
        evidence
    };
    let finding = check.judge(&with(386, steady(Defect::Sound)));
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    let says = "`payments` waited 386.0 ms for a processor, longer than the noise bound of 60.0 ms";
    assert!(finding.headline.contains(says), "{}", finding.headline);
    assert!(finding.advice.as_ref().is_some_and(|a| a.contains("beside the service")), "{:?}", finding.advice);
    let number = |name: &str| finding.facts.iter().find(|f| f.name == name).and_then(|f| f.value.as_f64());
    assert_eq!(number("canary, max"), Some(3.0), "the harness's own");
    assert_eq!(number("`payments` without a processor, max"), Some(386.0));
    let near = check.judge(&with(31, steady(Defect::Sound)));
    assert_eq!(near.ruling, Ruling::Pass);
    assert!(near.headline.contains("`payments`") && near.headline.contains("half of the bound"), "{}", near.headline);
    for policy in [Policy::Full, Policy::FixedExponential] {
        let finding = r2().judge(&with(386, all_fail("waves", policy, 100, Defect::Sound)));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{policy}: {finding:#?}");
    }
    assert_eq!(
        r2().judge(&with(60, all_fail("waves", Policy::FixedExponential, 100, Defect::Sound))).ruling,
        Ruling::Fail
    );
    // More than four bounds: a harness that stood still so long would excuse this.
    let counted = r1().judge(&with(386, all_fail("waves", Policy::Full, 100, Defect::OneAttemptMore)));
    assert_eq!(counted.ruling, Ruling::Fail, "{counted:#?}");
    let mut alone = with(1, steady(Defect::Sound));
    alone.canary.retain(|c| c.process.is_some());
    assert!(check.judge(&alone).headline.contains("no canary ran"));
}

/// Proves that a fault which struck too seldom spoils a pass of every check that needs it, and excuses nothing.
#[test]
fn a_fault_that_never_struck_proves_nothing() {
    let unfired = |mut e: Evidence| {
        e.faults.iter_mut().for_each(|f| f.fired = 0);
        e
    };
    assert_eq!(trust::faults_fired().judge(&unfired(one_effect(Defect::Sound))).ruling, Ruling::Inconclusive);
    let law = r2().judge(&unfired(all_fail("waves", Policy::Full, 100, Defect::Sound)));
    assert_eq!(law.ruling, Ruling::Inconclusive, "{law:#?}");
    let once = idempotency::exactly_one_effect(LINK);
    assert_eq!(once.judge(&unfired(one_effect(Defect::Sound))).ruling, Ruling::Inconclusive);
    assert_eq!(once.judge(&unfired(one_effect(Defect::ChargesAgainAfterLost))).ruling, Ruling::Fail);
}

/// Proves that evidence which says of itself that something is missing spoils a pass and excuses no failure.
#[test]
fn a_spoiling_note_spoils_a_pass_only() {
    let note = Note { at: At(0), weight: NoteWeight::Spoils, code: "log-overflow".to_owned(), text: "lost".to_owned() };
    let mut sound = duplicates(Defect::Sound);
    sound.notes.push(note.clone());
    assert_eq!(i2().judge(&sound).ruling, Ruling::Inconclusive);
    let mut broken = duplicates(Defect::TwinsBothRun);
    broken.notes.push(note);
    assert_eq!(i2().judge(&broken).ruling, Ruling::Fail);
}

/// Proves that attempts which wait in the service's own pool make R2 inconclusive, with the advice to enlarge it: the gap
/// between the CLIENT spans is shorter than the gap on the wire.
#[test]
fn a_queue_in_the_service_is_not_its_backoff() {
    let mut evidence = all_fail("waves", Policy::Full, 100, Defect::Sound);
    for (i, span) in evidence.spans.iter_mut().enumerate() {
        // One span in five begins 200 ms before its attempt reaches the wire.
        if i % 5 == 1 {
            span.start = At(span.start.0.saturating_sub(200 * MS));
        }
    }
    let finding = r2().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.advice.is_some_and(|a| a.contains("connection pool")));
}

/// Proves that payments which the driver gave up on make R2 inconclusive even when the rest looks wrong: what is missing
/// are the long waits.
#[test]
fn cut_short_is_no_evidence_of_short_waits() {
    let mut evidence = all_fail("waves", Policy::Full, 100, Defect::Sound);
    for outcome in evidence.outcomes.iter_mut().take(30) {
        outcome.answer = judge::evidence::Answer::TimedOut;
        let trace = outcome.context.trace;
        let last = evidence.attempts.iter().rposition(|a| a.context.is_some_and(|c| c.trace == trace));
        evidence.attempts.remove(last.expect("an attempt"));
    }
    assert_eq!(r2().judge(&evidence).ruling, Ruling::Inconclusive);
    assert_eq!(r1().judge(&evidence).ruling, Ruling::Inconclusive, "R1 does not know either where it would have ended");
}

/// Proves that R3 has nothing to hold a declared herd to, and says so instead of passing or failing it.
#[test]
fn a_declared_herd_is_not_judged_by_its_peak() {
    let policy = RetryPolicy { backoff: Law::immediate(), ..retry_policy() };
    assert!(!retry::excludes_a_herd(&policy) && retry::excludes_a_herd(&retry_policy()));
    let finding =
        retry::no_herd(&policy, LINK, Noise::default()).judge(&all_fail("herd", Policy::Immediate, 100, Defect::Sound));
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
}

/// Proves that a table with a hole is not passed: a promised failure without a step, a step whose fault never struck.
#[test]
fn a_hole_in_the_table_is_inconclusive() {
    let mut hole = retry_table(Defect::Sound);
    hole.outcomes.retain(|o| o.step != "case/503");
    hole.attempts.retain(|a| a.fault.as_ref().is_none_or(|f| f.what != "request/reply 503"));
    let finding = r6().judge(&hole);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains("503"), "{}", finding.headline);
    let mut missed = retry_table(Defect::Sound);
    missed.attempts.iter_mut().filter(|a| a.reply.status == Some(404)).for_each(|a| a.fault = None);
    assert_eq!(r6().judge(&missed).ruling, Ruling::Inconclusive);
}

/// Proves that no effect is acquitted without its books: a ledger that was not read after the last request, a bank
/// without a journal.
#[test]
fn without_books_there_is_no_acquittal() {
    let check = idempotency::exactly_one_effect(LINK);
    let mut unread = one_effect(Defect::Sound);
    unread.ledger.clear();
    assert_eq!(check.judge(&unread).ruling, Ruling::Inconclusive);
    let mut early = one_effect(Defect::Sound);
    early.ledger[0].at = At(1);
    assert_eq!(check.judge(&early).ruling, Ruling::Inconclusive);
    let mut no_journal = one_effect(Defect::Sound);
    no_journal.bank.clear();
    assert_eq!(check.judge(&no_journal).ruling, Ruling::Inconclusive);
    let mut unread = restart(Defect::Sound);
    unread.ledger.clear();
    assert_eq!(i6().judge(&unread).ruling, Ruling::Inconclusive);
}

/// Proves the doubts of the race and the crash: a hold that took nothing, a caller without an outcome, a payment that was
/// answered before the kill, a service that never came back.
#[test]
fn races_and_crashes_that_did_not_happen() {
    let mut unheld = duplicates(Defect::Sound);
    unheld.attempts.iter_mut().filter_map(|a| a.fault.as_mut()).for_each(|f| f.held = None);
    assert_eq!(i2().judge(&unheld).ruling, Ruling::Inconclusive);
    let mut hung = duplicates(Defect::Sound);
    hung.outcomes.iter_mut().filter(|o| o.step == "burst/2").for_each(|o| o.answer = judge::evidence::Answer::TimedOut);
    assert_eq!(i2().judge(&hung).ruling, Ruling::Inconclusive);
    let mut unheld = restart(Defect::Sound);
    unheld.attempts.iter_mut().filter_map(|a| a.fault.as_mut()).for_each(|f| f.held = None);
    assert_eq!(i6().judge(&unheld).ruling, Ruling::Inconclusive);
    let mut dead = restart(Defect::Sound);
    let recovers = |step: &str| step.starts_with("recover");
    dead.outcomes.iter_mut().filter(|o| recovers(&o.step)).for_each(|o| o.answer = judge::evidence::Answer::TimedOut);
    assert_eq!(i6().judge(&dead).ruling, Ruling::Inconclusive);
}
