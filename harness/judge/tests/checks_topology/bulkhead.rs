//! T2, on a service with two dependencies of which one hangs.

use judge::checks::catalogue::T2;
use judge::checks::topology::{Beside, bulkhead_holds};
use judge::evidence::{At, Evidence};
use judge::promise::{BulkheadPolicy, Noise};
use judge::{Finding, Ruling};

use crate::pools::{policy, run, run_with};
use crate::stage::Stage;
use crate::support::MS;

fn judged_by(policy: &BulkheadPolicy, e: &Evidence) -> Finding {
    let rates = Beside { route: "rates".to_owned(), link: "rates".to_owned() };
    bulkhead_holds(policy, "bank", &[rates], Noise::default()).judge(e)
}

fn judged(e: &Evidence) -> Finding {
    judged_by(&policy(), e)
}

/// Proves that a route that stays as it was passes, also a little slower and with a handful of stragglers that chance and
/// a busy machine explain.
#[test]
fn a_bulkhead_that_holds_passes() {
    for beside in [|_| (5 * MS, 200), |_| (14 * MS, 200), |i| (if i == 7 { 500 * MS } else { 5 * MS }, 200)] {
        let finding = judged(&run(beside));
        assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
        assert!(finding.exhibit.iter().any(|l| l.starts_with("beside")), "{finding:#?}");
    }
}

/// Proves that calls that wait, and calls that are turned away, are failed with their class, their chance and the slowest
/// lines, by a ratio to the same run: the same latencies pass where the route was as slow before.
#[test]
fn a_pool_that_is_shared_is_failed() {
    let slow = judged(&run(|_| (900 * MS, 200)));
    assert_eq!((slow.ruling, slow.bug_class.as_deref()), (Ruling::Fail, Some(T2.bug_classes[1])), "{slow:#?}");
    assert!(slow.headline.contains("200 of 200 calls of rates took longer than 75.0 ms"), "{}", slow.headline);
    assert!(slow.chance.and_then(|c| c.probability()).is_some_and(|p| p <= 1e-7), "{slow:#?}");
    let turned = judged(&run(|i| (5 * MS, if i % 2 == 0 { 503 } else { 200 })));
    assert_eq!((turned.ruling, turned.bug_class.as_deref()), (Ruling::Fail, Some(T2.bug_classes[0])), "{turned:#?}");
    assert!(!turned.lines.is_empty());
    let always = judged(&run_with(24, 200, |_| (400 * MS, 200), |_| (900 * MS, 200)));
    assert_eq!(always.ruling, Ruling::Pass, "{always:#?}");
}

/// Proves that figures beyond the limit that chance might explain are neither.
#[test]
fn what_chance_explains_is_inconclusive() {
    let few = judged(&run(|i| (if i < 6 { 500 * MS } else { 5 * MS }, 200)));
    assert_eq!(few.ruling, Ruling::Inconclusive, "{few:#?}");
    assert!(few.headline.contains("6 of 200") && few.headline.contains("too few to be sure"), "{}", few.headline);
    let lost = judged(&run(|i| (5 * MS, if i < 5 { 503 } else { 200 })));
    assert_eq!(lost.ruling, Ruling::Inconclusive, "{lost:#?}");
}

/// Proves that what was not seen is no pass.
#[test]
fn too_little_is_inconclusive() {
    let fine = |_| (5 * MS, 200);
    let mut idle = run(fine);
    idle.attempts.clear();
    let mut late = run(fine);
    late.outcomes.iter_mut().filter(|o| o.step == "hung/rates").for_each(|o| o.sent = At(u64::MAX / 2));
    let mut noisy = run(fine);
    noisy.canary[0].max_ns = 61 * MS;
    let mut unfired = run(fine);
    unfired.faults[0].fired = 0;
    for (evidence, word) in [
        (Stage::new("bulkhead", "payments").e, "did not run"),
        (idle, "0 of 200 calls of rates ran while a call was hanging"),
        (late, "0 callers hung before"),
        (noisy, "the machine paused"),
        (unfired, "struck 0 times"),
        (run_with(23, 200, fine, fine), "23 callers hung"),
        (run_with(24, 49, fine, fine), "50 are needed"),
        (run_with(24, 200, |_| (5 * MS, 503), fine), "before anything hung"),
    ] {
        let finding = judged(&evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{word}: {finding:#?}");
        assert!(finding.headline.contains(word), "{word}: {}", finding.headline);
    }
}

/// Proves that a limit that is no number lets nobody pass.
#[test]
fn a_limit_that_is_no_number_is_inconclusive() {
    let fine = run(|_| (5 * MS, 200));
    for broken in [
        BulkheadPolicy { slowdown: f64::NAN, ..policy() },
        BulkheadPolicy { slowdown: -1.0, ..policy() },
        BulkheadPolicy { success: f64::NAN, ..policy() },
        BulkheadPolicy { success: 2.0, ..policy() },
    ] {
        assert_eq!(judged_by(&broken, &fine).ruling, Ruling::Inconclusive, "{broken:?}");
    }
}
