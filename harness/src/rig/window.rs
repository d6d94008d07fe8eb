//! A fault in force: healed and written down whatever ends it.

use chaos_proxy::{Armed, Proxy};
use judge::evidence::{At, FaultWindow, Record};

use super::{RigError, Tape};
use crate::faults::Disturbance;

/// A rule in force. Healing is also done on drop, so that an error or a panic of the body heals and records, too.
#[derive(Debug)]
pub(super) struct Window {
    armed: Option<Armed>,
    planned: u64,
    tape: Tape,
}

impl Window {
    pub(super) fn arm(
        proxy: &Proxy,
        disturbance: &Disturbance,
        id: String,
        link: &str,
        tape: &Tape,
    ) -> Result<Self, RigError> {
        let armed = proxy.arm(disturbance.rule(id, link))?;
        Ok(Self::of(armed, disturbance.plans(), tape))
    }

    pub(super) fn of(armed: Armed, planned: u64, tape: &Tape) -> Self {
        Self { armed: Some(armed), planned, tape: tape.clone() }
    }

    /// Calls that wait at the gate.
    pub(super) fn held(&self) -> usize {
        self.armed.as_ref().map_or(0, |a| a.held().len())
    }

    /// Lets go the call that waits longest.
    pub(super) fn release_one(&self) {
        if let Some(armed) = &self.armed {
            armed.release(1);
        }
    }

    /// Takes the fault out of force and writes the window down.
    pub(super) fn heal(mut self) -> Option<At> {
        self.heal_now().map(|w| w.healed)
    }

    fn heal_now(&mut self) -> Option<FaultWindow> {
        let window = self.armed.take()?.disarm();
        let window = FaultWindow { planned: self.planned, ..window };
        self.tape.append(Record::Fault(window.clone()));
        Some(window)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.heal_now();
    }
}
