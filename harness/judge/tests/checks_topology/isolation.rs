//! B11, on a service with two dependencies.

use judge::checks::catalogue::B11;
use judge::checks::topology::{Beside, breaker_isolation};
use judge::evidence::Evidence;
use judge::{Finding, Ruling};

use crate::breakers::{Kind, policy, run};
use crate::stage::Stage;

fn judged(e: &Evidence) -> Finding {
    let rates = Beside { route: "rates".to_owned(), link: "rates".to_owned() };
    breaker_isolation(&policy(), "bank", &[rates]).judge(e)
}

/// Proves that a service whose breakers are apart passes, in both directions.
#[test]
fn breakers_apart_pass() {
    let finding = judged(&run(Kind::Sound, 5));
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert!(finding.headline.starts_with("8 calls"), "{}", finding.headline);
}

/// Proves that a shared breaker, a leak and a substitute are failed, each for its class, with the client's lines.
#[test]
fn a_failure_that_crosses_is_failed() {
    for (kind, class, word) in [
        (Kind::Shared, 0, "5 of them never reached rates"),
        (Kind::Leaks, 1, "0 of them never reached rates"),
        (Kind::Degrades, 0, "5 of 5 calls of rates failed"),
    ] {
        let finding = judged(&run(kind, 5));
        assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
        assert_eq!(finding.bug_class.as_deref(), Some(B11.bug_classes[class]), "{}", finding.headline);
        assert!(finding.headline.contains(word), "{}", finding.headline);
        assert!(!finding.lines.is_empty());
    }
}

/// Proves that a payment that fails after the route's dependency is failed as well, when the other direction holds.
#[test]
fn the_other_direction_is_judged_too() {
    let mut evidence = run(Kind::Sound, 5);
    let crossed = run(Kind::Shared, 5);
    let last = |e: &Evidence| e.outcomes_of("payments").iter().map(|o| (*o).clone()).collect::<Vec<_>>();
    evidence.outcomes.retain(|o| o.step != "payments/rates");
    evidence.outcomes.extend(last(&crossed));
    evidence.attempts.retain(|a| last(&crossed).iter().all(|o| a.arrived < o.sent || a.arrived > o.ended));
    let finding = judged(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("3 of 3 calls of the payment"), "{}", finding.headline);
}

/// Proves that calls which reached their dependency and failed are no leak on a machine that stood still, and that a
/// rejection without a call is one on any machine.
#[test]
fn a_pause_may_fail_a_call_and_rejects_none() {
    let noisy = |kind| {
        let mut evidence = run(kind, 5);
        evidence.canary[0].max_ns = evidence.header.eps_ns + 1;
        judged(&evidence)
    };
    let leaks = noisy(Kind::Leaks);
    assert_eq!(leaks.ruling, Ruling::Inconclusive, "{leaks:#?}");
    assert!(leaks.headline.contains("paused"), "{}", leaks.headline);
    assert_eq!(noisy(Kind::Shared).ruling, Ruling::Fail);
}

/// Proves that what was not seen is no pass.
#[test]
fn too_little_is_inconclusive() {
    let mut unfired = run(Kind::Sound, 5);
    unfired.faults[0].fired = 2;
    // Its dependency failed too seldom; a last call was answered from a cache, and no breaker stood in its way.
    let mut cached = run(Kind::Sound, 5);
    let last = cached.outcomes_of("struck").last().map(|o| (o.seq, o.sent)).expect("five calls");
    cached.attempts.retain(|a| a.link != "rates" || a.arrived < last.1 || a.fault.is_none());
    for outcome in cached.outcomes.iter_mut().filter(|o| o.seq == last.0) {
        if let judge::evidence::Answer::Reply(reply) = &mut outcome.answer {
            reply.status = 200;
        }
    }
    let mut unpaid = run(Kind::Sound, 5);
    unpaid.outcomes.retain(|o| o.step != "payments/rates");
    for (evidence, word) in [
        (Stage::new("breaker-isolation", "payments").e, "did not run"),
        (run(Kind::Caches, 5), "no breaker was asked"),
        (run(Kind::Broken, 5), "did not work without any fault"),
        (run(Kind::Short, 5), "was not seen open both before and after"),
        (run(Kind::Stuck, 5), "had not recovered"),
        (run(Kind::Sound, 4), "failed 4 times"),
        (unfired, "struck 2 times of 5"),
        (cached, "failed 4 times"),
        (unpaid, "no payment was asked for"),
    ] {
        let finding = judged(&evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{word}: {finding:#?}");
        assert!(finding.headline.contains(word), "{word}: {}", finding.headline);
    }
}
