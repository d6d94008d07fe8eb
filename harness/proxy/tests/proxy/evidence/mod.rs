//! Evidence as an outside reader gets it: over the control plane, in a file, as metrics and as spans.

mod events;
mod file;
mod metrics;
mod otlp;
mod stream;
mod toxics;

use std::net::SocketAddr;

use bytes::Bytes;
use chaos_proxy::{ApiOptions, ApiServer, Proxy, ProxyConfig};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::kit::{Client, Upstream, bank, post, soon};

/// A proxy with one link `bank`, and its control plane.
pub struct Stage {
    pub proxy: Proxy,
    pub api: ApiServer,
    _upstream: Upstream,
}

impl Stage {
    pub async fn start() -> Self {
        Self::with(|config| config, ApiOptions::default()).await
    }

    pub async fn with(config: impl FnOnce(ProxyConfig) -> ProxyConfig, options: ApiOptions) -> Self {
        let upstream = Upstream::start().await;
        let proxy = Proxy::start(config(ProxyConfig::new([bank(upstream.addr)]).seed(7))).await.expect("start");
        let api = ApiServer::start(&proxy, "127.0.0.1:0", options).await.expect("api");
        Self { proxy, api, _upstream: upstream }
    }

    /// Sends `n` requests over one connection and waits until each has its record.
    pub async fn pay(&self, keys: std::ops::Range<usize>) {
        let mut client = Client::to(&self.proxy, "bank").await;
        for n in keys {
            client.send(post(&format!("k{n}"), "x")).await;
            client.reply().await;
        }
        self.proxy.settle(crate::kit::PATIENCE).await.expect("settled");
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        let response = call(self.api.address(), Method::GET, path).await;
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&whole(response).await).expect("JSON"))
    }
}

/// One call over a connection of its own.
pub async fn call(api: SocketAddr, method: Method, path: &str) -> Response<Incoming> {
    let stream = soon(TcpStream::connect(api)).await.expect("connect");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("handshake");
    tokio::spawn(connection);
    let request = Request::builder().method(method).uri(path).header("host", "proxy").body(Empty::<Bytes>::new());
    soon(sender.send_request(request.expect("request"))).await.expect("response")
}

pub async fn whole(response: Response<Incoming>) -> Bytes {
    soon(response.into_body().collect()).await.expect("body").to_bytes()
}
