//! Small helpers around locks and notifications.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use tokio::sync::Notify;

/// Locks. A panic elsewhere does not take the witness down with it: every critical section here leaves its data whole
/// at each step, and the panic itself is raised again at shutdown.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for reading; see [`locked`].
pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for writing; see [`locked`].
pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `holds`, looking again at every notification; `false` when `within` is over first.
pub(crate) async fn until(changed: &Notify, within: Duration, holds: impl Fn() -> bool) -> bool {
    let wait = async {
        loop {
            let notified = changed.notified();
            tokio::pin!(notified);
            // Registered before looking, so that a change between the look and the wait is not missed.
            notified.as_mut().enable();
            if holds() {
                return;
            }
            notified.await;
        }
    };
    tokio::time::timeout(within, wait).await.is_ok()
}
