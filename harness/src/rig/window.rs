//! A fault in force: healed and written down whatever ends it.

use chaos_proxy::Rule;
use judge::evidence::{At, FaultWindow, NoteWeight, Record};
use tokio::runtime::Handle;

use super::wire::{InForce, Wire};
use super::{RigError, Tape};
use crate::clock::Clock;

/// A rule in force. Healing is also done on drop, so that an error or a panic of the body heals and records, too.
#[derive(Debug)]
pub(super) struct Window {
    armed: Option<InForce>,
    planned: u64,
    tape: Tape,
    clock: Clock,
}

impl Window {
    pub(super) async fn arm(
        wire: &Wire,
        rule: Rule,
        planned: u64,
        tape: &Tape,
        clock: Clock,
    ) -> Result<Self, RigError> {
        Ok(Self { armed: Some(wire.arm(rule).await?), planned, tape: tape.clone(), clock })
    }

    /// Calls that wait at the gate.
    pub(super) async fn held(&self) -> Result<usize, RigError> {
        match &self.armed {
            Some(armed) => armed.held().await,
            None => Ok(0),
        }
    }

    /// Lets go the call that waits longest.
    pub(super) async fn release_one(&self) -> Result<(), RigError> {
        match &self.armed {
            Some(armed) => armed.release(1).await,
            None => Ok(()),
        }
    }

    /// Takes the fault out of force and writes the window down; `None` when the proxy could not be reached: a note of that
    /// spoils the verdict, and the lease of the fault ends it.
    pub(super) async fn heal(mut self) -> Option<At> {
        let healing = self.heal_now()?;
        healing.await
    }

    /// The healing, to be waited for or left to run.
    fn heal_now(&mut self) -> Option<impl Future<Output = Option<At>> + Send + use<>> {
        let (armed, planned) = (self.armed.take()?, self.planned);
        let (tape, clock) = (self.tape.clone(), self.clock);
        Some(async move {
            match armed.disarm().await {
                Ok(window) => {
                    let healed = window.healed;
                    tape.append(Record::Fault(FaultWindow { planned, ..window }));
                    Some(healed)
                }
                Err(error) => {
                    tape.note(clock.now(), NoteWeight::Spoils, "fault-not-healed", error.to_string());
                    None
                }
            }
        })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let Some(healing) = self.heal_now() else { return };
        let mut healing = Box::pin(healing);
        // In this process it is done at the first step. One elsewhere is healed behind our back, or by its lease.
        let waker = std::task::Waker::noop();
        if healing.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending()
            && let Ok(runtime) = Handle::try_current()
        {
            drop(runtime.spawn(healing));
        }
    }
}
