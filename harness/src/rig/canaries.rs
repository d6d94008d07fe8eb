//! What measures the machine while a scenario is measured, from the moment the service is ready to its last attempt.

use std::io;
use std::net::SocketAddr;

use judge::evidence::Record;

use super::{RigError, Tape};
use crate::canary::{Canary, DiskCanary, EchoServer, WaitCanary};
use crate::clock::Clock;
use crate::place::Process;
use crate::record::ScenarioFolder;

/// Tasks of the canary.
const CANARY_TASKS: usize = 2;

/// The running canaries. Dropping them ends them without a reading.
#[derive(Debug)]
pub(super) struct Canaries {
    network: Canary,
    /// Where a rate is measured.
    disk: Option<DiskCanary>,
    waits: WaitCanary,
    _echo: EchoServer,
}

impl Canaries {
    /// Starts them: the way to `echo` begins at `address`, and a folder is given where the disk matters.
    pub(super) async fn start(
        address: SocketAddr,
        echo: EchoServer,
        clock: Clock,
        disk: Option<&ScenarioFolder>,
    ) -> Result<Self, RigError> {
        let failed = |e: io::Error| RigError::Canary(e);
        let network = Canary::start(address, clock, CANARY_TASKS).await.map_err(failed)?;
        let disk = disk.map(|folder| DiskCanary::start(folder.dir())).transpose().map_err(failed)?;
        let waits = WaitCanary::start(clock).map_err(failed)?;
        Ok(Self { network, disk, waits, _echo: echo })
    }

    /// From now on, that process of that name is watched: it has come up, or come up again.
    pub(super) fn watch(&self, name: &str, process: &Process) {
        self.waits.watch(name, process.pid());
    }

    /// Ends them and writes down what they measured.
    pub(super) async fn stop(self, tape: &Tape) {
        tape.append(Record::Canary(self.network.stop().await));
        self.waits.stop().into_iter().for_each(|reading| tape.append(Record::Canary(reading)));
        if let Some(disk) = self.disk {
            tape.append(Record::Disk(disk.stop()));
        }
    }
}
