//! Why a placement could not do what it was asked for.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a child process could not be built, started, signalled or stopped.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The spec contradicts itself; nothing was started.
    #[error("the spec of `{name}` is not usable: {reason}")]
    BadSpec {
        /// The process.
        name: String,
        /// What is wrong, and what to write instead.
        reason: String,
    },
    /// The build command failed.
    #[error("the build of `{name}` failed: `{command}` {how}{excerpt}")]
    BuildFailed {
        /// The process whose build it is.
        name: String,
        /// The command.
        command: String,
        /// Exit status, or that it was ended after its deadline.
        how: String,
        /// Its last lines of output.
        excerpt: Box<LogExcerpt>,
    },
    /// The program does not exist, or is no program.
    #[error("cannot start `{name}`: {why}; looked at {}", paths(.looked))]
    CommandNotFound {
        /// The process.
        name: String,
        /// What was looked for and what is wrong with it.
        why: String,
        /// Where.
        looked: Vec<PathBuf>,
    },
    /// The system refused to start the program.
    #[error("cannot start `{name}` (`{program}`): {source}")]
    Spawn {
        /// The process.
        name: String,
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process ended before it was ready.
    #[error(
        "`{name}` ended before it was ready: {status} after {after:.1?}; start it by hand with the same environment, or \
         read its log{excerpt}"
    )]
    ExitedEarly {
        /// The process.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// How long it lived.
        after: Duration,
        /// Its last words.
        excerpt: Box<LogExcerpt>,
    },
    /// The process ended before it was ready because its address is taken.
    #[error(
        "`{name}` ended before it was ready ({status}) because its address is in use{}{excerpt}",
        port_advice(*.port, .excerpt)
    )]
    PortInUse {
        /// The process.
        name: String,
        /// How it ended.
        status: ExitStatus,
        /// The port that we had reserved for it, if we had.
        port: Option<u16>,
        /// Its last words.
        excerpt: Box<LogExcerpt>,
    },
    /// The process runs but did not become ready in time.
    #[error(
        "`{name}` was not ready within {deadline:.1?}: {waiting_for}; {}raise `ready.deadline` if it is slow{excerpt}",
        ready_advice(.waiting_for)
    )]
    NotReady {
        /// The process.
        name: String,
        /// How long we waited.
        deadline: Duration,
        /// What was still missing, with the last answer or error.
        waiting_for: String,
        /// Its last words.
        excerpt: Box<LogExcerpt>,
    },
    /// The log file cannot be written.
    #[error("cannot write the log of `{name}` to {}: {source}", .path.display())]
    Log {
        /// The process.
        name: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The process has already ended, so it cannot be signalled.
    #[error("cannot {action} `{name}`: it has already ended ({status}){excerpt}")]
    Ended {
        /// The process.
        name: String,
        /// What was asked for.
        action: &'static str,
        /// How it had ended.
        status: ExitStatus,
        /// Its last words.
        excerpt: Box<LogExcerpt>,
    },
    /// The system refused a signal.
    #[error("cannot {action} `{name}` (pid {pid}): {source}")]
    Signal {
        /// The process.
        name: String,
        /// What was asked for.
        action: &'static str,
        /// Its pid.
        pid: u32,
        /// Why.
        source: io::Error,
    },
    /// The process did not go away after SIGKILL: it hangs in the kernel.
    #[error("`{name}` (pid {pid}) is still there {waited:.1?} after SIGKILL: look at `cat /proc/{pid}/stack`")]
    Unkillable {
        /// The process.
        name: String,
        /// Its pid.
        pid: u32,
        /// How long we waited.
        waited: Duration,
    },
    /// No port could be bound.
    #[error("no free port on 127.0.0.1: {0}; is the loopback interface up, or are all ports taken?")]
    NoFreePort(#[source] io::Error),
}

impl PlaceError {
    /// Whether the start failed because somebody took the reserved port between our release and the child's bind.
    /// A start with a newly reserved port may succeed.
    #[must_use]
    pub fn is_port_race(&self) -> bool {
        matches!(self, Self::PortInUse { port: Some(_), .. })
    }
}

/// The last lines of a process, for an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogExcerpt {
    /// The whole log, where one is kept.
    pub path: Option<PathBuf>,
    /// The last lines, oldest first.
    pub lines: Vec<String>,
}

impl fmt::Display for LogExcerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.path.as_ref().map(|p| format!(" of {}", p.display())).unwrap_or_default();
        if self.lines.is_empty() {
            return write!(f, "\n  it printed nothing (log{log} is empty)");
        }
        write!(f, "\n  last {} lines{log}:", self.lines.len())?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  | {line}"))
    }
}

fn port_advice(port: Option<u16>, excerpt: &LogExcerpt) -> String {
    let named = |port: u16| excerpt.lines.iter().any(|line| line.contains(&port.to_string()));
    match port {
        Some(port) if !named(port) => format!(
            ": its log does not mention port {port}, which was reserved for it; usually a fixed port in the service is \
             the cause: let it listen on `{{service.port}}`"
        ),
        Some(port) => {
            format!(": somebody took port {port} in the moment between our reservation and its bind; run again")
        }
        None => ": let it listen on {port} or on port 0 instead of a fixed port".to_owned(),
    }
}

/// What the last refusal most likely means.
fn ready_advice(waiting_for: &str) -> &'static str {
    if waiting_for.contains("was answered") {
        "correct `service.ready.path`, or "
    } else if waiting_for.to_lowercase().contains("refused") {
        "let it listen on `{service.port}`, or "
    } else {
        ""
    }
}

fn paths(looked: &[PathBuf]) -> String {
    if looked.is_empty() {
        return "no directory (PATH is empty)".to_owned();
    }
    looked.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}
