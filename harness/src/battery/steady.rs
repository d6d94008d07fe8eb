//! The baseline: payments without any fault.

use judge::checks::{Check, trust};

use super::scenario::{Scenario, money};
use crate::contract::Contract;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// No fault: the baseline.
pub static STEADY: Scenario = Scenario {
    name: "steady",
    isolation: Isolation::None,
    timed: false,
    alone: false,
    restarts: false,
    applies: |_| true,
    run: |rig| Box::pin(run(rig)),
    checks,
};

async fn run(rig: &Rig) -> Result<(), RigError> {
    rig.drive(Load::waves("baseline", 20, 4)).await?;
    Ok(())
}

fn checks(contract: &Contract) -> Vec<Check> {
    let mut checks = vec![trust::steady_state(contract.main_link())];
    checks.extend(money(contract));
    checks
}
