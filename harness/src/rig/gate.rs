//! Putting faults in force, and waiting for what they hold.

use std::time::Duration;

use chaos_proxy::{Fault as Strike, Rule};

use super::window::Window;
use super::{Rig, RigError};
use crate::faults::Disturbance;

/// The longest that a held call waits for the others to be answered.
const HOLD: Duration = Duration::from_secs(2);
/// How often a condition is looked at that no channel announces.
const LOOK: Duration = Duration::from_millis(1);

impl Rig {
    /// Puts a disturbance in force.
    pub(super) async fn arm(&self, disturbance: &Disturbance, word: &str) -> Result<Window, RigError> {
        self.arm_on(self.link(), disturbance, word).await
    }

    /// The same on another link, where the disturbance itself names none.
    pub(super) async fn arm_on(&self, link: &str, disturbance: &Disturbance, word: &str) -> Result<Window, RigError> {
        let rule = disturbance.rule(self.rule_id(word), link);
        Window::arm(&self.wire, rule, disturbance.plans(), &self.tape, self.clock).await
    }

    /// Holds calls to the main dependency, each for `limit` at most.
    pub(super) async fn arm_hold(&self, limit: Duration) -> Result<Window, RigError> {
        let timeout_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let rule = Rule::new(self.rule_id("hold"), Strike::hold(timeout_ms)).link(self.link());
        Window::arm(&self.wire, rule, 1, &self.tape, self.clock).await
    }

    /// Waits until that many callers are held or have been answered since `before`, at most for so long.
    pub(super) async fn until_held_or_answered(
        &self,
        limit: Duration,
        window: &Window,
        callers: usize,
        before: u64,
    ) -> Result<(), RigError> {
        let settled =
            || async { Ok(window.held().await? as u64 + (self.client.answered() - before) >= callers as u64) };
        self.until(limit, settled).await
    }

    /// Waits for a condition that no channel announces, at most for so long.
    pub(super) async fn until<F>(&self, limit: Duration, done: impl Fn() -> F) -> Result<(), RigError>
    where
        F: Future<Output = Result<bool, RigError>>,
    {
        let deadline = self.now() + limit;
        while !done().await? && self.now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// Less than the service waits for an answer, and than it takes for slow.
    pub(super) fn hold_limit(&self) -> Duration {
        let promises = &self.contract().promises;
        let timeout = promises.retry.as_ref().and_then(|r| r.attempt_timeout);
        let slow = promises.breaker.as_ref().and_then(|b| b.slow_call);
        [timeout, slow].into_iter().flatten().map(|t| t.mul_f64(0.8)).fold(HOLD, Duration::min)
    }
}
