//! What a fault does where it strikes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Delay;
use super::http2::{GrpcStatus, Http2Code};
use super::retry_after::RetryAfter;

/// What a fault does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// Answers the client itself.
    Reply {
        /// Status, 200 to 599.
        status: u16,
        /// Header fields; the proxy adds `content-length` itself.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
        /// Body.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        body: String,
        /// A `Retry-After` field in one of its forms.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<RetryAfter>,
    },
    /// Waits, then goes on.
    Delay(Delay),
    /// Sends the client a TCP RST.
    Reset,
    /// Sends the client a TCP FIN.
    Close,
    /// Says nothing until the client leaves.
    Hang,
    /// Waits at a gate until it is released by command, then goes on.
    Hold {
        /// How long it waits at most, in milliseconds.
        timeout_ms: u64,
        /// What happens when that time is over.
        #[serde(default)]
        then: HoldThen,
    },
    /// Delivers the request to the upstream again, on connections of their own. The client gets the answer to the first
    /// delivery; the others are on record.
    Duplicate {
        /// How many further deliveries.
        #[serde(default = "once")]
        times: u32,
        /// How long each of them waits behind the one before, in milliseconds.
        #[serde(default, skip_serializing_if = "is_zero")]
        after_ms: f64,
    },
    /// Delivers slowly: a few bytes at a time. At `request` the request towards the upstream, later the answer.
    Trickle(Trickle),
    /// Changes the head of the upstream's answer; its body comes as it is.
    PatchResponse(Patch),
    /// Answers with something that is not a whole HTTP answer, then closes.
    Malformed {
        /// In which way.
        kind: Malformed,
    },
    /// Ends the HTTP/2 stream with RST_STREAM and this code. On HTTP/1.1 it is [`Effect::Reset`].
    RstStream {
        /// The code.
        code: Http2Code,
    },
    /// Sends GOAWAY and then FIN: every stream of the HTTP/2 connection ends. On HTTP/1.1 it is [`Effect::Close`].
    #[serde(rename = "goaway")]
    GoAway {
        /// The code.
        code: Http2Code,
        /// The last stream that counts as worked on; the last one that arrived when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_stream: Option<u32>,
    },
    /// Answers the client with a gRPC status; HTTP status 200. On HTTP/1.1 the status is in the header fields.
    GrpcStatus(GrpcStatus),
}

/// What happens to a held call that nobody released in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldThen {
    /// It goes on.
    #[default]
    Pass,
    /// It is reset.
    Reset,
}

/// Slow delivery.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trickle {
    /// Bytes that go out together.
    pub bytes: u32,
    /// Wait between two such pieces, in milliseconds; fractions count.
    pub every_ms: f64,
    /// Which part of the message is slow.
    #[serde(default)]
    pub part: Part,
}

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Its head.
    Head,
    /// Its body.
    Body,
    /// All of it.
    #[default]
    All,
}

/// Changes to the head of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// Another status, 200 to 599.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Header fields that are set, in place of those of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// Header fields that are taken away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// A `Retry-After` field in one of its forms, in place of what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<RetryAfter>,
}

/// In which way an answer is malformed. Each ends with FIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Malformed {
    /// No byte at all.
    Empty,
    /// Bytes that are not HTTP.
    RandomDataThenClose,
    /// A status line, then lines that are not header fields.
    GarbageHead,
    /// A chunked body whose second chunk has no size.
    BadChunk,
    /// A body that ends before its `content-length` is reached.
    TruncatedBody,
    /// A body that is longer than its `content-length` says.
    WrongLength,
}

impl Malformed {
    /// All kinds.
    pub const ALL: [Malformed; 6] = [
        Malformed::Empty,
        Malformed::RandomDataThenClose,
        Malformed::GarbageHead,
        Malformed::BadChunk,
        Malformed::TruncatedBody,
        Malformed::WrongLength,
    ];

    /// Its word in the grammar.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Malformed::Empty => "empty",
            Malformed::RandomDataThenClose => "random_data_then_close",
            Malformed::GarbageHead => "garbage_head",
            Malformed::BadChunk => "bad_chunk",
            Malformed::TruncatedBody => "truncated_body",
            Malformed::WrongLength => "wrong_length",
        }
    }
}

impl Effect {
    /// A reply with an empty body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Effect::Reply { status, headers: BTreeMap::new(), body: String::new(), retry_after: None }
    }

    /// A reply with an empty body that says when to come again.
    #[must_use]
    pub fn retry_after(status: u16, retry_after: RetryAfter) -> Self {
        Effect::Reply { status, headers: BTreeMap::new(), body: String::new(), retry_after: Some(retry_after) }
    }

    /// One further delivery of the request.
    #[must_use]
    pub fn duplicate() -> Self {
        Effect::Duplicate { times: once(), after_ms: 0.0 }
    }

    /// Its word in the event log; a reply's carries its status, a malformed answer's its kind, and
    /// those of HTTP/2 their codes.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Effect::Reply { status, .. } => format!("reply {status}"),
            Effect::Delay(_) => "delay".to_owned(),
            Effect::Reset => "reset".to_owned(),
            Effect::Close => "close".to_owned(),
            Effect::Hang => "hang".to_owned(),
            Effect::Hold { .. } => "hold".to_owned(),
            Effect::Duplicate { .. } => "duplicate".to_owned(),
            Effect::Trickle(_) => "trickle".to_owned(),
            Effect::PatchResponse(_) => "patch_response".to_owned(),
            Effect::Malformed { kind } => format!("malformed {}", kind.word()),
            Effect::RstStream { code } => format!("rst_stream {code}"),
            Effect::GoAway { code, .. } => format!("goaway {code}"),
            Effect::GrpcStatus(status) => format!("grpc_status {}", status.code),
        }
    }

    /// Whether what would have come may still come behind it, so that it has to be kept meanwhile.
    pub(crate) fn may_go_on(&self) -> bool {
        matches!(
            self,
            Effect::Delay(_)
                | Effect::Hold { .. }
                | Effect::Duplicate { .. }
                | Effect::Trickle(_)
                | Effect::PatchResponse(_)
        )
    }
}

fn once() -> u32 {
    1
}

fn is_zero(ms: &f64) -> bool {
    *ms == 0.0
}
