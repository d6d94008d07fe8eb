//! R1 at its edges: what excuses a payment with too few attempts, and whose a refused connection is.

use std::time::Duration;

use judge::checks::retry;
use judge::evidence::{Answer, Evidence};
use judge::promise::RetryPolicy;
use judge::{Finding, Ruling};

use crate::policy;
use crate::support::{MS, trace};
use crate::world::{Met, Payment, World, reply};

fn judged(policy: &RetryPolicy, evidence: &Evidence) -> Finding {
    retry::bounded_attempts(policy, "bank").judge(evidence)
}

fn no_deadline() -> RetryPolicy {
    RetryPolicy { deadline: None, ..policy() }
}

/// A payment that is sent at `sent`, makes so many attempts of 1 ms, and is answered at `at`.
fn failing(w: &mut World, sent: u64, attempts: usize, at: u64) {
    let p = w.pay(sent);
    for rank in 0..attempts {
        w.attempt(p, sent + MS + rank as u64 * 10 * MS, rank, &Met::Status(503));
    }
    w.answer(p, "waves", at, reply(503));
}

/// Proves that a deadline excuses from the instant at which the next wait could outlast it: 400 ms after two attempts, of the
/// nine tenths of three seconds; and that the finding counts it.
#[test]
fn a_deadline_excuses_by_the_next_wait() {
    for (spent, ruling) in [(2300 * MS - 1, Ruling::Fail), (2300 * MS, Ruling::Pass)] {
        let mut w = World::new("retry-law");
        failing(&mut w, MS, 4, 100 * MS);
        let p = w.pay(200 * MS);
        let first = w.attempt(p, 201 * MS, 0, &Met::Status(503));
        let at = 200 * MS + spent;
        w.attempt(p, first + MS, 1, &Met::Hang(at - first - MS));
        w.answer(p, "waves", at, reply(504));
        let finding = judged(&policy(), &w.evidence);
        assert_eq!(finding.ruling, ruling, "{spent}: {finding:#?}");
        let excused = finding.facts.iter().any(|f| f.name == "payments that the deadline may have ended");
        assert_eq!(excused, ruling == Ruling::Pass, "{finding:#?}");
    }
}

/// Proves that a pause excuses a payment that lasted as long as a timeout for each attempt that is missing, and none that was
/// shorter: three seconds for three of four.
#[test]
fn a_pause_excuses_by_the_time_of_what_is_missing() {
    for (lasted, ruling) in [(3000 * MS - 1, Ruling::Fail), (3000 * MS, Ruling::Inconclusive)] {
        let mut w = World::new("retry-law");
        failing(&mut w, MS, 1, MS + lasted);
        w.evidence.canary[0].max_ns = 200 * MS;
        let finding = judged(&no_deadline(), &w.evidence);
        assert_eq!(finding.ruling, ruling, "{lasted}: {finding:#?}");
    }
}

/// Proves that a refused connection is the attempt of the one request that ran, and nobody's when another one ran beside it,
/// be it before or after; two that only touch did not run together.
#[test]
fn a_refused_connection_is_whose_it_can_be() {
    // The first one is answered at 100 ms, and the second one sent then; the connection is refused during either.
    for (sent, first_is_refused, ruling) in [
        (100 * MS, true, Ruling::Pass),
        (100 * MS, false, Ruling::Pass),
        (105 * MS, true, Ruling::Pass),
        (105 * MS, false, Ruling::Pass),
        (100 * MS - 1, true, Ruling::Inconclusive),
        (100 * MS - 1, false, Ruling::Inconclusive),
    ] {
        let mut w = World::new("retry-law");
        let (seen, unseen) = (4, 3);
        let (first, second) = if first_is_refused { (unseen, seen) } else { (seen, unseen) };
        failing(&mut w, 10 * MS, first, 100 * MS);

        failing(&mut w, sent, second, 200 * MS);
        w.refuse(if first_is_refused { 60 * MS } else { 160 * MS });
        let finding = judged(&no_deadline(), &w.evidence);
        assert_eq!(finding.ruling, ruling, "{sent} {first_is_refused}: {finding:#?}");
        let blurred = "for 1 requests nobody can say which attempts were theirs";
        assert!(ruling == Ruling::Pass || finding.headline == blurred, "{}", finding.headline);
    }
}

/// Proves that too few attempts are no breach where nobody can say whose they are: those of a payment that was asked for
/// twice, and carry no trace.
#[test]
fn attempts_of_a_repeated_payment_may_be_either_s() {
    let mut w = World::new("retry-law");
    failing(&mut w, MS, 2, 100 * MS);
    let again = Payment { sent: 200 * MS, number: 1, trace: trace(77) };
    w.answer(again, "waves", 300 * MS, reply(503));
    w.evidence.attempts.iter_mut().for_each(|a| a.context = None);
    let finding = judged(&no_deadline(), &w.evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert_eq!(finding.headline, "for 2 requests nobody can say which attempts were theirs");
}

/// Proves that an attempt which arrives as the success is seen was not made after it.
#[test]
fn together_with_a_success_is_not_after_it() {
    for (later, ruling) in [(0, Ruling::Pass), (1, Ruling::Fail)] {
        let mut w = World::new("retry-law");
        failing(&mut w, MS, 4, 100 * MS);
        let p = w.pay(200 * MS);
        let done = w.attempt(p, 201 * MS, 0, &Met::Success);
        w.attempt(p, done + later, 1, &Met::Success);
        w.answer(p, "waves", done + 10 * MS, reply(201));
        let finding = judged(&no_deadline(), &w.evidence);
        assert_eq!(finding.ruling, ruling, "{later}: {finding:#?}");
    }
}

/// Proves that only failures which are promised to be retried ask for all attempts.
#[test]
fn a_final_failure_ends_the_attempts() {
    let mut w = World::new("retry-law");
    failing(&mut w, MS, 4, 100 * MS);
    let p = w.pay(200 * MS);
    let ended = w.attempt(p, 201 * MS, 0, &Met::Status(400));
    w.answer(p, "waves", ended + MS, reply(400));
    assert_eq!(judged(&no_deadline(), &w.evidence).ruling, Ruling::Pass);
    w.evidence.outcomes.last_mut().expect("an outcome").answer = Answer::TimedOut;
    assert_eq!(judged(&no_deadline(), &w.evidence).ruling, Ruling::Pass);
    let short = RetryPolicy { attempt_timeout: Some(Duration::from_millis(1)), ..no_deadline() };
    assert_eq!(judged(&short, &w.evidence).ruling, Ruling::Pass);
}
