//! A fallback that nobody saw, or could not have seen, is inconclusive.

use judge::Ruling;
use judge::evidence::{At, Evidence};

use crate::degraded::{all, g1, g2, g3, g4};
use crate::degraded_service::{Defect, degradation as played};
use crate::keys::{passes, unclear};
use crate::support::MS;

/// Proves that nothing seen, nothing degraded, and a fault that did not strike are never a pass.
#[test]
fn nothing_degraded_is_inconclusive() {
    let evidence = played(Defect::Sound);
    for check in all() {
        unclear(&check, &Evidence::new(evidence.header.clone()), "did not run");
    }
    for check in [g1(), g2(), g3()] {
        unclear(&check, &played(Defect::NeverDegrades), "nothing was degraded");
    }
    let mut unfired = evidence;
    unfired.faults[0].fired = 0;
    for check in all() {
        unclear(&check, &unfired, "struck 0 times");
    }
}

/// Proves that each check asks for the stretch of time that it judges.
#[test]
fn each_check_needs_its_own_steps() {
    let without = |step: &str| {
        let mut evidence = played(Defect::Sound);
        evidence.outcomes.retain(|o| o.step != step);
        evidence
    };
    unclear(&g2(), &without("outage/old"), "after the declared age");
    unclear(&g3(), &without("fresh"), "after the declared time");
    unclear(&g4(), &without("outage/ask"), "during the outage");
    let mut wordless = played(Defect::Sound);
    for outcome in &mut wordless.outcomes {
        if let judge::evidence::Answer::Reply(reply) = &mut outcome.answer {
            reply.word = None;
        }
    }
    unclear(&g4(), &wordless, "no answer called");
    let mut unread = played(Defect::Sound);
    unread.ledger.clear();
    unclear(&g4(), &unread, "ledger");
}

/// Proves that a link on which no call is seen neither acquits nor accuses: what comes from the dependency is known by its
/// call alone.
#[test]
fn a_blind_link_is_inconclusive() {
    for defect in [Defect::Sound, Defect::MarksEverything] {
        let mut blind = played(defect);
        blind.attempts.clear();
        unclear(&g1(), &blind, "no call of the whole scenario was seen");
        unclear(&g3(), &blind, "no call of the whole scenario was seen");
    }
}

/// Proves that answers are held against the recovery that they come after, and not against a later one: two outages of a
/// sound service pass, and a service that stayed degraded after the first one is not acquitted by the second.
#[test]
fn each_outage_has_its_own_recovery() {
    let twice = |defect| {
        let (mut first, mut second) = (played(defect), played(Defect::Sound));
        let later = 60_000 * MS;
        for outcome in &mut second.outcomes {
            (outcome.sent, outcome.ended) = (At(outcome.sent.0 + later), At(outcome.ended.0 + later));
            outcome.context.trace.0[0] = 2;
            outcome.key = outcome.key.take().map(|key| format!("second-{key}"));
        }
        for attempt in &mut second.attempts {
            (attempt.arrived, attempt.reply.ended) = (At(attempt.arrived.0 + later), At(attempt.reply.ended.0 + later));
            attempt.context.iter_mut().for_each(|c| c.trace.0[0] = 2);
            attempt.key = attempt.key.take().map(|key| format!("second-{key}"));
        }
        let fault = &mut second.faults[0];
        (fault.applied, fault.healed) = (At(fault.applied.0 + later), At(fault.healed.0 + later));
        first.outcomes.extend(second.outcomes);
        first.attempts.extend(second.attempts);
        first.faults.extend(second.faults);
        first
    };
    passes(&g3(), &twice(Defect::Sound));
    for defect in [Defect::StaysDegraded, Defect::FailsAfterwards, Defect::StoredAsFresh] {
        assert_eq!(g3().judge(&twice(defect)).ruling, Ruling::Fail, "{defect:?}");
    }
}

/// Proves that a pause of the machine turns no sound fallback into a wrong one: answers that came late, and whole
/// stretches that took a second longer.
#[test]
fn pauses_do_not_fail_a_sound_fallback() {
    let mut late = played(Defect::Sound);
    for outcome in late.outcomes.iter_mut().filter(|o| o.step == "outage/read") {
        outcome.ended = At(outcome.ended.0 + 90 * MS);
    }
    for check in all() {
        assert_ne!(check.judge(&late).ruling, Ruling::Fail);
    }
    let mut paused = played(Defect::Sound);
    for outcome in paused.outcomes.iter_mut().filter(|o| o.step == "fresh" || o.step == "recovering") {
        outcome.ended = At(outcome.ended.0 + 900 * MS);
    }
    passes(&g3(), &paused);
}

/// Proves that calls which nobody can name are taken as news about any payment, so that a service without trace context
/// is not failed for ages that those calls explain.
#[test]
fn nameless_calls_may_be_about_any_payment() {
    let mut evidence = played(Defect::Sound);
    for attempt in &mut evidence.attempts {
        (attempt.context, attempt.key) = (None, None);
    }
    passes(&g2(), &evidence);
    assert_ne!(g3().judge(&evidence).ruling, Ruling::Fail);
}

/// Proves that an age beyond all measure is an age like any other: too old, and no panic when the next one is held against
/// it a day later.
#[test]
fn an_age_beyond_all_measure_is_too_old() {
    let mut evidence = played(Defect::TooOldAndSaysSo);
    for outcome in evidence.outcomes.iter_mut().filter(|o| o.step.starts_with("outage/")) {
        if let judge::evidence::Answer::Reply(reply) = &mut outcome.answer {
            // All but as long as a duration can hold, in milliseconds.
            reply.age = reply.age.take().map(|_| "18446744073709540000000".to_owned());
        }
        let day = 86_400_000 * MS;
        if outcome.step == "outage/old" {
            (outcome.sent, outcome.ended) = (At(outcome.sent.0 + day), At(outcome.ended.0 + day));
        }
    }
    assert_eq!(g2().judge(&evidence).ruling, Ruling::Fail);
    assert_ne!(g3().judge(&evidence).ruling, Ruling::Pass);
}
