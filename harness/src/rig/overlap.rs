//! Calls that overlap a change of the breaker's state: sent before it, answered after it.

use std::time::Duration;

use mock_bank::{Reply, Rule as BankRule, Script};

use super::window::Window;
use super::{Rig, RigError};
use crate::faults::Fault;
use crate::load::Load;

/// The longest that is waited for calls to be held, or for one to be answered.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls whose answers wait at the proxy.
#[derive(Debug)]
pub struct Late<'r> {
    rig: &'r Rig,
    window: &'r Window,
}

impl Late<'_> {
    /// Lets the answer go that waits longest, and waits until its caller has it: the service has then seen it.
    ///
    /// # Errors
    /// When a proxy that runs elsewhere does not answer.
    pub async fn release_one(&self) -> Result<(), RigError> {
        let before = self.rig.client.answered();
        self.window.release_one().await?;
        self.rig.until(PATIENCE, || async { Ok(self.rig.client.answered() > before) }).await
    }
}

impl Rig {
    /// Runs a load whose answers are held from the begin on, does `then` while they are, and lets the rest go. With
    /// `failing` the dependency itself answers 500 to these calls; what `then` sends is answered as ever.
    ///
    /// # Errors
    /// Those of `then`, or when requests cannot be built or a rule is refused.
    pub async fn with_late(
        &self,
        load: Load,
        failing: bool,
        then: impl AsyncFnOnce(&Rig, &Late<'_>) -> Result<(), RigError>,
    ) -> Result<(), RigError> {
        let calls = load.planned();
        let window = self.arm(&Fault::HoldReply.always().only(calls), "late").await?;
        if failing {
            self.script_bank(&Script::new().rule(BankRule::any().reply(Reply::status(500)))).await?;
        }
        let steer = async {
            self.until(PATIENCE, || async { Ok(window.held().await? >= calls) }).await?;
            if failing {
                self.script_bank(&Script::new()).await?;
            }
            let done = then(self, &Late { rig: self, window: &window }).await;
            window.heal().await;
            done
        };
        let (driven, done) = tokio::join!(self.drive(load), steer);
        self.let_stragglers_end().await;
        done.and(driven.map(drop))
    }

    /// As [`Rig::trip`], while other calls are held: failing calls one after another until two are rejected.
    ///
    /// # Errors
    /// When the contract promises no breaker, or requests cannot be built.
    pub async fn fail_until_open(&self, step: impl Into<String>, planned: usize) -> Result<(), RigError> {
        let load = Load::until_open(step, self.breaker_policy()?.threshold as usize + super::breaker::PATIENCE);
        let window = self.arm(&self.failing().planned(planned), "fault").await?;
        let done = self.drive(load).await;
        window.heal().await;
        done.map(drop)
    }

    /// Holds the probes, releases one late answer while they are held, sends `during` behind it, and lets the probes go.
    ///
    /// # Errors
    /// When requests cannot be built or the rule is refused.
    pub async fn late_while_probing(&self, probe: Load, late: &Late<'_>, during: Load) -> Result<(), RigError> {
        let limit = self.hold_limit();
        let window = self.arm_hold(limit).await?;
        let (callers, before) = (probe.planned(), self.client.answered());
        let steer = async {
            self.until_held_or_answered(PATIENCE, &window, callers, before).await?;
            late.release_one().await?;
            let (callers, before) = (during.planned() + window.held().await?, self.client.answered());
            let gate = async {
                let settled = self.until_held_or_answered(PATIENCE, &window, callers, before).await;
                window.heal().await;
                settled
            };
            let (driven, settled) = tokio::join!(self.drive(during), gate);
            settled.and(driven)
        };
        let (probed, driven) = tokio::join!(self.drive(probe), steer);
        probed.and(driven).map(drop)
    }
}
