//! The baseline: payments without any fault.

use crate::load::Load;
use crate::rig::{Rig, RigError};

pub(super) async fn run(rig: &Rig) -> Result<(), RigError> {
    rig.drive(Load::waves("baseline", 20, 4)).await?;
    Ok(())
}
