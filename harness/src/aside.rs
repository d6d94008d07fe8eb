//! Work that computes for long or waits for the disk, kept off the threads that carry the traffic: what holds one of those
//! up is a pause in every scenario that runs beside this one.

/// Does `work` on a thread of its own and returns what it gave. A panic in it goes on here.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
