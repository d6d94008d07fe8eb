//! The verbs of breaker scenarios.

use std::time::Duration;

use super::{Rig, RigError};
use crate::faults::{Disturbance, Fault};
use crate::load::{Asked, Load};

/// Calls beyond the threshold that a trip may take before it is given up.
pub(super) const PATIENCE: usize = 5;

impl Rig {
    /// The fault that breakers count: the dependency answers 500.
    #[must_use]
    pub fn failing(&self) -> Disturbance {
        Fault::Status(500).always()
    }

    /// Failing calls one after another until two are rejected without a call, at most the threshold and some.
    ///
    /// # Errors
    /// When the contract promises no breaker, or requests cannot be built.
    pub async fn trip(&self, step: impl Into<String>) -> Result<Vec<Asked>, RigError> {
        let threshold = self.breaker_policy()?.threshold as usize;
        let load = Load::until_open(step, threshold + PATIENCE);
        self.during(self.failing().planned(threshold), async |rig| rig.drive(load).await).await
    }

    /// Waits until the open time, counted from the last failure that reached the dependency, is over.
    ///
    /// # Errors
    /// When the contract promises no breaker.
    pub async fn wait_half_open(&self) -> Result<(), RigError> {
        self.wait_open(self.breaker_policy()?.open).await;
        Ok(())
    }

    /// Waits until `open` has passed since the last failure that reached the dependency, and the noise bound with it.
    pub async fn wait_open(&self, open: Duration) {
        self.wait_until(self.last_failure().await + open + self.eps()).await;
    }

    /// One failing call less than the threshold.
    ///
    /// # Errors
    /// When the contract promises no breaker, or requests cannot be built.
    pub async fn fail_below_threshold(&self, step: impl Into<String>) -> Result<(), RigError> {
        let n = self.breaker_policy()?.threshold as usize - 1;
        if n > 0 {
            let load = Load::sequence(step, n);
            self.during(self.failing().planned(n), async |rig| rig.drive(load).await).await?;
        }
        Ok(())
    }
}
