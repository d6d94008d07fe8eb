//! Why a proxy could not be started or asked.

use std::io;
use std::net::SocketAddr;

use crate::toxics::ToxicError;

/// Bytes of a link's name: it is in every record, every metric and every answer.
pub(crate) const MAX_NAME: usize = 1024;

/// Why a proxy could not be started or asked.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// An empty, unprintable or endless name, or its beginning.
    #[error("link names have 1 to {MAX_NAME} bytes and no control characters; `{0}` is not usable")]
    BadName(String),
    /// Another link has the name.
    #[error("there is a link `{0}` already; choose another name or remove it first")]
    NameTaken(String),
    /// The listen address cannot be understood or resolved.
    #[error("link `{link}` cannot listen on `{address}`: {reason}; write host:port, for example 127.0.0.1:0")]
    BadListen {
        /// The link.
        link: String,
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Spans cannot be exported so.
    #[error(transparent)]
    Otlp(#[from] crate::export::OtlpError),
    /// The link is disabled, so it has no address.
    #[error("link `{0}` is disabled and has no address; enable it first")]
    Disabled(String),
    /// More links than a proxy has.
    #[error("a proxy has at most {limit} links; remove one first")]
    TooManyLinks {
        /// The limit.
        limit: usize,
    },
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
    /// Its TLS cannot be as it is configured.
    #[error("link `{link}`: tls.{source}")]
    Tls {
        /// The link.
        link: String,
        /// What is wrong.
        source: crate::tls::TlsError,
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
    /// An HTTP link was asked for toxics.
    #[error("link `{0}` reads HTTP and has no toxics; arm rules on it, or put a TCP link in front of it")]
    NoToxics(String),
    /// The toxics are not possible.
    #[error(transparent)]
    Toxic(#[from] ToxicError),
}
