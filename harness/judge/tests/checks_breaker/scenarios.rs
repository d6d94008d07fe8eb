//! The battery's three breaker scenarios on the simulated stage, with the step names of the guide.

use judge::Finding;
use judge::checks::{Check, breaker};
use judge::evidence::Evidence;
use judge::promise::{BreakerMode, BreakerPolicy, Noise};

use super::machine::Defect;
use super::stage::{Bank, EPS_MS, Stage, part};
use crate::support::MS;

const FAILING: Bank = Bank::Status(500);

pub fn times(stage: &mut Stage, step: &str, n: usize, bank: Bank) {
    for _ in 0..n {
        stage.call(step, bank);
    }
}

pub fn start_over(stage: &mut Stage, step: &str) {
    if let (BreakerMode::Window, Some(window)) = (stage.policy.mode, stage.policy.window) {
        stage.wait_until(stage.now + part(window, 1.0) + EPS_MS * MS);
    }
    stage.call(step, Bank::Good);
}

pub fn below(stage: &mut Stage, step: &str) {
    times(stage, step, stage.policy.threshold as usize - 1, FAILING);
}

pub fn open_it(stage: &mut Stage, step: &str) {
    let mut rejected = 0;
    for _ in 0..stage.policy.threshold + 5 {
        rejected += u32::from(!stage.call(step, FAILING));
        if rejected == 2 {
            return;
        }
    }
}

fn calls_until(stage: &mut Stage, step: &str, end: u64, pace: u64) {
    while stage.now < end {
        let next = stage.now + pace;
        stage.call(step, Bank::Good);
        stage.wait_until(next);
    }
}

pub fn trip(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-trip", seed);
    run_trip(&mut stage);
    stage.evidence
}

pub fn run_trip(stage: &mut Stage) {
    times(stage, "good", 3, Bank::Good);
    below(stage, "below");
    start_over(stage, "reset");
    below(stage, "below-again");
    start_over(stage, "closed");
    stage.wait_until(stage.now + 200 * MS);
    stage.read_endpoint();
    stage.wait_until(stage.now + 200 * MS);
    open_it(stage, "trip");
    for _ in 0..20 {
        stage.call("open", Bank::Good);
    }
    stage.wait_until(stage.opened + 150 * MS);
    stage.read_endpoint();
}

pub fn recovery(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-recovery", seed);
    for c in 1..=3 {
        open_it(&mut stage, &format!("trip/{c}"));
        let (opened, open) = (stage.opened, policy.open);
        stage.wait_until(opened + part(open, 0.75));
        calls_until(&mut stage, &format!("early/{c}"), opened + part(open, 1.0) - 20 * MS, part(open, 0.025));
        stage.wait_until(opened + part(open, 1.0) + EPS_MS * MS);
        stage.burst_held(&format!("probe/{c}"), 32);
        times(&mut stage, &format!("closed/{c}"), 3, Bank::Good);
        below(&mut stage, &format!("below/{c}"));
        start_over(&mut stage, &format!("alive/{c}"));
    }
    stage.evidence
}

pub fn relapse(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-relapse", seed);
    for (fate, bank) in [("fails", FAILING), ("refused", Bank::Refuses), ("hangs", Bank::Hangs)] {
        open_it(&mut stage, &format!("trip/{fate}"));
        let open = policy.open;
        stage.wait_until(stage.opened + part(open, 1.0) + EPS_MS * MS);
        stage.call(&format!("fate/{fate}"), bank);
        let (opened, open) = (stage.opened, open.mul_f64(policy.growth));
        calls_until(&mut stage, &format!("reopened/{fate}"), opened + part(open, 0.75), part(open, 0.02));
        stage.wait_until(opened + part(open, 1.0) + EPS_MS * MS);
        stage.burst_held(&format!("probe/{fate}"), 32);
        times(&mut stage, &format!("closed/{fate}"), 3, Bank::Good);
    }
    stage.evidence
}

/// The checks that the battery runs over each scenario.
pub fn checks(policy: &BreakerPolicy, scenario: &str) -> Vec<Check> {
    let (link, noise) = ("bank", Noise::default());
    match scenario {
        "breaker-trip" => vec![
            breaker::trips_at_threshold(policy, link),
            breaker::open_fails_fast(policy, link, noise),
            breaker::state_is_truthful(policy, link),
        ],
        "breaker-recovery" => vec![
            breaker::trips_at_threshold(policy, link),
            breaker::stays_open(policy, link, noise),
            breaker::half_open_single_probe(policy, link),
            breaker::probe_success_resets(policy, link),
        ],
        _ => vec![
            breaker::stays_open(policy, link, noise),
            breaker::half_open_single_probe(policy, link),
            breaker::probe_failure_reopens(policy, link, noise),
            breaker::probe_never_answers(policy, link, noise),
        ],
    }
}

/// All findings of all three scenarios.
pub fn battery(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Vec<Finding> {
    let runs = [trip(policy, defect, seed), recovery(policy, defect, seed), relapse(policy, defect, seed)];
    runs.iter().flat_map(|e| checks(policy, &e.header.scenario).into_iter().map(|c| c.judge(e))).collect()
}

/// Failures spread over more than the window stay below the threshold at every moment; one more within it is enough.
pub fn window(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-window", seed);
    let (begin, span) = (stage.now, part(policy.window.unwrap_or_default(), 1.0));
    stage.call("sparse", FAILING);
    stage.wait_until(begin + span * 7 / 10);
    times(&mut stage, "sparse", policy.threshold as usize - 2, FAILING);
    stage.wait_until(begin + span + 3 * EPS_MS * MS);
    open_it(&mut stage, "trip/slid");
    stage.evidence
}
