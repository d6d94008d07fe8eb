//! The service's instances while a scenario runs: killed, started again, joined by a second one.

use super::players::Players;
use super::{Rig, RigError, topology};
use crate::load::Replica;

impl Rig {
    /// Kills the first instance of the service with SIGKILL, as a crash would.
    ///
    /// # Errors
    /// When it is not running or cannot be killed.
    pub async fn kill_service(&self) -> Result<(), RigError> {
        self.kill_replica(Replica::First).await
    }

    /// Starts the first instance again, where and as it was, and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start_service(&self) -> Result<(), RigError> {
        let mut players = self.players.lock().await;
        let process = players.first.as_mut().ok_or(RigError::NotRunning)?;
        process.restart(None).await?;
        players.first_is_down = false;
        self.keep_watching(&players);
        Ok(())
    }

    /// Starts a second instance of the service beside the first and waits until it is ready: with a port of its own,
    /// `{service.instance}` 2, and everything else the same, the ledger among it. Loads go to it by
    /// [`Load::to`](crate::load::Load::to). One that was killed before is started again where it was.
    ///
    /// # Errors
    /// When it runs already or does not start.
    pub async fn start_replica(&self) -> Result<(), RigError> {
        let mut players = self.players.lock().await;
        match players.second.as_mut() {
            Some(process) if process.status().is_some() => process.restart(None).await?,
            Some(_) => return Err(RigError::ReplicaRuns),
            None => {
                let started = topology::start_instance(&self.spec, &self.folder, &self.common, Replica::Second);
                let (process, vars) = started.await?;
                self.client.second_is_at(&vars["service.url"]);
                players.second = Some(process);
            }
        }
        players.second_is_down = false;
        self.keep_watching(&players);
        Ok(())
    }

    /// Tells the canary who plays now.
    fn keep_watching(&self, players: &Players) {
        if let Some(canaries) = &self.canaries {
            let name = &self.contract().service.name;
            players.watched(name).for_each(|(name, process)| canaries.watch(&name, process));
        }
    }

    /// Kills an instance of the service with SIGKILL.
    ///
    /// # Errors
    /// When it is not running or cannot be killed.
    pub async fn kill_replica(&self, replica: Replica) -> Result<(), RigError> {
        let mut players = self.players.lock().await;
        let process = match replica {
            Replica::First => players.first.as_ref(),
            Replica::Second => players.second.as_ref(),
        };
        process.ok_or(RigError::NotRunning)?.kill().await?;
        players.killed = true;
        match replica {
            Replica::First => players.first_is_down = true,
            Replica::Second => players.second_is_down = true,
        }
        Ok(())
    }
}
