//! The listener of the control plane, and its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::body::Run;
use super::{Api, ApiOptions, conn};
use crate::core::Core;
use crate::proxy::Proxy;

/// Bytes of a request's body.
pub const MAX_API_BODY_BYTES: usize = 8 << 20;
/// Open connections to the control plane; further ones are answered 503 and closed.
pub const MAX_API_CONNECTIONS: u32 = 1024;
/// How long calls in flight are waited for when the server stops.
pub(crate) const DRAIN_TIME: Duration = Duration::from_secs(30);
/// Threads of the control plane: one more than a single call with a large body can keep busy.
const API_THREADS: usize = 2;
/// Pause after a failed `accept`, which is out of descriptors or memory: trying again at once would only spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);
/// What a connection too many is told.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Why the control plane does not start.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The address cannot be listened on.
    #[error("the API cannot listen on {address}: {source}; choose another with -host and -port")]
    Listen {
        /// What was asked for.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Its threads do not start.
    #[error("the API's threads do not start: {source}; raise the limit of processes or threads")]
    Threads {
        /// The system's reason.
        source: io::Error,
    },
}

/// The threads of the control plane: its own, so that the thousands of connections that a call may wake do not stand
/// before its answer.
#[derive(Debug)]
struct Threads {
    handle: Handle,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

impl Threads {
    fn start() -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(API_THREADS).thread_name("chaos-proxy-api").enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    fn adopt(&self, listener: std::net::TcpListener) -> io::Result<TcpListener> {
        let _there = self.handle.enter();
        TcpListener::from_std(listener)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Without waiting: whoever drops it may be a task, which must not wait for threads.
            runtime.shutdown_background();
        }
    }
}

/// A running control plane. Dropping it closes its port and cuts its connections; the links go on.
#[derive(Debug)]
pub struct ApiServer {
    address: SocketAddr,
    run: watch::Sender<Run>,
    room: Arc<Semaphore>,
    accepting: JoinHandle<()>,
    _threads: Threads,
}

impl ApiServer {
    /// Starts the control plane of a proxy on `host:port`. The port is open when this returns.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn start(proxy: &Proxy, address: &str, options: ApiOptions) -> Result<Self, ApiError> {
        Self::bind(address, Arc::clone(proxy.core()), options).await
    }

    pub(crate) async fn bind(address: &str, core: Arc<Core>, options: ApiOptions) -> Result<Self, ApiError> {
        let failed = |source| ApiError::Listen { address: address.to_owned(), source };
        let listener = listen(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let threads = Threads::start().map_err(|source| ApiError::Threads { source })?;
        let listener = threads.adopt(listener).map_err(failed)?;
        let api = Arc::new(Api::new(core, options, address));
        let (run, running) = watch::channel(Run::Serving);
        let room = Arc::new(Semaphore::new(MAX_API_CONNECTIONS as usize));
        let accepting = threads.handle.spawn(accept(listener, api, Arc::clone(&room), running));
        Ok(Self { address, run, room, accepting, _threads: threads })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no further connections and waits until the calls in flight are answered, for 30 seconds at most. Returns
    /// whether all were.
    pub async fn shutdown(self) -> bool {
        self.accepting.abort();
        self.run.send_replace(Run::Draining);
        tokio::time::timeout(DRAIN_TIME, self.room.acquire_many(MAX_API_CONNECTIONS)).await.is_ok()
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        // The connections see that their sender is gone.
        self.accepting.abort();
    }
}

/// Binds the first address that the text names, IPv4 before IPv6: `localhost` is 127.0.0.1 for most clients.
async fn listen(address: &str) -> io::Result<std::net::TcpListener> {
    let address = if address.starts_with(':') { format!("[::]{address}") } else { address.to_owned() };
    let mut found: Vec<SocketAddr> = tokio::net::lookup_host(&address).await?.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    let listener = std::net::TcpListener::bind(&found[..])?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

async fn accept(listener: TcpListener, api: Arc<Api>, room: Arc<Semaphore>, run: watch::Receiver<Run>) {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(e) => {
                api.options.journal.warn(format!("the API cannot accept: {e}"));
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        match Arc::clone(&room).try_acquire_owned() {
            Ok(permit) => {
                let (api, run) = (Arc::clone(&api), run.clone());
                tokio::spawn(async move {
                    conn::serve(stream, api, run).await;
                    drop(permit);
                });
            }
            Err(_) => refuse(&stream, &api),
        }
    }
}

/// Answers without waiting: whoever holds all connections must not hold this up too.
fn refuse(stream: &TcpStream, api: &Api) {
    api.options.journal.warn(format!("the API has {MAX_API_CONNECTIONS} connections open and refuses another"));
    // It fits into an empty send buffer; a client that has left misses nothing.
    let _left = stream.try_write(FULL);
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;
    use crate::config::ProxyConfig;

    // Proves that a connection too many is told at once and closed, while the one that has the room goes on.
    #[tokio::test]
    async fn a_connection_too_many_is_refused() {
        let core = Arc::new(Core::new(&ProxyConfig::new([])));
        let listener = listen("127.0.0.1:0").await.expect("listener");
        let address = listener.local_addr().expect("address");
        let listener = TcpListener::from_std(listener).expect("listener");
        let api = Arc::new(Api::new(core, ApiOptions::default(), address));
        let (_run, running) = watch::channel(Run::Serving);
        let room = Arc::new(Semaphore::new(1));
        let accepting = tokio::spawn(accept(listener, api, Arc::clone(&room), running));
        let kept = TcpStream::connect(address).await.expect("connect");
        let mut refused = TcpStream::connect(address).await.expect("connect");
        let mut text = Vec::new();
        refused.read_to_end(&mut text).await.expect("told and closed");
        assert_eq!(text, FULL);
        drop(kept);
        let _free = room.acquire().await.expect("room again when the first has left");
        accepting.abort();
    }

    // Proves the spellings of an address: without a host it is every address, and a name is its IPv4 address.
    #[tokio::test]
    async fn addresses_are_listened_on() {
        let listening = async |text| listen(text).await.and_then(|l| l.local_addr()).map(|a| a.ip().to_string());
        assert_eq!(listening("localhost:0").await.expect("listener"), "127.0.0.1");
        assert!(["::", "0.0.0.0"].contains(&listening(":0").await.expect("listener").as_str()));
        assert!(listening("nonsense").await.is_err());
    }
}
