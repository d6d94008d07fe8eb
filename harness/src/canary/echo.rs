//! The far end of the canary's way.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Connections served at once; more wait in the backlog.
const MAX_CONNECTIONS: usize = 64;
/// Pause after a failed accept, which would otherwise spin while file descriptors are short.
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// A server on 127.0.0.1 that sends back what it receives. Dropping it ends it and its connections.
#[derive(Debug)]
pub struct EchoServer {
    addr: SocketAddr,
    accepting: JoinHandle<()>,
}

impl EchoServer {
    /// Starts it on a port that the system chooses.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        Ok(Self { addr, accepting: tokio::spawn(accept(listener)) })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropped, and its connections aborted, with this task.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(async move {
                    // A connection that breaks is the client's to report.
                    let _ = serve(stream).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

async fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 1024];
    loop {
        let n = stream.read(&mut buffer).await?;
        if n == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..n]).await?;
    }
}
