//! Each declared end of a call, closed and half-open.

use std::time::Duration;

use judge::checks::{Check, breaker};
use judge::promise::{BreakerPolicy, CallEnd, Failure, OutcomeClass};

use super::super::scenario::Scenario;
use super::{half_opens, start_over};
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// How much slower than declared a slow call is.
const SLOWER: Duration = Duration::from_millis(20);
/// Callers beside the probes behind an ignored one.
const COMPANIONS: usize = 3;

/// Each declared end of a call.
pub static BREAKER_OUTCOMES: Scenario = Scenario {
    name: "breaker-outcomes",
    isolation: Isolation::Breaker,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| half_opens(contract) && declares(contract),
    run: |rig| Box::pin(run(rig)),
    checks,
};

fn declares(contract: &Contract) -> bool {
    contract.promises.breaker.as_ref().is_some_and(|b| !b.classified().is_empty())
}

/// What the wire says of a state is told by errors, which here may count as anything: state checks stay out.
fn checks(contract: &Contract) -> Vec<Check> {
    let policy = contract.promises.breaker.as_ref();
    let check = |policy| breaker::outcomes_count_as_declared(policy, contract.main_link(), contract.noise);
    policy.map(check).into_iter().collect()
}

async fn run(rig: &Rig) -> Result<(), RigError> {
    let policy = rig.breaker_policy()?.clone();
    for (end, class) in policy.classified() {
        let case = Case { rig, policy: &policy, x: end.to_string(), end, class };
        case.closed().await?;
        rig.wait_half_open().await?;
        case.half_open().await?;
        case.settle().await?;
    }
    Ok(())
}

struct Case<'r> {
    rig: &'r Rig,
    policy: &'r BreakerPolicy,
    x: String,
    end: CallEnd,
    class: OutcomeClass,
}

impl Case<'_> {
    fn step(&self, base: &str) -> String {
        format!("{base}/{}", self.x)
    }

    fn fault(&self) -> Fault {
        match self.end {
            CallEnd::Fails(failure) => failure.into(),
            CallEnd::Slow => Fault::Slow(self.policy.slow_call.unwrap_or_default() + SLOWER),
        }
    }

    /// Ends that take their time come together; the others one after another.
    fn load(&self, base: &str, n: usize) -> Load {
        match self.end {
            CallEnd::Slow | CallEnd::Fails(Failure::Hang) => Load::burst(self.step(base), n),
            CallEnd::Fails(_) => Load::sequence(self.step(base), n),
        }
    }

    /// `n` calls that end so.
    async fn meet(&self, base: &str, n: usize) -> Result<(), RigError> {
        let load = self.load(base, n);
        self.rig.during(self.fault().always().planned(n), async |rig| rig.drive(load).await).await.map(drop)
    }

    async fn closed(&self) -> Result<(), RigError> {
        let (rig, threshold) = (self.rig, self.policy.threshold as usize);
        start_over(rig, self.policy, &self.step("fresh")).await?;
        if self.class == OutcomeClass::Failure {
            self.meet("trip", threshold).await?;
            rig.drive(Load::sequence(self.step("open"), 2)).await?;
            return Ok(());
        }
        self.meet("count", threshold + 1).await?;
        rig.fail_below_threshold(self.step("below")).await?;
        self.meet("between", 1).await?;
        rig.fail_until_open(self.step("trip"), 1).await
    }

    async fn half_open(&self) -> Result<(), RigError> {
        let (rig, probes) = (self.rig, self.policy.probes as usize);
        let after = self.step("after");
        self.meet("fate", if self.class == OutcomeClass::Success { probes } else { 1 }).await?;
        if self.class == OutcomeClass::Ignored {
            rig.hold_while(Load::burst(after, probes + COMPANIONS)).await?;
        } else {
            rig.drive(Load::sequence(after, 3)).await?;
        }
        Ok(())
    }

    /// Closed again, whatever it was.
    async fn settle(&self) -> Result<(), RigError> {
        if self.class == OutcomeClass::Failure {
            self.rig.wait_open(self.policy.open.mul_f64(self.policy.growth)).await;
        }
        self.rig.drive(Load::sequence(self.step("settle"), self.policy.probes as usize)).await?;
        Ok(())
    }
}
