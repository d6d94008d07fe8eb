//! A service under test as a child process.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::sync::watch;
use tokio::time::timeout;

use super::build::Builder;
use super::command;
use super::error::PlaceError;
use super::group::{Group, KILL_PATIENCE, OnEnd};
use super::log::ServiceLog;
use super::port::ReservedPort;
use super::ready;
use super::spec::ProcessSpec;

/// A child process that is up.
///
/// It ends with the harness, whatever ends the harness:
/// - a return, an error or a panic drops this value, which kills the child's whole process group and reaps it;
/// - Ctrl-C, a crash or SIGKILL of the harness closes the pipe of a watchdog, a small shell in the child's process
///   group, which then kills the group; the child's stdin closes as well, and services may take that as the order to end;
/// - a harness that hangs: the watchdog kills the group after [`ProcessSpec::max_lifetime`].
///
/// Signals reach the whole process group, so that a service behind a wrapper script or with worker processes is paused
/// and ended as a whole.
#[derive(Debug)]
pub struct Process {
    spec: ProcessSpec,
    port: Option<u16>,
    url: Option<String>,
    log: ServiceLog,
    started: Instant,
    group: Group,
}

/// How a stopped process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Its exit status; `None` when the system did not tell.
    pub status: Option<ExitStatus>,
    /// Whether SIGTERM was not enough.
    pub forced: bool,
    /// How long it took.
    pub took: Duration,
}

impl Process {
    /// Builds (once a `builder`), starts, and waits until the process is up. A `port` is let go of just before the
    /// child is spawned.
    ///
    /// # Errors
    /// Every variant of [`PlaceError`] up to `NotReady`. The child is gone when this returns an error.
    pub async fn start(spec: ProcessSpec, builder: &Builder, port: Option<ReservedPort>) -> Result<Self, PlaceError> {
        spec.validate()?;
        builder.build(&spec).await?;
        Self::launch(spec, port).await
    }

    async fn launch(spec: ProcessSpec, port: Option<ReservedPort>) -> Result<Self, PlaceError> {
        let announcement = spec.validate()?;
        let command = command::of(&spec)?;
        let log = ServiceLog::open(spec.log_path.as_deref(), spec.log_limit).map_err(|source| PlaceError::Log {
            name: spec.name.clone(),
            path: spec.log_path.clone().unwrap_or_default(),
            source,
        })?;
        let (tell, announced) = watch::channel(None);
        let announced = announcement.is_some().then_some(announced);
        let number = port.as_ref().map(ReservedPort::number);
        let started = Instant::now();
        let group = {
            let (spec, log) = (spec.clone(), log.clone());
            let watch = announcement.map(|line| (line, tell));
            let spawn = move || spawn(&spec, command, port, &log, watch);
            run_blocking(spawn).await?
        };
        let url = ready::wait(&spec, number, &group, &log, announced).await?;
        log.remark(&format!("`{}` is ready after {:.1?}", spec.name, started.elapsed()));
        Ok(Self { spec, port: number, url, log, started, group })
    }

    /// Its name in the spec.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.group.pid()
    }

    /// Its base URL (`http://127.0.0.1:4711`): as announced, or the origin of the URL that was asked; `None` when the
    /// spec waits for a line without an address.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// What it has printed so far.
    #[must_use]
    pub fn log(&self) -> &ServiceLog {
        &self.log
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.group.status()
    }

    /// Waits for its end, without ending it. The future does not borrow the process.
    pub fn exited(&self) -> impl Future<Output = Option<ExitStatus>> + Send + 'static {
        self.group.exited()
    }

    /// Halts it (SIGSTOP): connections stay, nothing answers. Its maximum lifetime is not enforced while it is halted,
    /// but it still ends with the harness.
    ///
    /// # Errors
    /// When it has already ended.
    pub fn pause(&self) -> Result<(), PlaceError> {
        self.signal("pause", Signal::STOP)
    }

    /// Lets it go on (SIGCONT).
    ///
    /// # Errors
    /// When it has already ended.
    pub fn resume(&self) -> Result<(), PlaceError> {
        self.signal("resume", Signal::CONT)
    }

    /// Asks it to end (SIGTERM) and does not wait.
    ///
    /// # Errors
    /// When it has already ended.
    pub fn terminate(&self) -> Result<(), PlaceError> {
        self.signal("terminate", Signal::TERM)
    }

    /// Ends it at once, as a crash does (SIGKILL), and waits until it is gone.
    ///
    /// # Errors
    /// When it had already ended, or does not go away.
    pub async fn kill(&self) -> Result<(), PlaceError> {
        self.signal("kill", Signal::KILL)?;
        self.gone(KILL_PATIENCE).await
    }

    /// Asks it to end, and after the spec's grace kills it. A process that has already ended is only reported.
    ///
    /// # Errors
    /// When it does not even go away after SIGKILL.
    pub async fn stop(self) -> Result<Stopped, PlaceError> {
        self.end().await
    }

    /// Ends it (gracefully, unless it has already ended or was killed before) and starts it again with another spec, or
    /// with the same one. A port that was reserved for it stays its port. The build is not repeated.
    ///
    /// A service that announces its address may announce another one: read [`url`](Self::url) again.
    ///
    /// # Errors
    /// As [`stop`](Self::stop) and [`start`](Self::start); after an error the process is down.
    pub async fn restart(&mut self, spec: Option<ProcessSpec>) -> Result<(), PlaceError> {
        self.end().await?;
        let port = self.port;
        let mut next =
            Self::launch(spec.unwrap_or_else(|| self.spec.clone()), None).await.map_err(|e| name_port(e, port))?;
        next.port = port;
        *self = next;
        Ok(())
    }

    async fn end(&self) -> Result<Stopped, PlaceError> {
        let asked = Instant::now();
        let mut forced = false;
        if self.try_signal("stop", Signal::TERM)? && timeout(self.spec.stop_grace, self.exited()).await.is_err() {
            forced = true;
            self.log.remark(&format!("not gone {:.1?} after SIGTERM: killed", self.spec.stop_grace));
            self.try_signal("kill", Signal::KILL)?;
        }
        self.gone(KILL_PATIENCE).await?;
        Ok(Stopped { status: self.status(), forced, took: asked.elapsed() })
    }

    async fn gone(&self, patience: Duration) -> Result<(), PlaceError> {
        let (name, pid) = (self.spec.name.clone(), self.pid());
        let waited = timeout(patience, self.exited()).await;
        waited.map(drop).map_err(|_| PlaceError::Unkillable { name, pid, waited: patience })
    }

    fn signal(&self, action: &'static str, signal: Signal) -> Result<(), PlaceError> {
        if self.try_signal(action, signal)? {
            return Ok(());
        }
        let (name, status) = (self.spec.name.clone(), self.status().unwrap_or_default());
        Err(PlaceError::Ended { name, action, status, excerpt: self.log.excerpt() })
    }

    fn try_signal(&self, action: &'static str, signal: Signal) -> Result<bool, PlaceError> {
        let sent = self.group.signal(signal).map_err(|source| PlaceError::Signal {
            name: self.spec.name.clone(),
            action,
            pid: self.pid(),
            source,
        })?;
        if sent {
            self.log.remark(&format!("{action} after {:.3?}", self.started.elapsed()));
        }
        Ok(sent)
    }
}

/// Spawns the child with both output streams in one pipe, which keeps the order of their lines.
fn spawn(
    spec: &ProcessSpec,
    mut command: Command,
    port: Option<ReservedPort>,
    log: &ServiceLog,
    watch: Option<super::log::Watch>,
) -> Result<Group, PlaceError> {
    let program = Path::new(command.get_program()).to_owned();
    let fail = |source| PlaceError::Spawn { name: spec.name.clone(), program: program.clone(), source };
    let (reader, writer) = std::io::pipe().map_err(fail)?;
    command.stdout(writer.try_clone().map_err(fail)?).stderr(writer);
    if let Some(port) = port {
        port.release();
    }
    let begun = Instant::now();
    let note = |pid, group| note(spec, log, begun, (pid, group));
    let group = Group::spawn(&mut command, spec.max_lifetime, note).map_err(fail)?;
    // The command holds our copies of the pipe's writing end; the reader sees the end only without them.
    drop(command);
    log.pump(reader, watch).map_err(fail)?;
    Ok(group)
}

/// Notes the child's start in its log and in the register, and returns what notes its end, whoever ends it.
fn note(spec: &ProcessSpec, log: &ServiceLog, begun: Instant, (pid, group): (u32, u32)) -> OnEnd {
    let (name, lifetime, log) = (spec.name.clone(), spec.max_lifetime, log.clone());
    log.remark(&format!("started `{name}` as pid {pid}: {}", spec.command.join(" ")));
    let unnoted = |error| log.remark(&format!("`harness sweep` will not know pid {pid}: {error}"));
    let entry = spec.register.as_ref().and_then(|register| {
        let entry = register.started(&name, pid, group).map_err(unnoted).ok().flatten()?;
        Some((register.clone(), entry))
    });
    Box::new(move |status| {
        let how = status.map_or_else(|| "in a way that the system did not tell".to_owned(), |s| s.to_string());
        let lived = begun.elapsed();
        let why = if lived >= lifetime { "; its maximum lifetime was reached" } else { "" };
        log.remark(&format!("`{name}` ended after {lived:.1?}: {how}{why}"));
        if let Some((register, entry)) = entry {
            // A missing line only makes `sweep` look at a pid whose start time will not fit.
            let _ = register.gone(&entry);
        }
    })
}

async fn run_blocking(work: impl FnOnce() -> Result<Group, PlaceError> + Send + 'static) -> Result<Group, PlaceError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(group) => group,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that shuts down cancels blocking work, and it also drops this future.
            Err(_) => std::future::pending().await,
        },
    }
}

fn name_port(error: PlaceError, port: Option<u16>) -> PlaceError {
    match error {
        PlaceError::PortInUse { name, status, excerpt, .. } => PlaceError::PortInUse { name, status, port, excerpt },
        other => other,
    }
}
