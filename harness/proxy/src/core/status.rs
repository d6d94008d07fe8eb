//! What a link is right now.

use crate::config::Mode;
use crate::link::Link;
use crate::tls::TlsConfig;
use crate::toxics::Toxic;

/// What a link is right now.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkStatus {
    /// Its name.
    pub name: String,
    /// What it understands.
    pub mode: Mode,
    /// Where it listens, resolved; as it was given while it has never been enabled.
    pub listen: String,
    /// `host:port` of its upstream.
    pub upstream: Option<String>,
    /// Whether it accepts connections.
    pub enabled: bool,
    /// The header field that carries the key; a TCP link reads none.
    pub key_header: Option<String>,
    /// TLS on either side.
    pub tls: TlsConfig,
    /// Connections that are open.
    pub connections: u64,
    /// Requests that have arrived (their heads came), from its start. A TCP link reads none.
    pub arrivals: u64,
    /// Requests that have arrived and have no record yet.
    pub in_flight: usize,
    /// Its toxics, in the order they were added.
    pub toxics: Vec<Toxic>,
}

impl LinkStatus {
    pub(crate) fn of(link: &Link) -> Self {
        Self {
            name: link.name.clone(),
            mode: link.mode,
            listen: link.listen(),
            upstream: link.target().address.map(|a| a.to_string()),
            enabled: link.bound().is_some(),
            key_header: link.key_header.clone().filter(|_| link.mode == Mode::Http),
            tls: link.tls.config().clone(),
            connections: link.connections(),
            arrivals: link.live.arrivals(),
            in_flight: link.live.in_flight(),
            toxics: link.toxics.list(),
        }
    }
}
