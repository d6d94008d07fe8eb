//! R4 on services that draw anew after a restart, and on those that repeat themselves.

use judge::checks::{Check, retry};
use judge::evidence::Evidence;
use judge::law::Law;
use judge::promise::{Noise, RetryPolicy};
use judge::sim::Policy;
use judge::{Finding, Ruling};

use crate::judged::LINK;
use crate::restarts::{again, anew, played, quiet, typical};
use crate::scenarios::retry_policy;
use crate::service::ATTEMPTS;
use crate::support::{MS, waited};

fn r4() -> Check {
    retry::draws_anew(&retry_policy(), LINK, Noise::default())
}

fn convicted(finding: &Finding) {
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.bug_class.as_deref().is_some_and(|c| c.contains("seeded with a constant")), "{finding:#?}");
    assert!(finding.chance.and_then(|c| c.probability()).is_some_and(|p| p <= 1e-7), "{finding:#?}");
    assert!(!finding.lines.is_empty() && finding.lines.iter().all(|l| l.key.is_some()), "{finding:#?}");
}

/// Proves that new draws pass and that repeated ones fail, under noise that is large against the base, in the order of
/// the first run and in the reverse one, for a hundred payments and for twenty.
#[test]
fn repeated_draws_are_failed_and_new_ones_passed() {
    for seed in 0..10 {
        let sound = r4().judge(&played(&anew(Policy::Full, 100, seed)));
        assert_eq!(sound.ruling, Ruling::Pass, "{sound:#?}");
        convicted(&r4().judge(&played(&again(100, seed, typical, |_| ()))));
        convicted(&r4().judge(&played(&again(100, seed, typical, |rows| rows.reverse()))));
        convicted(&r4().judge(&played(&again(20, seed, typical, |_| ()))));
    }
}

/// Proves that draws which return in other payments than before, as from one generator that all requests share, are seen
/// by the pooled distance where no payment has a partner.
#[test]
fn draws_that_change_hands_are_seen_by_the_pool() {
    let rotate = |rows: &mut Vec<Vec<f64>>| {
        let old = rows.clone();
        let n = old.len();
        for (i, row) in rows.iter_mut().enumerate() {
            *row = (0..row.len()).map(|k| old[(i + 7 * k) % n][k]).collect();
        }
    };
    let finding = r4().judge(&played(&again(100, 3, quiet, rotate)));
    convicted(&finding);
    assert!(finding.headline.contains("differ by"), "{}", finding.headline);
}

/// Proves that what repeats within one start is left to R2: without jitter, with one seed for all, with one draw for all
/// retries of a payment R4 neither fails nor passes.
#[test]
fn a_herd_that_draws_alike_is_not_the_restarts() {
    for policy in [Policy::FixedExponential, Policy::Immediate, Policy::SharedSeed, Policy::OneDrawPerClient] {
        let finding = r4().judge(&played(&anew(policy, 100, 4)));
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{policy}: {finding:#?}");
        assert!(finding.advice.is_some_and(|a| a.contains("R2")), "{policy}");
    }
}

/// Proves every doubt: too few payments, missing gaps, a fault that fired too seldom, no canary, a pause, echoes so late
/// that a repetition would be torn apart, a law without jitter, and a scenario that did not run.
#[test]
fn doubts() {
    let sound = |clients| played(&anew(Policy::Full, clients, 5));
    let doubted = |evidence: &Evidence, word: &str| {
        let finding = r4().judge(evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{word}: {finding:#?}");
        assert!(finding.headline.contains(word) && finding.advice.is_some(), "{word}: {}", finding.headline);
    };
    doubted(&sound(40), "only 40 payments");
    let mut evidence = sound(100);
    evidence.attempts.retain(|a| a.ordinal < ATTEMPTS as u32);
    doubted(&evidence, "gaps of start/1 are missing");
    let mut evidence = sound(100);
    evidence.faults[0].fired -= 1;
    doubted(&evidence, "struck");
    let mut evidence = sound(100);
    evidence.canary.clear();
    doubted(&evidence, "no canary");
    let mut evidence = sound(100);
    evidence.canary[0].max_ns = 61 * MS;
    doubted(&evidence, "paused");
    evidence.canary[0] = judge::evidence::Canary { max_ns: 30 * MS, p99_ns: 20 * MS, ..evidence.canary[0].clone() };
    doubted(&evidence, "would not show");
    let mut evidence = sound(100);
    evidence.canary.push(waited(61));
    doubted(&evidence, "waited");
    evidence.canary[1].max_ns = 60 * MS;
    assert_eq!(r4().judge(&evidence).ruling, Ruling::Pass, "sums of short waits hide no repetition");
    let mut evidence = sound(100);
    evidence.outcomes.retain(|o| o.step == "start/1");
    doubted(&evidence, "did not run");
    let policy = RetryPolicy { backoff: Law::immediate(), ..retry_policy() };
    let finding = retry::draws_anew(&policy, LINK, Noise::default()).judge(&sound(100));
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
}

/// Proves that two replicas are told from two starts by whom the client asked: shared draws are failed as a shared seed, and
/// draws of their own pass.
#[test]
fn replicas_are_told_from_restarts() {
    let second = |mut e: Evidence| {
        e.outcomes.iter_mut().filter(|o| o.step == "start/2").for_each(|o| o.replica = Some(2));
        e
    };
    let shared = r4().judge(&second(played(&again(100, 5, |_| 0.0, |_| ()))));
    assert_eq!(shared.ruling, Ruling::Fail, "{shared:#?}");
    assert!(shared.headline.starts_with("the waits of the second replica are those of the first"), "{shared:#?}");
    assert!(shared.bug_class.as_deref().is_some_and(|c| c.starts_with("replicas that share a seed")), "{shared:#?}");
    let own = r4().judge(&second(played(&anew(Policy::Full, 100, 5))));
    assert_eq!(own.ruling, Ruling::Pass, "{own:#?}");
    assert!(own.headline.contains("second replica"), "{}", own.headline);
}
