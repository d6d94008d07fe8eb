//! Where in the exchange a fault strikes.

use serde::{Deserialize, Serialize};

use super::effect::{Effect, HoldThen};

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
