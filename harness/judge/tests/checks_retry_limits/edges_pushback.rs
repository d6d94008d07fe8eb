//! R14 at its edges: a wait is kept up to the last nanosecond, and broken by the next one.

use judge::checks::retry;
use judge::evidence::Answer;
use judge::promise::{Noise, RetryPolicy};
use judge::{Finding, Ruling};

use crate::policy;
use crate::support::MS;
use crate::world::{Met, World, reply};

/// A wait and a stop that are kept, and a payment of `step` whose attempt ended at `from`: what came after it is told by `then`.
fn judged(value: &str, then: impl Fn(&mut World, crate::world::Payment, u64)) -> Finding {
    let mut w = World::new("pushback");
    let p = w.pay(MS);
    let ended = w.attempt(p, 2 * MS, 0, &Met::Status(503));
    let ended = w.attempt(p, ended + 10 * MS, 1, &Met::Success);
    w.answer(p, "pushback/10", ended + MS, reply(201));
    let p = w.pay(50 * MS);
    let ended = w.attempt(p, 51 * MS, 0, &Met::Status(503));
    w.answer(p, "pushback/soon", ended + MS, reply(502));
    let p = w.pay(100 * MS);
    let from = w.attempt(p, 101 * MS, 0, &Met::Status(503));
    then(&mut w, p, from);
    w.evidence.outcomes.last_mut().expect("an outcome").step = format!("pushback/{value}");
    retry::pushback_is_obeyed(&policy(), "bank", Noise::default()).judge(&w.evidence)
}

fn is(finding: &Finding, expected: Ruling, says: &str) {
    assert_eq!(finding.ruling, expected, "{finding:#?}");
    assert!(finding.headline.contains(says), "`{says}` is not in: {}", finding.headline);
}

/// Proves that a wait is kept from 2 ms before its end to the noise bound after it.
#[test]
fn a_wait_is_kept_between_its_edges() {
    let cases = [
        (298 * MS - 1, Ruling::Fail, "was not waited out"),
        (298 * MS, Ruling::Pass, "2 waits"),
        (360 * MS, Ruling::Pass, "2 waits"),
        (360 * MS + 1, Ruling::Fail, "was not kept"),
    ];
    for (gap, ruling, says) in cases {
        let finding = judged("300", |w, p, from| {
            let ended = w.attempt(p, from + gap, 1, &Met::Success);
            w.answer(p, "", ended + MS, reply(201));
        });
        is(&finding, ruling, says);
    }
}

/// Proves that a payment without an answer is failed once its wait and the noise bound are over, and not before.
#[test]
fn silence_counts_after_the_wait() {
    for (after, ruling, says) in
        [(360 * MS, Ruling::Inconclusive, "has no outcome"), (360 * MS + 1, Ruling::Fail, "no attempt came")]
    {
        is(&judged("300", |w, p, from| w.answer(p, "", from + after, Answer::TimedOut)), ruling, says);
    }
}

/// Proves that a stop is answered within half a second and the noise bound, to the nanosecond.
#[test]
fn a_stop_is_answered_at_once() {
    for (after, ruling, says) in
        [(560 * MS, Ruling::Pass, "2 stops"), (560 * MS + 1, Ruling::Fail, "was answered only 560.0 ms later")]
    {
        is(&judged("-1", |w, p, from| w.answer(p, "", from + after, reply(502))), ruling, says);
    }
}

/// Proves that two attempts in all are enough to be held to a wait, that one is not, and that a payment whose attempts
/// nobody can tell from those of its repetition is not judged.
#[test]
fn who_makes_one_attempt_waits_for_nothing() {
    let evidence = crate::pushback_service::play(crate::pushback_service::obeys);
    for (attempts, ruling) in [(1, Ruling::Inconclusive), (2, Ruling::Pass)] {
        let few = RetryPolicy { attempts, ..policy() };
        let finding = retry::pushback_is_obeyed(&few, "bank", Noise::default()).judge(&evidence);
        assert_eq!(finding.ruling, ruling, "{attempts}: {finding:#?}");
    }
    let mut twice = evidence;
    let mut again = twice.outcomes[0].clone();
    again.context.trace = crate::support::trace(9_999);
    again.seq = 9_999;
    twice.outcomes.push(again);
    twice.attempts.iter_mut().for_each(|a| a.context = None);
    let finding = retry::pushback_is_obeyed(&policy(), "bank", Noise::default()).judge(&twice);
    is(&finding, Ruling::Inconclusive, "");
}
