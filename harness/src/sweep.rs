//! Ends what a killed run left behind.
//!
//! The watchdogs of [`place`](crate::place) end a run's children with the harness. This is for what they cannot reach: a
//! watchdog that was killed itself. A process is only touched when the register of a run folder names its pid *and*
//! its start time, in this boot and this pid namespace, and the harness of that run is gone. Nothing is ever found by
//! its name.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, getpgid, kill_process_group, pidfd_open, pidfd_send_signal};

use crate::record::{ChildEntry, RecordError, RegisterRead, runs};

/// How long the killed processes may take to disappear.
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// A process that a dead run had left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The run.
    pub run: String,
    /// The process's name in its spec.
    pub name: String,
    /// Its pid.
    pub pid: u32,
}

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SweepReport {
    /// Runs that were looked at.
    pub runs: usize,
    /// Runs whose harness is alive; they were left alone.
    pub live: Vec<String>,
    /// Processes that are gone now.
    pub ended: Vec<Leftover>,
    /// Processes that could not be ended, with the reason.
    pub failed: Vec<(Leftover, String)>,
    /// Runs that cannot be told about (another boot, container or system), with the reason. An old run is normal here.
    pub skipped: Vec<(String, String)>,
}

/// Looks through the runs below `root` and ends the children of the dead ones. Blocks for up to five seconds a leftover
/// that does not go away.
///
/// # Errors
/// When `root` cannot be read. What happens to single runs and processes is in the report.
pub fn sweep(root: &Path) -> Result<SweepReport, RecordError> {
    let mut report = SweepReport::default();
    for run in runs(root)? {
        report.runs += 1;
        match RegisterRead::read(&run.dir) {
            Err(error) => report.skipped.push((run.id, format!("its register cannot be read: {error}"))),
            Ok(register) => sweep_run(&run.id, &register, &mut report),
        }
    }
    Ok(report)
}

fn sweep_run(run: &str, register: &RegisterRead, report: &mut SweepReport) {
    let Some(owner) = register.owner else {
        report.skipped.push((run.to_owned(), "its register does not name its harness".to_owned()));
        return;
    };
    if !register.world.is_here() {
        report.skipped.push((run.to_owned(), "it ran in another boot or container".to_owned()));
        return;
    }
    if owner.is_alive() {
        report.live.push(run.to_owned());
        return;
    }
    for child in register.children.iter().filter(|c| c.id.is_alive()) {
        let leftover = Leftover { run: run.to_owned(), name: child.name.clone(), pid: child.id.pid };
        match end(child) {
            Ok(()) => report.ended.push(leftover),
            Err(reason) => report.failed.push((leftover, reason)),
        }
    }
}

fn end(child: &ChildEntry) -> Result<(), String> {
    let pid = pid(child.id.pid)?;
    // The descriptor names one process for ever; the start time tells whether that one is ours. From here on, the signal
    // cannot reach another one that got the same pid.
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(|e| e.to_string())?;
    if !child.id.is_alive() {
        return Ok(());
    }
    // While it is halted it cannot end by itself, so its group's number cannot change hands either.
    pidfd_send_signal(&handle, Signal::STOP).map_err(|e| e.to_string())?;
    let group = self::pid(child.group)?;
    if child.id.is_alive() && getpgid(Some(pid)) == Ok(group) {
        // Its own children and a stray watchdog. Those that are gone already are no failure.
        let _ = kill_process_group(group, Signal::KILL);
    }
    // It may have died with its group in between.
    let sent = pidfd_send_signal(&handle, Signal::KILL);
    let deadline = Instant::now() + PATIENCE;
    while child.id.is_alive() {
        if Instant::now() > deadline {
            return Err(sent
                .err()
                .map_or_else(|| format!("still there {PATIENCE:?} after SIGKILL"), |e| e.to_string()));
        }
        sleep(POLL);
    }
    Ok(())
}

fn pid(raw: u32) -> Result<Pid, String> {
    i32::try_from(raw).ok().and_then(Pid::from_raw).ok_or_else(|| format!("{raw} is no pid"))
}
