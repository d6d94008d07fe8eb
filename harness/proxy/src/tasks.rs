//! Background tasks of a link: none is forgotten, and a panic in one is raised again at shutdown.

use std::any::Any;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::Poll;

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

    /// Lets go of tasks as they end, for as long as it is polled: until then each keeps the memory that it ran in. Does
    /// not end; polled by one of the tasks, so that there always is one to wait for.
    pub(crate) async fn reap(&self) -> Infallible {
        poll_fn(|context| {
            let mut state = locked(&self.state);
            while let Poll::Ready(Some(ended)) = state.set.poll_join_next(context) {
                state.note(ended);
            }
            Poll::Pending
        })
        .await
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

    // Proves that ended tasks are let go of while nothing else happens, and that a panic among them is kept.
    #[tokio::test]
    async fn ended_tasks_are_let_go() {
        let tasks = std::sync::Arc::new(Tasks::on(Handle::current()));
        let reaping = std::sync::Arc::clone(&tasks);
        tasks.spawn(async move { match reaping.reap().await {} });
        for _ in 0..100 {
            tasks.spawn(tokio::task::yield_now());
        }
        tasks.spawn(async { panic!("boom") });
        let kept = || locked(&tasks.state).set.len();
        assert_eq!(kept(), 102);
        let all_gone = async {
            while kept() > 1 {
                tokio::task::yield_now().await
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(60), all_gone).await.expect("only the reaper is left");
        assert!(tasks.stop().await.is_some());
    }

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
