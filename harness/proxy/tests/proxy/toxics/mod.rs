//! Toxics: their shapes, the board, and each behaviour over real sockets.

mod churn;
mod effects;
mod ends;
mod shapes;
mod stalled;

use std::sync::Arc;

use chaos_proxy::{Direction, LinkConfig, Proxy, ProxyConfig, Toxic, ToxicBoard, ToxicKind};
use tokio::net::{TcpListener, TcpStream};

use crate::kit::{Client, PATIENCE, soon};

/// A proxy with the TCP link `db`, whose upstream is the test itself.
struct Lab {
    proxy: Proxy,
    upstream: TcpListener,
    board: Arc<ToxicBoard>,
}

impl Lab {
    async fn new() -> Self {
        Self::with(|config| config, []).await
    }

    async fn with(config: impl Fn(ProxyConfig) -> ProxyConfig, toxics: impl IntoIterator<Item = Toxic>) -> Self {
        let upstream = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let link = LinkConfig::tcp("db").upstream(upstream.local_addr().expect("address"));
        let link = toxics.into_iter().fold(link, LinkConfig::toxic);
        let proxy = Proxy::start(config(ProxyConfig::new([link]))).await.expect("start");
        let board = proxy.toxics("db").expect("board");
        Self { proxy, upstream, board }
    }

    /// A client and the other end of its connection.
    async fn pair(&self) -> (Client, Client) {
        let client = Client::to(&self.proxy, "db").await;
        let (upstream, _): (TcpStream, _) = soon(self.upstream.accept()).await.expect("accept");
        (client, Client(upstream))
    }

    /// Adds a toxic named `t` and waits until all live connections run it.
    async fn add(&self, kind: ToxicKind, direction: Direction) {
        let change = self.board.add(Toxic::new(kind, direction).named("t")).expect("added");
        assert!(self.board.settled(change.epoch, PATIENCE).await);
    }

    async fn remove(&self) {
        let change = self.board.remove("t").expect("removed");
        assert!(self.board.settled(change.epoch, PATIENCE).await);
    }
}

/// An hour: a wait that a test never sits out.
const HOUR_MS: i64 = 3_600_000;

fn latency(latency: i64) -> ToxicKind {
    ToxicKind::Latency { latency, jitter: 0 }
}
