//! Words of HTTP/2 and gRPC in the rule grammar: error codes and statuses, by name or by number.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names of the HTTP/2 error codes, by number (RFC 9113, section 7).
const HTTP2_NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// Names of the gRPC status codes, by number.
const GRPC_NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// An HTTP/2 error code. Written by name (`"REFUSED_STREAM"`) or by number; codes that have no name yet are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Word", into = "Word")]
pub struct Http2Code(pub u32);

impl Http2Code {
    /// No error: the usual code of an orderly GOAWAY.
    pub const NO_ERROR: Self = Self(0);
    /// The peer met an error of its own.
    pub const INTERNAL_ERROR: Self = Self(2);
    /// The stream was not worked on; asking again is safe.
    pub const REFUSED_STREAM: Self = Self(7);
    /// The stream is not needed any more.
    pub const CANCEL: Self = Self(8);
    /// The peer asks too much.
    pub const ENHANCE_YOUR_CALM: Self = Self(11);
}

/// A gRPC status code, 0 to 16. Written by name (`"UNAVAILABLE"`) or by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Word", into = "Word")]
pub struct GrpcCode(u32);

impl GrpcCode {
    /// Success.
    pub const OK: Self = Self(0);
    /// The deadline was over.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// A quota or a limit was reached.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// The service cannot be reached now; clients usually try again.
    pub const UNAVAILABLE: Self = Self(14);

    /// The code with this number; `None` above 16.
    #[must_use]
    pub fn new(number: u32) -> Option<Self> {
        ((number as usize) < GRPC_NAMES.len()).then_some(Self(number))
    }

    /// Its number, as `grpc-status` carries it.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// A gRPC status that the client gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrpcStatus {
    /// The code.
    pub code: GrpcCode,
    /// `grpc-message`, as text; it is percent-encoded on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// `grpc-retry-pushback-ms`: when the client may try again; -1 asks it not to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_pushback_ms: Option<i64>,
    /// At `response` only: the upstream's messages are passed, and only its trailers are replaced. Without it the client
    /// gets the status alone. (At `response_body` the messages that were passed before it always stand.)
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_messages: bool,
}

impl From<GrpcCode> for GrpcStatus {
    fn from(code: GrpcCode) -> Self {
        Self { code, message: None, retry_pushback_ms: None, after_messages: false }
    }
}

/// A code as text has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a code: its name such as \"UNAVAILABLE\" or \"CANCEL\", or its number")]
enum Word {
    Number(u32),
    Name(String),
}

impl TryFrom<Word> for Http2Code {
    type Error = String;

    fn try_from(word: Word) -> Result<Self, String> {
        match word {
            Word::Number(n) => Ok(Self(n)),
            Word::Name(name) => number(&HTTP2_NAMES, &name).map(Self).ok_or_else(|| {
                format!("unknown HTTP/2 error code `{name}`: write {} or a number", HTTP2_NAMES.join(", "))
            }),
        }
    }
}

impl TryFrom<Word> for GrpcCode {
    type Error = String;

    fn try_from(word: Word) -> Result<Self, String> {
        match word {
            Word::Number(n) => Self::new(n).ok_or_else(|| format!("gRPC status {n} is not one of 0 to 16")),
            Word::Name(name) => number(&GRPC_NAMES, &name)
                .map(Self)
                .ok_or_else(|| format!("unknown gRPC status `{name}`: write {} or 0 to 16", GRPC_NAMES.join(", "))),
        }
    }
}

impl From<Http2Code> for Word {
    fn from(code: Http2Code) -> Self {
        HTTP2_NAMES.get(code.0 as usize).map_or(Self::Number(code.0), |name| Self::Name((*name).to_owned()))
    }
}

impl From<GrpcCode> for Word {
    fn from(code: GrpcCode) -> Self {
        Self::Name(code.to_string())
    }
}

impl fmt::Display for Http2Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match HTTP2_NAMES.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl fmt::Display for GrpcCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(GRPC_NAMES.get(self.0 as usize).copied().unwrap_or("UNKNOWN"))
    }
}

fn number(names: &[&str], name: &str) -> Option<u32> {
    names.iter().position(|n| *n == name).and_then(|n| u32::try_from(n).ok())
}
