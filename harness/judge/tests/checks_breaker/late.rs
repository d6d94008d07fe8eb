//! The scenarios in which calls overlap the breaker's changes of state, on the simulated stage.

use judge::evidence::Evidence;
use judge::promise::{BreakerPolicy, CallEnd, Failure, OutcomeClass};

use super::machine::Defect;
use super::scenarios::{below, open_it, start_over, times};
use super::stage::{Bank, EPS_MS, Flying, Stage, part};
use crate::support::MS;

const FAILING: Bank = Bank::Status(500);

/// Calls that were sent while closed and end while open, and while the probes are held.
pub fn late(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-late", seed);
    for (x, bank) in [("succeeds", Bank::Good), ("fails", FAILING)] {
        cycle(&mut stage, x, bank);
    }
    stage.read_events();
    stage.read_endpoint();
    stage.evidence
}

fn cycle(stage: &mut Stage, x: &str, bank: Bank) {
    let step = |base: &str| format!("{base}/{x}");
    below(stage, &step("below"));
    let sent = stage.now;
    let late: Vec<_> = (0..2).filter_map(|i| stage.let_in(&step("late"), sent + i * MS)).collect();
    stage.wait_until(sent + 10 * MS);
    open_it(stage, &step("trip"));
    let opened = stage.opened;
    stage.wait_until(opened + part(stage.policy.open, 0.4));
    let mut late = late.into_iter();
    if let Some(call) = late.next() {
        let answered = stage.land(&step("late"), call, bank, stage.now);
        stage.wait_until(answered + MS);
    }
    times(stage, &step("open"), 3, Bank::Good);
    stage.wait_until(opened + 300 * MS);
    stage.read_endpoint();
    stage.wait_until(opened + part(stage.policy.open, 1.0) + EPS_MS * MS);
    let probes = come(stage, &step("probe"), stage.policy.probes as usize + 2);
    if let Some(call) = late.next() {
        let answered = stage.land(&step("late"), call, bank, stage.now);
        stage.wait_until(answered + MS);
    }
    let during = come(stage, &step("during"), 4);
    let released = stage.now + MS;
    let mut last = released;
    for (name, calls) in [("probe", probes), ("during", during)] {
        for call in calls {
            last = last.max(stage.land(&step(name), call, Bank::Good, released));
        }
    }
    stage.wait_until(last + MS);
    times(stage, &step("closed"), 3, Bank::Good);
    stage.wait_until(stage.now + 3 * part(stage.policy.open, 1.0));
    times(stage, &step("settle"), stage.policy.probes as usize + 1, Bank::Good);
}

fn come(stage: &mut Stage, step: &str, callers: usize) -> Vec<Flying> {
    let begin = stage.now;
    let flying: Vec<_> = (0..callers as u64).filter_map(|i| stage.let_in(step, begin + i * 10_000)).collect();
    stage.wait_until(begin + 25 * MS);
    flying
}

/// Calls that overlap and fail together, and calls behind them.
pub fn crowd(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = crowded(policy, defect, seed);
    open_it(&mut stage, "after/1");
    stage.evidence
}

/// The crowd alone.
pub fn crowded(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Stage {
    let mut stage = Stage::new(policy, defect, "breaker-crowd", seed);
    times(&mut stage, "good", 2, Bank::Good);
    let calls = come(&mut stage, "crowd/1", policy.threshold as usize + 15);
    let (released, mut last) = (stage.now, 0);
    for call in calls {
        last = last.max(stage.land("crowd/1", call, FAILING, released));
    }
    stage.wait_until(last + MS);
    stage
}

/// Every declared end of a call.
pub fn outcomes(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Evidence {
    let mut stage = Stage::new(policy, defect, "breaker-outcomes", seed);
    for (end, class) in policy.classified() {
        let bank = match end {
            CallEnd::Slow => Bank::Slow,
            CallEnd::Fails(Failure::Status(status)) => Bank::Status(status),
            CallEnd::Fails(Failure::Hang) => Bank::Hangs,
            CallEnd::Fails(_) => Bank::Refuses,
        };
        case(&mut stage, &end.to_string(), bank, class);
    }
    stage.evidence
}

fn case(stage: &mut Stage, x: &str, bank: Bank, class: OutcomeClass) {
    let step = |base: &str| format!("{base}/{x}");
    let (threshold, probes) = (stage.policy.threshold as usize, stage.policy.probes as usize);
    start_over(stage, &step("fresh"));
    if class == OutcomeClass::Failure {
        for _ in 0..threshold {
            stage.call(&step("trip"), bank);
        }
        times(stage, &step("open"), 2, Bank::Good);
    } else {
        times(stage, &step("count"), threshold + 1, bank);
        below(stage, &step("below"));
        stage.call(&step("between"), bank);
        open_it(stage, &step("trip"));
    }
    stage.wait_until(stage.opened + part(stage.policy.open, 1.0) + EPS_MS * MS);
    match class {
        OutcomeClass::Failure => {
            stage.call(&step("fate"), bank);
            times(stage, &step("after"), 3, Bank::Good);
        }
        OutcomeClass::Success => {
            times(stage, &step("fate"), probes, bank);
            times(stage, &step("after"), 3, Bank::Good);
        }
        OutcomeClass::Ignored => {
            stage.call(&step("fate"), bank);
            stage.burst_held(&step("after"), probes + 3);
        }
    }
    stage.wait_until(stage.now + part(stage.policy.open, 3.0 * stage.policy.growth.powi(2)));
    times(stage, &step("settle"), probes + 1, Bank::Good);
}
