//! What is degenerate proves nothing.

use std::time::Duration;

use judge::checks::{Check, retry, trust};
use judge::evidence::{At, Evidence};
use judge::law::Law;
use judge::promise::{BreakerMode, BreakerPolicy, Noise, RetryPolicy};
use judge::{Finding, Ruling};

use crate::breaker::{all_checks, policy};
use crate::payments::retry_policy;
use crate::registry::BY_THE_BOOKS;
use crate::scene::{PLAYED, SCENES};

/// Checks of the run itself: a run in which nothing happened may still have been quiet, and planned no fault.
const OF_THE_RUN: [&str; 2] = ["H1", "H2"];

fn proves_nothing(finding: &Finding, what: &str) {
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{what}: {finding:#?}");
    assert!(!finding.headline.is_empty(), "{what}: {finding:#?}");
    assert!(finding.advice.as_ref().is_some_and(|a| !a.is_empty()), "{what}: {finding:#?}");
}

/// Proves that nothing seen is no pass and no failure, sealed or not, and that the finding says what to do.
#[test]
fn empty_evidence_is_inconclusive() {
    for scene in SCENES.iter() {
        for sealed in [true, false] {
            let nothing = Evidence { sealed, ..Evidence::new(scene.sound.header.clone()) };
            scene.checks.iter().for_each(|c| proves_nothing(&c.judge(&nothing), scene.name));
        }
    }
}

/// Proves that no check passes without its wire (nor those of the books without them), and none without the clients' outcomes,
/// whatever else was recorded.
#[test]
fn no_pass_without_the_witness() {
    for scene in SCENES.iter() {
        let mut unseen = scene.sound.clone();
        (unseen.attempts, unseen.connections) = (Vec::new(), Vec::new());
        let mut unasked = scene.sound.clone();
        unasked.outcomes.clear();
        let mut unbooked = scene.sound.clone();
        (unbooked.ledger, unbooked.bank) = (Vec::new(), Vec::new());
        for check in scene.checks.iter().filter(|c| !OF_THE_RUN.contains(&c.info().id)) {
            let witness = if BY_THE_BOOKS.contains(&check.info().id) { &unbooked } else { &unseen };
            for evidence in [witness, &unasked] {
                let finding = check.judge(evidence);
                assert_ne!(finding.ruling, Ruling::Pass, "{}: {finding:#?}", scene.name);
            }
        }
    }
}

/// Proves that the loss of one whole witness never turns a failure into a pass.
#[test]
fn losing_a_witness_acquits_nobody() {
    type Lose = fn(&mut Evidence);
    let lost: [(&str, Lose); 12] = [
        ("steps", |e| e.steps.clear()),
        ("attempts", |e| e.attempts.clear()),
        ("connections", |e| e.connections.clear()),
        ("outcomes", |e| e.outcomes.clear()),
        ("ledger", |e| e.ledger.clear()),
        ("bank", |e| e.bank.clear()),
        ("spans", |e| e.spans.clear()),
        ("breakers", |e| e.breakers.clear()),
        ("faults", |e| e.faults.clear()),
        ("edges", |e| e.edges.clear()),
        ("canary", |e| e.canary.clear()),
        ("disk", |e| e.disk.clear()),
    ];
    for (scene, name, evidence) in PLAYED.iter() {
        let failed: Vec<&Check> = scene.checks.iter().filter(|c| c.judge(evidence).ruling == Ruling::Fail).collect();
        for (witness, lose) in lost {
            let mut without = (*evidence).clone();
            lose(&mut without);
            if without == **evidence {
                continue;
            }
            for check in &failed {
                let finding = check.judge(&without);
                assert_ne!(finding.ruling, Ruling::Pass, "{name} without {witness}: {finding:#?}");
            }
        }
    }
}

/// Proves that one client shows no law and no herd.
#[test]
fn one_client_is_no_sample() {
    let statistical = ["R2", "R3"];
    for scene in SCENES.iter().filter(|s| ["waves", "herd"].contains(&s.name)) {
        for (name, evidence) in scene.all() {
            let mut one = evidence.clone();
            one.outcomes.truncate(1);
            let trace = one.outcomes[0].context.trace;
            one.attempts.retain(|a| a.context.is_some_and(|c| c.trace == trace));
            for check in scene.checks.iter().filter(|c| statistical.contains(&c.info().id)) {
                proves_nothing(&check.judge(&one), &name);
            }
        }
    }
}

/// Proves that time which stands still, or ends before it began, breaks no check, and that the former passes none that
/// judges by the clock.
#[test]
fn stopped_and_reversed_clocks() {
    let by_the_clock =
        ["R2", "R3", "R4", "R8", "R9", "R14", "I9", "G2", "G3", "S1", "S2", "S3", "T2", "B2", "B3", "B5", "B7", "T1"];
    for (scene, name, evidence) in PLAYED.iter() {
        let mut stopped = (*evidence).clone();
        for attempt in &mut stopped.attempts {
            (attempt.arrived, attempt.reply.ended) = (At(5), At(5));
        }
        stopped.outcomes.iter_mut().for_each(|o| (o.sent, o.ended) = (At(5), At(5)));
        let mut reversed = (*evidence).clone();
        for attempt in &mut reversed.attempts {
            std::mem::swap(&mut attempt.arrived, &mut attempt.reply.ended);
        }
        reversed.outcomes.iter_mut().for_each(|o| std::mem::swap(&mut o.sent, &mut o.ended));
        for check in &scene.checks {
            assert!(!check.judge(&reversed).headline.is_empty(), "{name}");
            let finding = check.judge(&stopped);
            let passed = finding.ruling == Ruling::Pass && by_the_clock.contains(&check.info().id);
            assert!(!passed, "{name}: {finding:#?}");
        }
    }
}

/// Promises at the edge of their types and beyond what a contract accepts.
fn extreme_policies() -> Vec<BreakerPolicy> {
    let mut all = Vec::new();
    for growth in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300] {
        all.push(BreakerPolicy { growth, ..policy() });
    }
    for threshold in [0, 1, u32::MAX] {
        all.push(BreakerPolicy { threshold, ..policy() });
    }
    for open in [Duration::ZERO, Duration::MAX] {
        all.push(BreakerPolicy { open, ..policy() });
        let window = Some(open);
        all.push(BreakerPolicy { mode: BreakerMode::Window, window, fast_fail: open, ..policy() });
    }
    all.push(BreakerPolicy { mode: BreakerMode::Window, window: None, ..policy() });
    all.push(BreakerPolicy { probes: 0, reject: 0, ..policy() });
    all.push(BreakerPolicy { probes: u32::MAX, reject: u16::MAX, ..policy() });
    all
}

/// Proves that no promise, however far out, makes a breaker check panic, and that an open time which nobody can compute
/// passes none of the checks that measure it.
#[test]
fn extreme_breaker_promises_do_not_panic() {
    // The sound breaker and two broken ones of each scene go through every branch that a promise decides.
    let breakers = SCENES.iter().filter(|s| s.name.starts_with("breaker"));
    let played: Vec<_> =
        breakers.flat_map(|s| s.all().take(3).map(move |(name, evidence)| (s, name, evidence))).collect();
    for policy in extreme_policies() {
        for check in all_checks(&policy) {
            for (scene, name, evidence) in &played {
                let finding = check.judge(evidence);
                let measures = scene.name == "breaker-relapse" && ["B3", "B5", "B7"].contains(&check.info().id);
                // What is no factor on a length of time; a growth that is no number lies in no range.
                let senseless = !(0.0..1e300).contains(&policy.growth);
                let passed = finding.ruling == Ruling::Pass && measures;
                assert!(!(passed && senseless), "{name}, growth {}: {finding:#?}", policy.growth);
            }
        }
    }
}

/// Proves the same of promises about retries and of noise bounds: no bound, and one so large that it hides everything.
#[test]
fn extreme_retry_promises_do_not_panic() {
    let law = |text: &str| serde_json::from_str::<Law>(text).expect("a law");
    let laws = [
        Law::immediate(),
        law(r#"{ "law": "full", "base": "1ms", "cap": "1ms" }"#),
        law(r#"{ "law": "full", "base": "24h" }"#),
        law(r#"{ "law": "fixed", "base": "200ms" }"#),
        law(r#"{ "law": "decorrelated", "base": "200ms", "cap": "5s" }"#),
    ];
    for backoff in laws {
        for attempts in [0, 1, 1000, u32::MAX] {
            let policy = RetryPolicy { attempts, backoff: backoff.clone(), retryable: Vec::new(), ..retry_policy() };
            for eps in [Duration::ZERO, Duration::MAX] {
                let noise = Noise { eps };
                let checks: [Check; 5] = [
                    retry::bounded_attempts(&policy, "bank"),
                    retry::backoff_law(&policy, "bank", noise),
                    retry::no_herd(&policy, "bank", noise),
                    retry::retries_only_the_retryable(&policy, "bank"),
                    trust::canary_is_quiet(noise),
                ];
                for scene in SCENES.iter().filter(|s| ["waves", "herd", "retry-table"].contains(&s.name)) {
                    for check in &checks {
                        assert!(!check.judge(&scene.sound).headline.is_empty());
                    }
                }
            }
        }
    }
}
