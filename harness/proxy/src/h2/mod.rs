//! HTTP/2 on HTTP links: each stream is one attempt, with the phases, faults and moments that HTTP/1.1 has.
//!
//! A client's connection has one task (`connection`), which drives the framing layer, and one task for each stream
//! (`stream`). What a stream says to its client goes through the connection's `door`. One connection leads to the
//! upstream for each client connection (`uplink`). Moments of what the proxy does are those at which it is handed to the
//! framing layer, right before the system call unless the peer takes nothing: never too late.

mod answer;
mod back;
mod client;
mod connection;
mod door;
mod ending;
mod fields;
mod grpc;
mod limits;
mod socket;
mod spoil;
mod stream;
mod there;
mod uplink;
mod upward;

use std::sync::Arc;

use tokio::sync::watch;

use crate::conn::{Client, ConnRecord};
use crate::link::Link;
use connection::Driver;
pub(crate) use grpc::grpc_fields;
use socket::Socket;
pub(crate) use upward::Whole;

/// What every HTTP/2 connection begins with, as far as it can be taken for a request of HTTP/1.1.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";

/// Serves the streams of one connection, whose preface is still in its inbox, until it ends.
pub(crate) async fn serve(link: &Arc<Link>, record: &mut ConnRecord, client: Client, retire: watch::Receiver<u64>) {
    let socket = Socket::new(client.wire.into_io(client.inbox), link.clock);
    Driver { link, record, socket, retire, last_stream: 0 }.run().await;
}
