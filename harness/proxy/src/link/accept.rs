//! Accepting connections.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::Link;
use crate::conn::ConnRecord;
use crate::serve;

/// Pause after a failed `accept`, which is out of descriptors or memory: trying again at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

impl Link {
    /// Accepts until the link stops. Dials happen in the connections' own tasks: one that hangs blocks nobody else.
    pub(super) async fn accept(self: Arc<Self>, listener: Arc<TcpListener>) {
        let room = Arc::new(Semaphore::new(self.limits.connections.min(Semaphore::MAX_PERMITS)));
        loop {
            if room.available_permits() == 0 {
                let text = format!("link `{}`: {} connections are open", self.name, self.limits.connections);
                self.log.spoil(self.clock.now(), "connection-limit", text + "; further ones wait in the backlog");
            }
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let accepted = tokio::select! {
                biased;
                never = self.tasks.reap() => match never {},
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                // A connection that ended in the backlog is no failure of ours.
                Err(e) if e.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(_) if self.is_stopping() => return,
                Err(e) => {
                    let text = format!("link `{}` cannot accept: {e}", self.name);
                    self.log.spoil(self.clock.now(), "accept-failed", text);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let open = Open::count(&self);
            // Begun here: the record of a connection that is ended before its task first runs is written too.
            let record = ConnRecord::open(&self);
            let link = Arc::clone(&self);
            self.tasks.spawn(async move {
                let _open = open;
                serve::connection(link, record, stream).await;
                drop(permit);
            });
        }
    }
}

/// One open connection in the link's count.
struct Open(Arc<Link>);

impl Open {
    fn count(link: &Arc<Link>) -> Self {
        link.open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(link))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
