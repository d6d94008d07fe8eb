//! Faults on each hop, that stay and that come and go: what one request costs the last backend.

use judge::checks::{Check, topology};
use judge::promise::{AmplificationPolicy, Hop};

use super::super::scenario::Scenario;
use crate::contract::Contract;
use crate::faults::Fault;
use crate::load::Load;
use crate::rig::{Isolation, Rig, RigError};

/// Requests of a step.
const REQUESTS: usize = 12;
/// Requests in flight.
const IN_FLIGHT: usize = 4;
/// A dependency that flaps fails every second call.
const FLAPPING: u64 = 2;

/// Faults on each hop, that stay and that come and go.
pub static AMPLIFICATION: Scenario = Scenario {
    name: "amplification",
    isolation: Isolation::Retry,
    timed: false,
    alone: false,
    restarts: false,
    applies: |contract| contract.promises.amplification.is_some(),
    run: |rig| Box::pin(run(rig)),
    checks,
};

/// One hop at a time: with faults on two of them at once a front that loses the reply to a request that failed behind it
/// rightly asks again, and the bound of one hop's faults would not hold.
async fn run(rig: &Rig) -> Result<(), RigError> {
    let Some(policy) = rig.contract().promises.amplification.clone() else {
        return Err(RigError::NotPromised { promise: "[promises.amplification]" });
    };
    for (n, Hop { link, .. }) in policy.hops.iter().enumerate().rev() {
        let fault = strike(&policy, n);
        for (kind, disturbance) in [("constant", fault.always()), ("flapping", fault.every(FLAPPING))] {
            let planned = if kind == "constant" { REQUESTS } else { REQUESTS / 2 };
            let load = Load::waves(format!("{kind}/{link}"), REQUESTS, IN_FLIGHT);
            rig.during(disturbance.on(link).planned(planned), async |rig| rig.drive(load).await).await?;
        }
    }
    Ok(())
}

/// The last backend fails with an answer. A hop before it loses the answer of the layer behind it, which has then done its
/// work: the front cannot know, and asks again.
fn strike(policy: &AmplificationPolicy, hop: usize) -> Fault {
    if hop + 1 == policy.hops.len() { Fault::Status(503) } else { Fault::LostReset }
}

fn checks(contract: &Contract) -> Vec<Check> {
    contract.promises.amplification.iter().map(topology::bounded_amplification).collect()
}
