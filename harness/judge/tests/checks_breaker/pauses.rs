//! A machine that stands still for longer than the open time: what was to be rejected comes as a probe. A sound breaker lets
//! it through, and no check may hold that against it; a wrong one is told by what came in time.

use judge::Ruling;
use judge::checks::{Check, breaker};
use judge::evidence::{End, Evidence};
use judge::promise::{BreakerPolicy, Noise};

use crate::late::crowded;
use crate::machine::Defect;
use crate::scenarios::{open_it, relapse, times, trip};
use crate::stage::{Bank, EPS_MS, Stage, part};
use crate::support::MS;
use crate::{policy, windowed};

const FAILING: Bank = Bank::Status(500);
const STRUCK: Bank = Bank::Status(429);

/// One declared class, so that nothing else is asked for.
fn declares(outcomes: &str) -> BreakerPolicy {
    let text = format!(r#"{{ "threshold": 5, "open": "500ms", "outcomes": {outcomes} }}"#);
    serde_json::from_str(&text).expect("a policy")
}

fn b9(policy: &BreakerPolicy) -> Check {
    breaker::outcomes_count_as_declared(policy, "bank", Noise::default())
}

fn unclear(check: &Check, evidence: &Evidence, says: &str) {
    let finding = check.judge(evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains(says), "`{says}` is not in `{}`", finding.headline);
}

/// Until a breaker that opened at the last failure may let a probe through.
fn stand_still(stage: &mut Stage) {
    stage.wait_until(stage.opened + part(stage.policy.open, 1.0) + EPS_MS * MS);
}

/// Proves for B1 that a sixth failure which may have been a probe is not one too many, in both ways of counting; and that
/// one which came at once still is.
#[test]
fn a_probe_is_no_failure_too_many() {
    for policy in [policy(), windowed()] {
        let run = |defect, in_time: usize| {
            let mut stage = Stage::new(&policy, defect, "breaker-trip", 3);
            times(&mut stage, "good", 2, Bank::Good);
            times(&mut stage, "trip", policy.threshold as usize + in_time, FAILING);
            stand_still(&mut stage);
            open_it(&mut stage, "trip");
            stage.evidence
        };
        let check = breaker::trips_at_threshold(&policy, "bank");
        unclear(&check, &run(Defect::None, 0), "before the open time may have been over");
        for defect in [Defect::OpensLate, Defect::PerRequest] {
            assert_eq!(check.judge(&run(defect, 1)).ruling, Ruling::Fail, "{defect:?}");
        }
    }
}

/// Proves for B9 that calls which came after the open time do not show that the failures before it went uncounted; and that
/// calls which came within it do.
#[test]
fn late_calls_show_no_uncounted_failure() {
    let policy = declares(r#"{ "failure": [429] }"#);
    let run = |defect, pause: bool| {
        let mut stage = Stage::new(&policy, defect, "breaker-outcomes", 4);
        times(&mut stage, "fresh/429", 1, Bank::Good);
        times(&mut stage, "trip/429", 5, STRUCK);
        if pause {
            stand_still(&mut stage);
        }
        times(&mut stage, "open/429", 2, Bank::Good);
        stand_still(&mut stage);
        times(&mut stage, "fate/429", 1, STRUCK);
        times(&mut stage, "after/429", 3, Bank::Good);
        stage.evidence
    };
    assert_eq!(b9(&policy).judge(&run(Defect::None, false)).ruling, Ruling::Pass);
    assert_eq!(b9(&policy).judge(&run(Defect::FailureNotCounted, false)).ruling, Ruling::Fail);
    for defect in [Defect::None, Defect::FailureNotCounted] {
        unclear(&b9(&policy), &run(defect, true), "no call followed them while a breaker must be open by that");
    }
}

/// Proves for B9 that failures too far apart for the window need not open a breaker, and that neither need those among which
/// a success came.
#[test]
fn failures_that_do_not_add_up_show_nothing() {
    let outcomes = declares(r#"{ "failure": [429] }"#).outcomes;
    let window = BreakerPolicy { outcomes: outcomes.clone(), ..windowed() };
    let mut stage = Stage::new(&window, Defect::None, "breaker-outcomes", 5);
    for _ in 0..5 {
        times(&mut stage, "trip/429", 1, STRUCK);
        stage.wait_until(stage.now + 700 * MS);
    }
    times(&mut stage, "open/429", 2, Bank::Good);
    times(&mut stage, "fate/429", 1, STRUCK);
    unclear(&b9(&window), &stage.evidence, "no call followed them");
    let row = BreakerPolicy { outcomes, ..policy() };
    let mut stage = Stage::new(&row, Defect::None, "breaker-outcomes", 5);
    times(&mut stage, "trip/429", 3, STRUCK);
    times(&mut stage, "trip/429", 1, Bank::Good);
    times(&mut stage, "trip/429", 3, STRUCK);
    times(&mut stage, "open/429", 2, Bank::Good);
    times(&mut stage, "fate/429", 1, STRUCK);
    unclear(&b9(&row), &stage.evidence, "no call followed them");
}

/// Proves for B9 that a breaker which was open before the first call of a step is no witness of what that call counts as.
#[test]
fn a_breaker_that_was_open_before_shows_nothing() {
    let opened = |policy: &BreakerPolicy| {
        let mut stage = Stage::new(policy, Defect::None, "breaker-outcomes", 6);
        open_it(&mut stage, "settle/0");
        stage
    };
    let policy = declares(r#"{ "failure": [429] }"#);
    let mut stage = opened(&policy);
    times(&mut stage, "trip/429", 5, STRUCK);
    stand_still(&mut stage);
    times(&mut stage, "fate/429", 1, STRUCK);
    times(&mut stage, "after/429", 3, Bank::Good);
    unclear(&b9(&policy), &stage.evidence, "it was not closed");
    let policy = declares(r#"{ "success": [402] }"#);
    let mut stage = opened(&policy);
    times(&mut stage, "count/402", 6, Bank::Status(402));
    stand_still(&mut stage);
    times(&mut stage, "fate/402", 1, Bank::Status(402));
    times(&mut stage, "after/402", 3, Bank::Good);
    unclear(&b9(&policy), &stage.evidence, "it was not closed");
}

/// Proves for B10 that calls behind the crowd which may be probes are no overshoot: with none in time nothing is known, with
/// one in time the rest is left out, and updates that were lost are still found.
#[test]
fn a_probe_behind_the_crowd_is_no_overshoot() {
    let check = breaker::overshoot_is_bounded(&policy(), "bank");
    let mut late = crowded(&policy(), Defect::None, 7);
    stand_still(&mut late);
    open_it(&mut late, "after/1");
    unclear(&check, &late.evidence, "while the breaker was surely open");
    let run = |defect| {
        let mut stage = crowded(&policy(), defect, 7);
        times(&mut stage, "after/1", 1, FAILING);
        stand_still(&mut stage);
        open_it(&mut stage, "after/1");
        check.judge(&stage.evidence).ruling
    };
    assert_eq!((run(Defect::None), run(Defect::LostUpdate)), (Ruling::Pass, Ruling::Fail));
}

/// Proves for B2 that a call which was sent while open and arrived when the open time was over is a breach on a quiet machine,
/// and on one that stood still perhaps the probe; one that arrived in time to be rejected is a breach on any.
#[test]
fn a_call_that_came_late_may_be_the_probe() {
    let policy = policy();
    let check = breaker::open_fails_fast(&policy, "bank", Noise::default());
    let admitted = |share: f64, max_ns: u64| {
        let mut evidence = trip(&policy, Defect::None, 3);
        let open = evidence.outcomes.iter().find(|o| o.step == "open").expect("a rejected call").clone();
        let mut late = evidence.attempts.iter().max_by_key(|a| a.reply.ended).expect("an attempt").clone();
        (late.seq, late.key, late.context) = (10_000, None, Some(open.context));
        late.arrived = open.sent + policy.open.mul_f64(share);
        late.reply.ended = late.arrived;
        evidence.attempts.push(late);
        evidence.canary[0].max_ns = max_ns;
        check.judge(&evidence)
    };
    assert_eq!(admitted(1.5, MS).ruling, Ruling::Fail);
    let finding = admitted(1.5, 2 * EPS_MS * MS);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert_eq!(admitted(0.1, 2 * EPS_MS * MS).ruling, Ruling::Fail);
}

/// Proves for B3 that a breaker which opened when its service gave up on a hanging probe is not failed for the time after
/// which a standing machine let the proxy see that; and that on a quiet machine the same is a breach.
#[test]
fn a_departure_seen_late_is_no_short_open_time() {
    let policy = policy();
    let mut evidence = relapse(&policy, Defect::None, 3);
    let left = evidence.attempts.iter_mut().find(|a| a.reply.end == End::ClientLeft).expect("a hanging probe");
    left.reply.ended = left.reply.ended + policy.open.mul_f64(0.6);
    let check = breaker::stays_open(&policy, "bank", Noise::default());
    assert_eq!(check.judge(&evidence).ruling, Ruling::Fail);
    evidence.canary[0].max_ns = 3 * EPS_MS * MS;
    unclear(&check, &evidence, "paused");
}
