//! The record of one connection. It writes itself when it is dropped, so exactly once and also on shutdown and panic.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use evidence::{At, Connection, ConnectionEnd, Struck};

use crate::link::Link;
use crate::traffic::Traffic;
use crate::wire::{Inbox, Wire};

/// A client's socket and what it sent ahead.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) wire: Wire,
    pub(crate) inbox: Inbox,
}

/// The record of one connection, while it lives.
#[derive(Debug)]
pub(crate) struct ConnRecord {
    link: Arc<Link>,
    pub(crate) conn: u64,
    accepted: At,
    pub(crate) requests: u32,
    pub(crate) traffic: Arc<Traffic>,
    pub(crate) fault: Option<Struck>,
    end: Option<(ConnectionEnd, Option<At>)>,
}

impl ConnRecord {
    pub(crate) fn open(link: &Arc<Link>) -> Self {
        Self {
            link: Arc::clone(link),
            conn: link.conns.fetch_add(1, Ordering::AcqRel),
            accepted: link.clock.now(),
            requests: 0,
            traffic: Traffic::within(&link.flow.client),
            fault: None,
            end: None,
        }
    }

    /// Says how it ended; with the moment of a FIN or RST that a fault sent.
    pub(crate) fn ended(&mut self, end: ConnectionEnd, at: Option<At>) {
        self.end.get_or_insert((end, at));
    }
}

impl Drop for ConnRecord {
    fn drop(&mut self) {
        let unsaid = if self.link.is_stopping() { ConnectionEnd::ByShutdown } else { ConnectionEnd::ByClient };
        let (end, at) = self.end.unwrap_or((unsaid, None));
        self.link.log.connection(Connection {
            link: self.link.name.clone(),
            conn: self.conn,
            accepted: self.accepted,
            closed: at.unwrap_or_else(|| self.link.clock.now()),
            requests: self.requests,
            bytes_in: self.traffic.received(),
            bytes_out: self.traffic.sent(),
            end,
            fault: self.fault.take(),
        });
    }
}
