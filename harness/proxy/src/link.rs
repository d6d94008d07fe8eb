//! One link: its listener, its upstream and what its connections share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::clock::Clock;
use crate::config::{Limits, Mode};
use crate::engine::{Engine, KeyCounts, MAX_KEYS};
use crate::live::Live;
use crate::log::Log;
use crate::serve;
use crate::sync::{locked, read, write};
use crate::tasks::Tasks;
use crate::traffic::Flow;

/// Pause after a failed `accept`, which is out of descriptors or memory: trying again at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// What the connections of one link share.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) key_header: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) address: SocketAddr,
    pub(crate) upstream: RwLock<Target>,
    pub(crate) clock: Clock,
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Log,
    pub(crate) live: Live,
    pub(crate) flow: Flow,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) conns: Arc<AtomicU64>,
    pub(crate) ordinals: Mutex<KeyCounts>,
    /// Set when the proxy stops: what ends after that, ends unfinished.
    pub(crate) stopping: Arc<AtomicBool>,
}

/// Where a link's upstream is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    pub(crate) address: Option<Arc<str>>,
    /// Changes with the address: a connection kept from an earlier one is not used again.
    pub(crate) generation: u64,
}

impl Link {
    pub(crate) fn target(&self) -> Target {
        read(&self.upstream).clone()
    }

    pub(crate) fn set_upstream(&self, address: &str) {
        let mut target = write(&self.upstream);
        target.address = Some(Arc::from(address));
        target.generation += 1;
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Ordinal of the next attempt with this key; 0 when too many keys are known to count apart.
    pub(crate) fn ordinal(&self, key: Option<&str>) -> u32 {
        let next = locked(&self.ordinals).next(key);
        next.unwrap_or_else(|| {
            let text = format!("link `{}`: more than {MAX_KEYS} keys; later ones have no ordinals", self.name);
            self.log.spoil(self.clock.now(), "key-limit", text);
            0
        })
    }

    /// Accepts until the proxy stops. Dials happen in the connections' own tasks: one that hangs blocks nobody else.
    pub(crate) async fn accept(self: Arc<Self>, listener: Arc<TcpListener>) {
        let room = Arc::new(Semaphore::new(self.limits.connections.min(Semaphore::MAX_PERMITS)));
        loop {
            if room.available_permits() == 0 {
                let text = format!("link `{}`: {} connections are open", self.name, self.limits.connections);
                self.log.spoil(self.clock.now(), "connection-limit", text + "; further ones wait in the backlog");
            }
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
            let stream = match listener.accept().await {
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
            let link = Arc::clone(&self);
            self.tasks.spawn(async move {
                serve::connection(link, stream).await;
                drop(permit);
            });
        }
    }

    /// Dials the upstream.
    pub(crate) async fn dial(&self) -> Result<(TcpStream, u64), String> {
        let Target { address, generation } = self.target();
        let Some(address) = address else {
            return Err("no upstream is set".to_owned());
        };
        let dial = TcpStream::connect(address.as_ref());
        match tokio::time::timeout(self.limits.dial_time, dial).await {
            Ok(Ok(stream)) => {
                // Without it small writes wait for acknowledgements; a failure only costs time.
                let _slow = stream.set_nodelay(true);
                Ok((stream, generation))
            }
            Ok(Err(e)) => Err(format!("dial {address}: {e}")),
            Err(_) => Err(format!("dial {address}: no answer within {:?}", self.limits.dial_time)),
        }
    }
}
