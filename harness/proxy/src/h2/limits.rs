//! Named limits of HTTP/2 connections, on both legs.
//!
//! The two windows make slow readers independent: no number of stalled streams can use up the connection's window, so
//! another stream always has room. They are also what bounds memory: bytes wait in windows, never in queues of ours.

use std::time::Duration;

use crate::config::Limits;

/// Streams that a client may have open at once; it is told so, and more are refused.
pub(super) const STREAMS: u32 = 256;
/// Streams that are open towards a client or still owed an answer by the upstream. At this number no further one is
/// taken up until one ends.
pub(super) const EXCHANGES: usize = 2 * STREAMS as usize;
/// Bytes of one body that may be on their way on one leg.
const STREAM_WINDOW: u32 = 64 << 10;
/// Bytes of all bodies of a connection that may be on their way on one leg.
const CONNECTION_WINDOW: u32 = STREAMS * STREAM_WINDOW;
/// Bytes of one body that the framing layer takes before they are on the wire.
const SEND_BUFFER: usize = 64 << 10;
/// Streams that a client may reset before they were looked at (rapid reset); at more the connection ends with
/// ENHANCE_YOUR_CALM.
const UNSEEN_RESETS: usize = 64;
/// Streams that may break the protocol, each ended with RST_STREAM, before the connection ends with it.
const FAULTY_STREAMS: usize = 256;
/// Streams that the proxy reset and still remembers, because frames of theirs may be on the way.
const REMEMBERED_RESETS: usize = 256;
/// How long they are remembered.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The side towards the client. A header list over twice the limit is answered 431 by the framing layer, without a
/// record; up to there the proxy refuses it on record. CONTINUATION floods end there too.
pub(super) fn server(limits: &Limits) -> h2::server::Builder {
    let mut builder = h2::server::Builder::new();
    builder
        .max_concurrent_streams(STREAMS)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(header_list(limits).saturating_mul(2))
        .max_pending_accept_reset_streams(UNSEEN_RESETS)
        .max_local_error_reset_streams(Some(FAULTY_STREAMS))
        .max_concurrent_reset_streams(REMEMBERED_RESETS)
        .reset_stream_duration(REMEMBERED);
    builder
}

/// The side towards the upstream.
pub(super) fn client(limits: &Limits) -> h2::client::Builder {
    let mut builder = h2::client::Builder::new();
    builder
        .enable_push(false)
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buffer_size(SEND_BUFFER)
        .max_header_list_size(header_list(limits))
        .max_local_error_reset_streams(Some(FAULTY_STREAMS))
        .max_concurrent_reset_streams(REMEMBERED_RESETS)
        .reset_stream_duration(REMEMBERED);
    builder
}

fn header_list(limits: &Limits) -> u32 {
    u32::try_from(limits.head_bytes).unwrap_or(u32::MAX)
}
