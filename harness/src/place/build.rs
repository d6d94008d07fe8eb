//! Build commands, each run once however many scenarios need it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::command;
use super::error::{LogExcerpt, PlaceError};
use super::group::Group;
use super::log::ServiceLog;
use super::spec::{Inherit, ProcessSpec};

/// How long a build may take, unless told otherwise.
const DEADLINE: Duration = Duration::from_secs(20 * 60);
/// How long the last lines of a build may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

type Key = (Vec<String>, Option<PathBuf>);
type Steps = HashMap<Key, Arc<OnceCell<Result<(), Failure>>>>;

/// Runs build commands, each (command, directory) once in its life; concurrent callers wait for the same run, and a
/// failure is remembered as well. Clones share what was built.
#[derive(Debug, Clone)]
pub struct Builder {
    steps: Arc<Mutex<Steps>>,
    deadline: Duration,
}

#[derive(Debug, Clone)]
struct Failure {
    how: String,
    excerpt: LogExcerpt,
}

impl Default for Builder {
    fn default() -> Self {
        Self { steps: Arc::default(), deadline: DEADLINE }
    }
}

impl Builder {
    /// Gives each build so much time (20 minutes by default).
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Runs the build command of the spec, if it has one and it was not run before. It sees all of our environment:
    /// it is the developer's own build.
    ///
    /// # Errors
    /// [`PlaceError::BuildFailed`] with the last lines of its output; `CommandNotFound` when there is no such program.
    pub async fn build(&self, spec: &ProcessSpec) -> Result<(), PlaceError> {
        let Some(words) = &spec.build else { return Ok(()) };
        let env = Inherit::All.environment();
        let command = command::command(&spec.name, words, spec.cwd.as_deref(), env)?;
        let done = self.step(words, spec.cwd.clone());
        let result = done.get_or_init(|| run(command, self.deadline)).await;
        result.clone().map_err(|failure| PlaceError::BuildFailed {
            name: spec.name.clone(),
            command: words.join(" "),
            how: failure.how,
            excerpt: Box::new(failure.excerpt),
        })
    }

    fn step(&self, words: &[String], cwd: Option<PathBuf>) -> Arc<OnceCell<Result<(), Failure>>> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(steps.entry((words.to_vec(), cwd)).or_default())
    }
}

/// Runs the command in a group of its own: a build ends with us, too.
async fn run(command: std::process::Command, deadline: Duration) -> Result<(), Failure> {
    let log = ServiceLog::open(None, 0).map_err(|e| failure(format!("could not be logged: {e}"), None))?;
    let started = {
        let log = log.clone();
        spawn_blocking(move || start(command, deadline, &log)).await
    };
    let group = match started {
        Ok(Ok(group)) => group,
        Ok(Err(error)) => return Err(failure(format!("could not be started: {error}"), None)),
        Err(error) => return Err(failure(format!("could not be started: {error}"), None)),
    };
    let Ok(status) = timeout(deadline, group.exited()).await else {
        return Err(failure(format!("was ended after its deadline of {deadline:.0?}"), Some(&log)));
    };
    if status.is_some_and(|s| s.success()) {
        return Ok(());
    }
    let closing = log.clone();
    let _ = spawn_blocking(move || closing.wait_closed(LAST_WORDS)).await;
    Err(failure(how(status), Some(&log)))
}

fn start(mut command: std::process::Command, deadline: Duration, log: &ServiceLog) -> std::io::Result<Group> {
    let (reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let group = Group::spawn(&mut command, deadline, |_, _| Box::new(|_| ()))?;
    drop(command);
    log.pump(reader, None)?;
    Ok(group)
}

fn how(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "ended, and the system did not tell how".to_owned(), |s| format!("ended with {s}"))
}

fn failure(how: String, log: Option<&ServiceLog>) -> Failure {
    Failure { how, excerpt: log.map(|l| *l.excerpt()).unwrap_or_default() }
}
