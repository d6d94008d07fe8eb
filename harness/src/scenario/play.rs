//! The steps of one variant: steady state, load and faults, healing, steady state.

use mock_bank::Capacity;

use super::{BankSpec, FaultSpec, LoadSpec, ScenarioFile, ShapeWord, Until};
use crate::load::Load;
use crate::rig::{Rig, RigError, TimedFault};

/// Runs the steps.
pub(super) async fn play(file: &ScenarioFile, rig: &Rig) -> Result<(), RigError> {
    if let Some(BankSpec { at_once, work }) = file.bank {
        let work_ms = u64::try_from(work.as_millis()).unwrap_or(u64::MAX);
        rig.limit_bank(Capacity { at_once, work_ms }).await?;
    }
    if let Some(steady) = &file.steady {
        rig.drive(Load::waves("baseline/before", steady.payments, steady.in_flight)).await?;
    }
    let faults = file.faults.iter().map(|f| timed(f, rig)).collect();
    rig.timeline(load(&file.load), faults).await?;
    if let Some(steady) = &file.steady {
        rig.wait_until(rig.now() + steady.settle).await;
        rig.drive(Load::waves("baseline/after", steady.payments, steady.in_flight)).await?;
    }
    Ok(())
}

fn load(spec: &LoadSpec) -> Load {
    let (step, n) = (spec.step.clone(), spec.payments);
    match spec.shape {
        ShapeWord::AtOnce => Load::burst(step, n),
        ShapeWord::OneByOne => Load::sequence(step, n),
        ShapeWord::Waves => Load::waves(step, n, spec.in_flight.unwrap_or(1)),
        ShapeWord::Paced => Load::paced(step, n, spec.over.unwrap_or_default()),
    }
}

fn timed(spec: &FaultSpec, rig: &Rig) -> TimedFault {
    let fault = spec.what.fault(spec.delay);
    let fault = spec.first.map_or_else(|| fault.always(), |n| fault.first(n));
    let strikes = usize::try_from(spec.strikes).unwrap_or(usize::MAX);
    TimedFault {
        disturbance: fault.planned(strikes),
        link: spec.link.clone().unwrap_or_else(|| rig.contract().main_link().to_owned()),
        from: spec.from,
        to: match spec.to {
            Until::Answered => None,
            Until::At(to) => Some(to),
        },
    }
}
