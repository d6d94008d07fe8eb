//! Who plays in a scenario: started for it, or found in a stack that runs already.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::bank::Till;
use super::players::Players;
use super::wire::Wire;
use super::{CANARY_LINK, RigError, RigSpec, stack, topology};
use crate::canary::EchoServer;
use crate::clock::Clock;
use crate::collector::{Collector, CollectorConfig};
use crate::load::Replica;
use crate::place::template::Vars;
use crate::placement::Placement;
use crate::record::ScenarioFolder;

/// The players, ready.
#[derive(Debug)]
pub(super) struct Cast {
    /// By the name of the link that each stands behind.
    pub(super) banks: BTreeMap<String, Till>,
    pub(super) wire: Wire,
    pub(super) collector: Collector,
    pub(super) players: Players,
    /// Variables of every process.
    pub(super) common: Vars,
    /// Variables of the first instance.
    pub(super) vars: Vars,
    /// Where the canary's echo is, and how it gets there.
    pub(super) echo: EchoServer,
    pub(super) canary: SocketAddr,
}

impl Cast {
    /// Everybody whom the scenario needs.
    pub(super) async fn of(spec: &RigSpec, folder: &ScenarioFolder, clock: Clock) -> Result<Self, RigError> {
        match spec.placement {
            Placement::Process => start(spec, folder, clock).await,
            Placement::Attach => stack::find(spec, folder, clock).await,
        }
    }
}

/// Starts everybody: banks, proxy and collector in this process, the services as its children.
async fn start(spec: &RigSpec, folder: &ScenarioFolder, clock: Clock) -> Result<Cast, RigError> {
    let banks = topology::banks(spec).await?;
    let echo = EchoServer::start().await.map_err(RigError::Canary)?;
    let seats = topology::reserve(spec, folder)?;
    let proxy = topology::proxies(spec, clock, &banks, &seats, &echo).await?;
    let canary = proxy.link_addr(CANARY_LINK)?;
    let collector = Collector::start(CollectorConfig::new(clock.base())).await?;
    let common = topology::variables(spec, folder, &proxy, &collector, &seats)?;
    let further = topology::start_services(spec, folder, &common, seats).await?;
    let (process, vars) = topology::start_instance(spec, folder, &common, Replica::First).await?;
    let banks = banks.into_iter().map(|(name, bank)| (name, Till::Here(bank))).collect();
    let players = Players::new(process, further);
    Ok(Cast { banks, wire: Wire::Here(proxy), collector, players, common, vars, echo, canary })
}
