//! One link: what its connections share, and its life (`life.rs`).

mod accept;
mod address;
mod life;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};

pub(crate) use address::resolve;
pub use life::LinkChange;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use crate::clock::Clock;
use crate::config::{Limits, LinkConfig, Mode};
use crate::engine::{Engine, KeyCounts, MAX_KEYS};
use crate::live::Live;
use crate::log::Log;
use crate::sync::{locked, read, write};
use crate::tasks::Tasks;
use crate::tls::LinkTls;
use crate::toxics::ToxicBoard;
use crate::traffic::Flow;

/// What the connections of one link share.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its number, never used again for another link.
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) key_header: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) tls: LinkTls,
    upstream: RwLock<Target>,
    pub(crate) clock: Clock,
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Log,
    pub(crate) live: Live,
    pub(crate) flow: Flow,
    pub(crate) conns: Arc<AtomicU64>,
    ordinals: Mutex<KeyCounts>,
    pub(crate) toxics: Arc<ToxicBoard>,
    /// Connections that are open now.
    open: AtomicU64,
    pub(crate) tasks: Tasks,
    /// Set while the link stops: what ends after that, ends unfinished.
    stopping: AtomicBool,
    place: RwLock<Place>,
    /// One change of its life at a time; data never waits for it.
    changing: tokio::sync::Mutex<()>,
}

/// Where a link listens.
#[derive(Debug)]
struct Place {
    /// The address as it was given; as it was resolved once it was bound.
    listen: String,
    /// The socket, while the link is enabled.
    listener: Option<(Arc<TcpListener>, SocketAddr)>,
}

/// Where a link's upstream is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Target {
    pub(crate) address: Option<Arc<str>>,
    /// Changes with the address: a connection kept from an earlier one is not used again.
    pub(crate) generation: u64,
}

/// What all links of a proxy share.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub(crate) clock: Clock,
    pub(crate) engine: Arc<Engine>,
    pub(crate) log: Log,
    pub(crate) conns: Arc<AtomicU64>,
    /// Where sockets are read and written.
    pub(crate) runtime: Handle,
}

/// What a link is made of that had to be checked first.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) toxics: ToxicBoard,
    pub(crate) tls: LinkTls,
}

impl Link {
    /// A link that does not listen yet.
    pub(crate) fn new(id: u64, config: LinkConfig, parts: Parts, common: Common) -> Self {
        let Parts { toxics, tls } = parts;
        let upstream = Target { address: config.upstream.as_deref().map(Arc::from), generation: 0 };
        Self {
            id,
            name: config.name,
            mode: config.mode,
            key_header: config.key_header,
            limits: config.limits,
            tls,
            upstream: RwLock::new(upstream),
            clock: common.clock,
            engine: common.engine,
            log: common.log,
            live: Live::default(),
            flow: Flow::default(),
            conns: common.conns,
            ordinals: Mutex::new(KeyCounts::default()),
            toxics: Arc::new(toxics),
            open: AtomicU64::new(0),
            tasks: Tasks::on(common.runtime),
            stopping: AtomicBool::new(false),
            place: RwLock::new(Place { listen: config.listen, listener: None }),
            changing: tokio::sync::Mutex::default(),
        }
    }

    /// What would make a link like this one, as it is now.
    pub(crate) fn config(&self) -> LinkConfig {
        LinkConfig {
            name: self.name.clone(),
            listen: self.listen(),
            enabled: self.bound().is_some(),
            upstream: self.target().address.map(|address| address.to_string()),
            mode: self.mode,
            key_header: self.key_header.clone(),
            limits: self.limits,
            toxics: self.toxics.list(),
            tls: self.tls.config().clone(),
        }
    }

    pub(crate) fn target(&self) -> Target {
        read(&self.upstream).clone()
    }

    pub(crate) fn set_upstream(&self, address: &str) {
        let mut target = write(&self.upstream);
        target.address = Some(Arc::from(address));
        target.generation += 1;
    }

    /// Where it listens, while it does.
    pub(crate) fn bound(&self) -> Option<SocketAddr> {
        read(&self.place).listener.as_ref().map(|(_, address)| *address)
    }

    /// The address it was last bound to, or was given.
    pub(crate) fn listen(&self) -> String {
        read(&self.place).listen.clone()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
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

    /// Dials `target`. [`tls::connect`](crate::tls::connect) does it for a connection, with TLS where the link has it.
    pub(crate) async fn dial(&self, target: &Target) -> Result<TcpStream, String> {
        let Some(address) = &target.address else {
            return Err("no upstream is set".to_owned());
        };
        let dial = TcpStream::connect(address.as_ref());
        match tokio::time::timeout(self.limits.dial_time, dial).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(e)) => {
                if is_our_own_want(&e) {
                    let text = format!("link `{}` cannot dial {address}: {e}", self.name);
                    self.log.spoil(self.clock.now(), "dial-exhausted", text);
                }
                Err(format!("dial {address}: {e}"))
            }
            Err(_) => Err(format!("dial {address}: no answer within {:?}", self.limits.dial_time)),
        }
    }
}

/// Whether a dial failed for want of something on this side (descriptors, ports, memory), which says nothing of the
/// upstream.
fn is_our_own_want(e: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let wants = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::ADDRNOTAVAIL];
    e.raw_os_error().is_some_and(|code| wants.iter().any(|want| want.raw_os_error() == code))
}
