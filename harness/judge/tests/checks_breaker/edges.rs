//! Where evidence does not suffice, and where it is unusual.

use judge::Ruling;
use judge::checks::breaker;
use judge::evidence::*;
use judge::promise::Noise;

use crate::machine::Defect;
use crate::policy;
use crate::scenarios::{checks, recovery, relapse, run_trip, trip};
use crate::stage::Stage;
use crate::support::MS;

fn rulings(evidence: &Evidence) -> Vec<(String, Ruling)> {
    let found = checks(&policy(), &evidence.header.scenario);
    found.iter().map(|c| c.judge(evidence)).map(|f| (f.check, f.ruling)).collect()
}

fn all(evidence: &Evidence, ruling: Ruling) {
    for (check, found) in rulings(evidence) {
        assert_eq!(found, ruling, "{check}");
    }
}

/// Proves that nothing seen is no pass: every check is inconclusive on empty evidence, and says what to do.
#[test]
fn empty_evidence_is_inconclusive() {
    for scenario in ["breaker-trip", "breaker-recovery", "breaker-relapse"] {
        let stage = Stage::new(&policy(), Defect::None, scenario, 1);
        for check in checks(&policy(), scenario) {
            let finding = check.judge(&stage.evidence);
            assert_eq!(finding.ruling, Ruling::Inconclusive, "{}", finding.check);
            assert!(!finding.headline.is_empty() && finding.advice.is_some(), "{finding:#?}");
        }
    }
}

/// Proves that another link's traffic is not this link's: a contract that names the wrong link gets no pass.
#[test]
fn the_wrong_link_gets_no_pass() {
    let evidence = recovery(&policy(), Defect::None, 1);
    for check in
        [breaker::half_open_single_probe(&policy(), "ledger"), breaker::probe_success_resets(&policy(), "ledger")]
    {
        assert_eq!(check.judge(&evidence).ruling, Ruling::Inconclusive);
    }
}

/// Proves that a pause beyond the noise bound excuses lateness and nothing else: counting checks still rule, a slow
/// rejection is inconclusive, a leaked call still fails.
#[test]
fn a_pause_excuses_time_but_not_counts() {
    let pause = |mut evidence: Evidence| {
        evidence.canary[0].max_ns = 61 * MS;
        evidence
    };
    let quiet_counts = |check: &str| ["B1", "B4", "B6", "B12"].contains(&check);
    for evidence in [trip, recovery, relapse].map(|run| pause(run(&policy(), Defect::None, 3))) {
        for (check, ruling) in rulings(&evidence) {
            let expected = if quiet_counts(&check) { Ruling::Pass } else { Ruling::Inconclusive };
            assert_eq!(ruling, expected, "{check}");
        }
    }
    let b2 = |defect| {
        let evidence = pause(trip(&policy(), defect, 3));
        breaker::open_fails_fast(&policy(), "bank", Noise::default()).judge(&evidence)
    };
    assert_eq!(b2(Defect::SlowReject).ruling, Ruling::Inconclusive);
    assert!(b2(Defect::SlowReject).headline.contains("paused"), "{}", b2(Defect::SlowReject).headline);
    assert_eq!(b2(Defect::Leaks).ruling, Ruling::Fail);
    let stuck = pause(recovery(&policy(), Defect::NeverHalfOpens, 3));
    assert_eq!(breaker::half_open_single_probe(&policy(), "bank").judge(&stuck).ruling, Ruling::Inconclusive);
}

/// Proves that without a canary no verdict rests on time.
#[test]
fn without_a_canary_time_is_not_judged() {
    let mut evidence = trip(&policy(), Defect::None, 4);
    evidence.canary.clear();
    let finding = breaker::open_fails_fast(&policy(), "bank", Noise::default()).judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive);
    assert!(finding.headline.contains("no canary"), "{}", finding.headline);
}

/// Proves that attempts find their calls by key alone, by trace alone, and by time where the service hands on
/// nothing.
#[test]
fn joins_by_key_trace_or_time() {
    for hands_on in [(true, false), (false, true), (false, false)] {
        let mut stage = Stage::new(&policy(), Defect::None, "breaker-trip", 5);
        stage.hands_on = hands_on;
        run_trip(&mut stage);
        all(&stage.evidence, Ruling::Pass);
    }
}

/// Proves that traffic of the service's own, such as a health check of the bank while the breaker is open, is no
/// leak.
#[test]
fn unexplained_traffic_is_no_leak() {
    let mut evidence = trip(&policy(), Defect::None, 6);
    let open = evidence.outcomes_of("open")[3].clone();
    let mut ping = evidence.attempts[0].clone();
    (ping.key, ping.context, ping.method) = (None, None, "GET".into());
    (ping.arrived, ping.reply.ended) = (At(open.sent.0 + 1), At(open.sent.0 + 2));
    evidence.attempts.push(ping);
    all(&evidence, Ruling::Pass);
}

/// Proves the allowance for calls in flight: when the trip's calls overlap, as many as were under way at the
/// threshold-th failure may arrive on top, and one more is too many.
#[test]
fn overlapping_calls_get_an_allowance() {
    let overlapping = |extra: u64| {
        let mut evidence = recovery(&policy(), Defect::None, 7);
        let first: Vec<_> = evidence.outcomes_of("trip/1").into_iter().take(5).cloned().collect();
        let (template, mut attempt) = (first[4].clone(), evidence.attempts[4].clone());
        for i in 0..extra {
            let mut call = template.clone();
            call.seq = 10_000 + i;
            call.key = Some(format!("extra-{i}"));
            call.context.trace = TraceId([9, i as u8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
            attempt.key.clone_from(&call.key);
            attempt.context = Some(call.context);
            attempt.seq = 10_000 + i;
            evidence.attempts.push(attempt.clone());
            // It was sent with the fifth call and answered after it, so it was in flight when that failed.
            call.ended = At(call.ended.0 + 100_000);
            evidence.outcomes.push(call);
        }
        breaker::trips_at_threshold(&policy(), "bank").judge(&evidence)
    };
    for extra in 0..4 {
        let finding = overlapping(extra);
        assert_eq!(finding.ruling, Ruling::Pass, "{extra}: {finding:#?}");
    }
    // Sequential calls get none: the sixth was sent after the fifth was answered.
    let late = recovery(&policy(), Defect::OpensLate, 7);
    assert_eq!(breaker::trips_at_threshold(&policy(), "bank").judge(&late).ruling, Ruling::Fail);
}

/// Proves that a probe which nobody held says nothing about how many would have passed.
#[test]
fn a_hold_that_never_fired_is_inconclusive() {
    let mut evidence = recovery(&policy(), Defect::None, 8);
    evidence.attempts.iter_mut().for_each(|a| a.fault = None);
    let finding = breaker::half_open_single_probe(&policy(), "bank").judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive);
    assert!(finding.headline.contains("none was held"), "{}", finding.headline);
}

/// Proves that a contract without an attempt timeout gets an answer that says what is missing.
#[test]
fn b7_without_a_hanging_probe_says_so() {
    let mut evidence = relapse(&policy(), Defect::None, 9);
    evidence.outcomes.retain(|o| !o.step.ends_with("/hangs"));
    let finding = breaker::probe_never_answers(&policy(), "bank", Noise::default()).judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive);
    assert!(finding.headline.contains("attempt timeout"), "{}", finding.headline);
}

/// Proves that the endpoint is refuted by the wire, by state and by counter, and that a span's claim is not read.
#[test]
fn the_endpoint_is_compared_with_the_wire() {
    let judged = |change: &dyn Fn(&mut BreakerReading)| {
        let mut evidence = trip(&policy(), Defect::None, 10);
        assert!(evidence.breakers.len() > 1);
        evidence.breakers.iter_mut().for_each(change);
        breaker::state_is_truthful(&policy(), "bank").judge(&evidence)
    };
    assert_eq!(judged(&|_| {}).ruling, Ruling::Pass);
    assert_eq!(judged(&|r| r.state = BreakerState::Closed).ruling, Ruling::Fail);
    assert_eq!(judged(&|r| r.state = BreakerState::Open).ruling, Ruling::Fail);
    assert_eq!(judged(&|r| r.not_permitted = r.not_permitted.map(|_| 0)).ruling, Ruling::Fail);
    assert_eq!(judged(&|r| r.source = "span".into()).ruling, Ruling::Inconclusive);
    assert_eq!(judged(&|r| r.state = BreakerState::Unknown).ruling, Ruling::Pass);
}
