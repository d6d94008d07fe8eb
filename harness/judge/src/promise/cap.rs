//! The cap of the waits, and how the service retries while it is measured.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RetryPolicy;
use crate::duration;
use crate::law::{LawError, LawSpec};

/// How the service retries while its cap is measured: with so many attempts, and so small a base, that nearly every wait is
/// one at the cap, and that an exponent of 32 or 64 bits has run over before the last one.
///
/// In a contract: `cap_check = { attempts = 75, base = "1ms", cap = "100ms", deadline = "15s" }`, or `cap_check = {}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapCheck {
    /// Attempts of a payment, the first included.
    #[serde(default = "attempts")]
    pub attempts: u32,
    /// The law's base, in place of the promised one.
    #[serde(default = "base", with = "duration")]
    pub base: Duration,
    /// The law's cap, in place of the promised one.
    #[serde(default = "cap", with = "duration")]
    pub cap: Duration,
    /// The limit of all attempts and waits of one request, in place of the promised one.
    #[serde(default, with = "duration::option", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Duration>,
}

impl Default for CapCheck {
    fn default() -> Self {
        Self { attempts: attempts(), base: base(), cap: cap(), deadline: None }
    }
}

impl CapCheck {
    /// The promise that holds meanwhile: the promised law with this base and cap, this many attempts, this deadline.
    ///
    /// # Errors
    /// [`LawError`] when the promised law has no cap, or its parameters do not fit these.
    pub fn policy(&self, promised: &RetryPolicy) -> Result<RetryPolicy, LawError> {
        let spec = promised.backoff.spec().clone();
        let backoff = LawSpec { base: Some(self.base), cap: Some(self.cap), ..spec }.build()?;
        let deadline = self.deadline.or(promised.deadline);
        Ok(RetryPolicy { attempts: self.attempts, backoff, deadline, ..promised.clone() })
    }
}

/// The 64th doubling, and ten more attempts to show what it did.
fn attempts() -> u32 {
    75
}
fn base() -> Duration {
    Duration::from_millis(1)
}
fn cap() -> Duration {
    Duration::from_millis(100)
}
