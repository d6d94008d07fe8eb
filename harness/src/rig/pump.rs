//! The pump: moves the proxy's log and breaker readings to the tape while the scenario runs, so that a killed run keeps
//! them.

use std::sync::Arc;
use std::time::Duration;

use judge::evidence::{At, BreakerReading, NoteWeight, Record};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::wire::{Wire, WireLog};
use super::{CANARY_LINK, Isolation, RigError, RigSpec, Tape, service};
use crate::clock::Clock;
use crate::place::template::Vars;
use crate::probe::{BreakerProbe, EventsProbe, ProbeLimits};

/// How often the proxy's log is moved.
const EVERY: Duration = Duration::from_millis(50);
/// How often the breaker is read. A state that lasts shorter than this may go unseen: the wire is the witness.
const READ_BREAKER: Duration = Duration::from_millis(40);

/// The running pump. Dropping it stops it.
#[derive(Debug)]
pub(super) struct Pump {
    log: Arc<Mutex<WireLog>>,
    tape: Tape,
    clock: Clock,
    breaker: Option<BreakerProbe>,
    /// Steps that overlap end together; each change is to be read once.
    events: Option<Mutex<EventsProbe>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Pump {
    pub(super) async fn start(
        spec: &RigSpec,
        vars: &Vars,
        tape: &Tape,
        wire: &Wire,
        clock: Clock,
    ) -> Result<Self, RigError> {
        let isolated = spec.isolation == Isolation::Breaker;
        let breaker = if isolated { service::breaker_probe(&spec.contract, vars)? } else { None };
        let events = if isolated { service::events_probe(&spec.contract, vars)? } else { None };
        let events = events.map(Mutex::new);
        let watched = breaker.clone();
        let log = Arc::new(Mutex::new(wire.log().await?));
        let mut pump = Self { log: log.clone(), tape: tape.clone(), clock, breaker, events, tasks: Vec::new() };
        let to = tape.clone();
        pump.tasks.push(tokio::spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                // What is wrong with it is still wrong when it is read for the last time.
                let _ = move_log(&log, &to).await;
            }
        }));
        if let Some(probe) = watched {
            pump.tasks.push(tokio::spawn(watch_breaker(probe, tape.clone(), clock)));
        }
        Ok(pump)
    }

    /// Moves what is in the proxy's log now.
    pub(super) async fn drain(&self) {
        if let Err(error) = move_log(&self.log, &self.tape).await {
            self.tape.note(self.clock.now(), NoteWeight::Spoils, "proxy-log-unreadable", error.to_string());
        }
    }

    /// Reads the breaker, and then its events, at the end of a step, so that every step that is long enough for nothing
    /// else has a reading.
    pub(super) async fn read_breaker(&self) {
        self.read_state().await;
        self.read_events().await;
    }

    async fn read_events(&self) {
        let Some(events) = &self.events else { return };
        let mut probe = events.lock().await;
        match probe.read(&self.clock.base(), &ProbeLimits::default()).await {
            Ok(read) => {
                read.changes.into_iter().for_each(|change| self.tape.append(Record::Breaker(change)));
                read.notes.into_iter().for_each(|note| self.tape.append(Record::Note(note)));
            }
            Err(error) => {
                let text = format!("the breaker's event log could not be read: {error}");
                self.tape.note(self.clock.now(), NoteWeight::Info, "breaker-events-unreadable", text);
            }
        }
    }

    async fn read_state(&self) {
        if let Some(probe) = &self.breaker
            && let Ok(probed) = probe.read(&self.clock.base(), &ProbeLimits::default()).await
        {
            self.tape.append(Record::Breaker(probed.reading));
        }
    }

    /// Stops the background and moves the rest; returns how many records the proxy had to drop.
    pub(super) async fn stop(mut self) -> u64 {
        for task in self.tasks.drain(..) {
            task.abort();
            // It was aborted while it slept or read; what it had read is on the tape.
            let _ = task.await;
        }
        self.drain().await;
        self.log.lock().await.lost()
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Reads and writes down in one go: whoever asks next finds on the tape what had been read before.
async fn move_log(log: &Mutex<WireLog>, tape: &Tape) -> Result<(), RigError> {
    let mut log = log.lock().await;
    for record in log.read().await? {
        let left_out = match &record {
            Record::Connection(c) => c.link == CANARY_LINK,
            // The tape has the windows themselves, with what was planned of them.
            Record::Edge(_) => true,
            _ => false,
        };
        if !left_out {
            tape.append(record);
        }
    }
    Ok(())
}

/// Reads the breaker again and again, and keeps a reading when it differs from the last one.
async fn watch_breaker(probe: BreakerProbe, tape: Tape, clock: Clock) {
    let mut last: Option<BreakerReading> = None;
    let mut failed = false;
    loop {
        tokio::time::sleep(READ_BREAKER).await;
        match probe.read(&clock.base(), &ProbeLimits::default()).await {
            Ok(probed) => {
                let same = |old: &BreakerReading| BreakerReading { at: At(0), ..old.clone() };
                if last.as_ref().map(same) != Some(same(&probed.reading)) {
                    last = Some(probed.reading.clone());
                    tape.append(Record::Breaker(probed.reading));
                    probed.notes.into_iter().for_each(|n| tape.append(Record::Note(n)));
                }
            }
            Err(error) if !failed => {
                failed = true;
                let text = format!("the breaker endpoint could not be read: {error}");
                tape.note(clock.now(), NoteWeight::Info, "breaker-unreadable", text);
            }
            Err(_) => {}
        }
    }
}
