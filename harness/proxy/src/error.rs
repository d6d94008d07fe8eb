//! Why a proxy could not be started or asked.

use std::io;
use std::net::SocketAddr;

/// Why a proxy could not be started or asked.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// No link at all.
    #[error("a proxy needs at least one link")]
    NoLinks,
    /// Two links of one name, or an empty name.
    #[error("link names must be unique and not empty; `{0}` is not")]
    BadName(String),
    /// A name that no link has.
    #[error("there is no link `{link}`; the links are: {links}")]
    UnknownLink {
        /// The name that was asked for.
        link: String,
        /// The names there are.
        links: String,
    },
    /// The address cannot be listened on.
    #[error("link `{link}` cannot listen on {address}: {source}; choose a free port, or port 0")]
    Listen {
        /// The link.
        link: String,
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The upstream is not `host:port`.
    #[error("link `{link}`: `{address}` is not an upstream; write host:port with a port from 1 to 65535")]
    BadUpstream {
        /// The link.
        link: String,
        /// What was given.
        address: String,
    },
    /// The key header is not a header name.
    #[error("link `{link}`: `{header}` is not a header name; write for example `Idempotency-Key`")]
    BadKeyHeader {
        /// The link.
        link: String,
        /// What was given.
        header: String,
    },
}
