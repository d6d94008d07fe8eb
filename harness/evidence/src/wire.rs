//! What the chaos proxy saw: one record per attempt (HTTP request) and one per connection.

use serde::{Deserialize, Serialize};

use super::ids::TraceContext;
use super::time::At;

/// One HTTP request that arrived at a proxy: an *attempt*.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Position in the proxy's log, from 0 without gaps.
    pub seq: u64,
    /// The link (proxy) it arrived on.
    pub link: String,
    /// The connection that carried it.
    pub conn: u64,
    /// The value of the link's key header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// 1 for the first attempt with this key on this link, 2 for the next, and so on; keyless attempts count together.
    pub ordinal: u32,
    /// Trace context, when the request carried a well-formed `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<TraceContext>,
    /// Request method.
    pub method: String,
    /// Request target as sent.
    pub path: String,
    /// The body.
    pub body: Body,
    /// First byte of the request.
    pub arrived: At,
    /// End of the request head.
    pub head: At,
    /// End of the request, when it came whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<At>,
    /// What happened towards the upstream.
    pub upstream: Upstream,
    /// What the client got.
    pub reply: Reply,
    /// The fault that struck, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Struck>,
    /// The scope of the proxy that it belonged to, if to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// A request body, by size and digest.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Body {
    /// Bytes that arrived.
    pub bytes: u64,
    /// The declared `content-length`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<u64>,
    /// SHA-256 of the bytes that arrived, hexadecimal; absent when the body was not read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The upstream half of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Upstream {
    /// When the request had been written to the upstream whole; `None`: it never got there whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<At>,
    /// Status of the upstream's answer; withheld from the client when the fault says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `grpc-status` of the upstream's answer, from its trailers (or its head, when it has nothing else).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<u32>,
    /// End of the upstream's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<At>,
    /// Why the upstream failed, when it did (dial refused, closed early).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Further deliveries of the same request that a fault made, in order. The client got no answer to any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Delivery>,
}

/// A further delivery of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Delivery {
    /// When it had been written to the upstream whole; `None`: it never got there whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<At>,
    /// Status of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// End of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<At>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The client half of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// How the exchange ended for the client.
    pub end: End,
    /// Status that the client saw, when a head was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `Retry-After` as the client saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// `grpc-status` as the client saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<u32>,
    /// First byte written to the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte: Option<At>,
    /// The end of the exchange, and so the *failure instant* of a failed attempt: last byte of a status reply, the RST,
    /// the FIN, or the moment the client left.
    pub ended: At,
}

/// How an exchange ended for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// A whole reply was written.
    Replied,
    /// The proxy sent RST.
    Reset,
    /// The proxy sent FIN before a whole reply.
    Cut,
    /// The client closed or reset first (its own timeout or cancellation).
    ClientLeft,
    /// The upstream failed and the proxy passed that on as a closed connection.
    UpstreamFailed,
    /// The proxy was stopped with the exchange open.
    Unfinished,
    /// The request was not HTTP/1.1 that the proxy could read; it was answered 400.
    Malformed,
}

/// The rule that decided over an attempt, and what it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Struck {
    /// The rule's id.
    pub rule: String,
    /// Phase and effect in the rule grammar's words, e.g. `response/reset` or `request/reply 503`.
    pub what: String,
    /// Delay that the rule asked for, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_requested_ns: Option<u64>,
    /// Delay that was measured, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_injected_ns: Option<u64>,
    /// When a held attempt reached the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<At>,
    /// When it was let go (released, or its hold timed out).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<At>,
    /// Epoch of the fault set that decided.
    pub epoch: u64,
}

/// One connection that a proxy accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// The link (proxy) it arrived on.
    pub link: String,
    /// Its number.
    pub conn: u64,
    /// When it was accepted.
    pub accepted: At,
    /// When it was gone.
    pub closed: At,
    /// How many requests it carried.
    pub requests: u32,
    /// Bytes from the client.
    pub bytes_in: u64,
    /// Bytes to the client.
    pub bytes_out: u64,
    /// How it ended.
    pub end: ConnectionEnd,
    /// The fault that struck it before any request was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Struck>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionEnd {
    /// The client closed it.
    ByClient,
    /// The upstream closed it, or could not be reached.
    ByUpstream,
    /// A fault ended it with FIN.
    CutByFault,
    /// A fault ended it with RST before or after bytes were read.
    ResetByFault,
    /// The proxy was stopped.
    ByShutdown,
}
