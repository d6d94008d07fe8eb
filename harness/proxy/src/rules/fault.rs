//! Where in the exchange a fault strikes, and what it does there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::http2::{GrpcStatus, Http2Code};

/// A fault: a phase of the exchange and an effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Where it strikes.
    pub at: Phase,
    /// With [`Phase::ResponseBody`] only: how many bytes of the body pass first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<u64>,
    /// What it does.
    pub effect: Effect,
}

/// Phases of an exchange, in the order they are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The connection was accepted; no byte was read.
    Connect,
    /// The request was read whole; nothing was forwarded.
    Request,
    /// The request was sent to the upstream whole; its answer was not waited for.
    Forwarded,
    /// The head of the upstream's answer came; the client has none of it.
    ResponseHead,
    /// The head and a number of body bytes were passed to the client.
    ResponseBody,
    /// The upstream's answer came whole; the client has none of it.
    Response,
}

impl Phase {
    /// All phases.
    pub const ALL: [Phase; 6] =
        [Phase::Connect, Phase::Request, Phase::Forwarded, Phase::ResponseHead, Phase::ResponseBody, Phase::Response];

    /// Its word in the grammar.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Phase::Connect => "connect",
            Phase::Request => "request",
            Phase::Forwarded => "forwarded",
            Phase::ResponseHead => "response_head",
            Phase::ResponseBody => "response_body",
            Phase::Response => "response",
        }
    }
}

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

/// How long a delay is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Delay {
    /// Always this many milliseconds; fractions count.
    Ms(f64),
    /// Uniform between two bounds, in milliseconds, drawn from the proxy's seed.
    Uniform {
        /// Lower bound.
        lo_ms: f64,
        /// Upper bound.
        hi_ms: f64,
    },
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

impl Fault {
    /// A fault at a phase.
    #[must_use]
    pub fn at(at: Phase, effect: Effect) -> Self {
        Self { at, after_bytes: None, effect }
    }

    /// A status reply without asking the upstream.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::at(Phase::Request, Effect::status(status))
    }

    /// Accept, then RST before any byte: what a refused connection looks like, but with a mark in the log.
    #[must_use]
    pub fn refuse() -> Self {
        Self::at(Phase::Connect, Effect::Reset)
    }

    /// Read the request and say nothing until the client leaves. The upstream never hears of it.
    #[must_use]
    pub fn hang() -> Self {
        Self::at(Phase::Request, Effect::Hang)
    }

    /// Cut the connection before the request is forwarded.
    #[must_use]
    pub fn cut_before() -> Self {
        Self::at(Phase::Request, Effect::Close)
    }

    /// The upstream answers in full; the client gets `effect` instead.
    #[must_use]
    pub fn reply_lost(effect: Effect) -> Self {
        Self::at(Phase::Response, effect)
    }

    /// Cut the connection after `after_bytes` bytes of the answer's body.
    #[must_use]
    pub fn cut_mid_body(after_bytes: u64) -> Self {
        Self { at: Phase::ResponseBody, after_bytes: Some(after_bytes), effect: Effect::Close }
    }

    /// Hold the request before it is forwarded; it goes on when released, or after `timeout_ms`.
    #[must_use]
    pub fn hold(timeout_ms: u64) -> Self {
        Self::at(Phase::Request, Effect::Hold { timeout_ms, then: HoldThen::Pass })
    }

    /// Phase and effect in the words of the event log, e.g. `response/reset`, `request/reply 503`.
    #[must_use]
    pub fn what(&self) -> String {
        format!("{}/{}", self.at.word(), self.effect.word())
    }
}

impl Effect {
    /// A reply with an empty body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Effect::Reply { status, headers: BTreeMap::new(), body: String::new() }
    }

    /// Its word in the event log; a reply's carries its status, and those of HTTP/2 their codes.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Effect::Reply { status, .. } => format!("reply {status}"),
            Effect::Delay(_) => "delay".to_owned(),
            Effect::Reset => "reset".to_owned(),
            Effect::Close => "close".to_owned(),
            Effect::Hang => "hang".to_owned(),
            Effect::Hold { .. } => "hold".to_owned(),
            Effect::RstStream { code } => format!("rst_stream {code}"),
            Effect::GoAway { code, .. } => format!("goaway {code}"),
            Effect::GrpcStatus(status) => format!("grpc_status {}", status.code),
        }
    }
}
