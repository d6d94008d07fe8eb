//! TLS links under abuse: bytes that are no TLS, and handshakes that stop at every byte.

use chaos_proxy::{LinkConfig, Proxy, ProxyConfig, Terminate};
use tokio::io::AsyncWriteExt;

use super::kit::{Floor, dial, quiet, resets};
use crate::kit::{Client, Upstream, attempts, connections, eventually};

/// A whole ClientHello, as rustls writes it.
fn hello() -> Vec<u8> {
    let config = rustls::ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let mut client = rustls::ClientConnection::new(config.into(), name).expect("a client");
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).expect("a hello");
    bytes
}

// Proves that a TLS link survives plain HTTP, noise, and a hello that stops at any byte, by FIN and by RST: none is an
// attempt, each is a connection on record, and no task stays behind.
#[tokio::test]
async fn broken_handshakes_leave_nothing() {
    let upstream = Upstream::start().await;
    let link = LinkConfig::http("bank").upstream(upstream.addr).tls_terminate(Terminate::new());
    let proxy = Proxy::start(ProxyConfig::new([link])).await.expect("start");
    let floor = Floor::here();
    let addr = proxy.link_addr("bank").expect("link");
    let hello = hello();
    let mut connected = 0;
    for cut in 0..=hello.len() {
        for by_reset in [false, true] {
            let mut stream = dial(addr).await;
            stream.write_all(&hello[..cut]).await.expect("send");
            if by_reset {
                resets(&stream);
            }
            connected += 1;
        }
    }
    for noise in [
        b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(),
        vec![0; 100_000],
        vec![0xff; 100_000],
        [&hello[..], &[0x16; 100_000]].concat(),
        b"\x16\x03\x01\xff\xff".repeat(10_000),
    ] {
        let mut client = Client(dial(addr).await);
        // It may be ended before all of it is written.
        let _cut = client.0.write_all(&noise).await;
        client.0.shutdown().await.ok();
        client.rest().await;
        connected += 1;
    }
    eventually("a record of each connection", || connections(&proxy.log()).len() == connected).await;
    quiet(&proxy, "bank").await;
    assert!(attempts(&proxy.log()).is_empty() && upstream.seen().is_empty());
    floor.regained().await;
    proxy.shutdown().await;
}
