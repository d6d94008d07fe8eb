//! TLS on either side of a link: what it is configured with, made ready once, and the handshakes of its connections.

mod authority;
mod config;
mod der;
mod error;
mod pem;
mod scheme;
mod shake;
mod shown;
mod side;
mod trust;
mod verify;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use config::{CertificateFault, Identity, Originate, Pem, Terminate, TlsConfig};
pub use error::TlsError;
pub(crate) use shake::{accept, connect};
pub(crate) use side::LinkTls;
pub(crate) use trust::Trust;

/// HTTP/1.1 in the words of ALPN.
pub(crate) const HTTP_1: &[u8] = b"http/1.1";
/// HTTP/2 in the words of ALPN.
pub(crate) const HTTP_2: &[u8] = b"h2";

/// The cryptography of every handshake. A process-wide default could be anybody's.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
