//! Calls that overlap a change of the breaker's state: sent before it, answered after it.

use std::time::Duration;

use chaos_proxy::{Fault as Strike, Rule};
use mock_bank::{Reply, Rule as BankRule, Script};

use super::window::Window;
use super::{Rig, RigError};
use crate::faults::Fault;
use crate::load::Load;

/// The longest that is waited for calls to be held, or for one to be answered.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often a condition is looked at that no channel announces.
const LOOK: Duration = Duration::from_millis(1);

/// Calls whose answers wait at the proxy.
#[derive(Debug)]
pub struct Late<'r> {
    rig: &'r Rig,
    window: &'r Window,
}

impl Late<'_> {
    /// Lets the answer go that waits longest, and waits until its caller has it: the service has then seen it.
    pub async fn release_one(&self) {
        let before = self.rig.client.answered();
        self.window.release_one();
        self.rig.until(PATIENCE, || self.rig.client.answered() > before).await;
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
        let id = self.rule_id("late");
        let window = Window::arm(&self.proxy, &Fault::HoldReply.always().only(calls), id, self.link(), &self.tape)?;
        if failing {
            self.script_bank(&Script::new().rule(BankRule::any().reply(Reply::status(500))))?;
        }
        let steer = async {
            self.until(PATIENCE, || window.held() >= calls).await;
            if failing {
                self.script_bank(&Script::new())?;
            }
            let done = then(self, &Late { rig: self, window: &window }).await;
            window.heal();
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
        let (failing, id) = (self.failing().planned(planned), self.rule_id("fault"));
        let window = Window::arm(&self.proxy, &failing, id, self.link(), &self.tape)?;
        let done = self.drive(load).await;
        window.heal();
        done.map(drop)
    }

    /// Holds the probes, releases one late answer while they are held, sends `during` behind it, and lets the probes go.
    ///
    /// # Errors
    /// When requests cannot be built or the rule is refused.
    pub async fn late_while_probing(&self, probe: Load, late: &Late<'_>, during: Load) -> Result<(), RigError> {
        let limit = self.hold_limit();
        let timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let rule = Rule::new(self.rule_id("hold"), Strike::hold(timeout_ms)).link(self.link());
        let window = Window::of(self.proxy.arm(rule)?, 1, &self.tape);
        let (callers, before) = (probe.planned(), self.client.answered());
        let steer = async {
            self.until_held_or_answered(&window, callers, before).await;
            late.release_one().await;
            let (callers, before) = (during.planned() + window.held(), self.client.answered());
            let gate = async {
                self.until_held_or_answered(&window, callers, before).await;
                window.heal();
            };
            let (driven, ()) = tokio::join!(self.drive(during), gate);
            driven
        };
        let (probed, driven) = tokio::join!(self.drive(probe), steer);
        probed.and(driven).map(drop)
    }

    async fn until_held_or_answered(&self, window: &Window, callers: usize, before: u64) {
        let settled = || window.held() as u64 + (self.client.answered() - before) >= callers as u64;
        self.until(PATIENCE, settled).await;
    }

    async fn until(&self, limit: Duration, done: impl Fn() -> bool) {
        let deadline = self.now() + limit;
        while !done() && self.now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
    }
}
