//! What the collector takes in at most.

use std::time::Duration;

/// Bounds of a [`super::Collector`]. Reaching one is answered as OTLP says and noted; nothing is dropped silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectorLimits {
    /// Spans that are kept. Further ones are rejected by partial success.
    pub spans: usize,
    /// Approximate memory of the kept spans, bytes. Further ones are rejected by partial success.
    pub store_bytes: usize,
    /// Bytes of one request, as sent and again after decompression.
    pub request_bytes: usize,
    /// Bytes of all requests being read at one time; past it a request is told to come again.
    pub buffered_bytes: usize,
    /// Requests that are decoded at one time; the others wait their turn.
    pub decodes: usize,
    /// Open connections. At the limit, the oldest one that never sent a request gives way; if all have sent one, the new
    /// connection is closed.
    pub connections: usize,
    /// How long a request body may take to arrive.
    pub body_time: Duration,
}

impl Default for CollectorLimits {
    fn default() -> Self {
        Self {
            spans: 200_000,
            store_bytes: 512 << 20,
            request_bytes: 16 << 20,
            buffered_bytes: 64 << 20,
            decodes: 2,
            connections: 256,
            body_time: Duration::from_secs(30),
        }
    }
}

impl CollectorLimits {
    /// The name of a limit that is zero, if one is: nothing could be received.
    pub(super) fn zero(&self) -> Option<&'static str> {
        [
            ("spans", self.spans),
            ("store_bytes", self.store_bytes),
            ("request_bytes", self.request_bytes),
            ("buffered_bytes", self.buffered_bytes),
            ("decodes", self.decodes),
            ("connections", self.connections),
        ]
        .into_iter()
        .find_map(|(name, value)| (value == 0).then_some(name))
    }
}
