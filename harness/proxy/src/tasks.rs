//! Background tasks of a link: none is forgotten, and a panic in one is raised again at shutdown.

use std::any::Any;
use std::sync::Mutex;

use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use crate::sync::locked;

/// The tasks of one link.
pub(crate) struct Tasks {
    /// Where they run, whoever starts them: the control plane has a runtime of its own.
    runtime: Handle,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    set: JoinSet<()>,
    panic: Option<Box<dyn Any + Send>>,
    stopped: bool,
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tasks").field("running", &locked(&self.state).set.len()).finish()
    }
}

impl Tasks {
    pub(crate) fn on(runtime: Handle) -> Self {
        Self { runtime, state: Mutex::default() }
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Starts a task. After [`Tasks::stop`] it is dropped at once instead.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut state = locked(&self.state);
        while let Some(ended) = state.set.try_join_next() {
            state.note(ended);
        }
        if state.stopped {
            // Dropped after the lock is let go: what the task owns may write its last record.
            drop(state);
            drop(task);
            return;
        }
        state.set.spawn_on(task, &self.runtime);
    }

    /// Takes tasks again after [`Tasks::stop`].
    pub(crate) fn reopen(&self) {
        locked(&self.state).stopped = false;
    }

    /// Keeps a panic that [`Tasks::stop`] returned, for the next one to return.
    pub(crate) fn keep(&self, panic: Box<dyn Any + Send>) {
        locked(&self.state).panic.get_or_insert(panic);
    }

    /// Ends all tasks without waiting for them.
    pub(crate) fn abort(&self) {
        let mut state = locked(&self.state);
        state.stopped = true;
        state.set.abort_all();
    }

    /// Ends all tasks, waits until each is gone, and returns the first panic among them.
    pub(crate) async fn stop(&self) -> Option<Box<dyn Any + Send>> {
        self.abort();
        let mut set = std::mem::take(&mut locked(&self.state).set);
        while let Some(ended) = set.join_next().await {
            locked(&self.state).note(ended);
        }
        locked(&self.state).panic.take()
    }
}

impl State {
    fn note(&mut self, ended: Result<(), JoinError>) {
        let Err(error) = ended else { return };
        if error.is_panic() && self.panic.is_none() {
            self.panic = Some(error.into_panic());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves that a panic in a task survives until the tasks are stopped, also when it was reaped before.
    #[tokio::test]
    async fn a_panic_is_kept() {
        let tasks = Tasks::on(Handle::current());
        tasks.spawn(async { panic!("boom") });
        tokio::task::yield_now().await;
        tasks.spawn(async {});
        let panic = tasks.stop().await.expect("the panic");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"boom"));
    }
}
