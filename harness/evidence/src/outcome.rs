//! What the load driver, as a client, asked and got.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ids::TraceContext;
use super::time::At;

/// One client request and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Number of the request within the scenario, from 0, in the order they were sent.
    pub seq: u64,
    /// The scenario step that sent it.
    pub step: String,
    /// Idempotency key that was sent, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Who asked, where a contract tells callers apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Trace context that was sent.
    pub context: TraceContext,
    /// SHA-256 of the request body, hexadecimal.
    pub payload: String,
    /// Amount asked for, in minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// When it was sent.
    pub sent: At,
    /// When the outcome was known.
    pub ended: At,
    /// The answer.
    pub answer: Answer,
    /// The contract's route that was asked; absent: the payment itself, `[request]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// Number of the service's instance that was asked, from 1; absent: the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replica: Option<u32>,
}

impl Outcome {
    /// Time from send to outcome.
    #[must_use]
    pub fn latency(&self) -> Duration {
        self.ended.since(self.sent)
    }

    /// Status, when there was a whole reply.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match &self.answer {
            Answer::Reply(reply) => Some(reply.status),
            Answer::TimedOut | Answer::Left | Answer::Failed { .. } => None,
        }
    }

    /// Whether it asked for a payment, and not for something else by another route.
    #[must_use]
    pub fn is_payment(&self) -> bool {
        self.route.is_none()
    }

    /// Number of the service's instance that was asked, from 1.
    #[must_use]
    pub fn instance(&self) -> u32 {
        self.replica.unwrap_or(1)
    }

    /// Whether the client was told that the request took effect (any 2xx).
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.status().is_some_and(|s| (200..300).contains(&s))
    }

    /// The reply, when there was a whole one.
    #[must_use]
    pub fn reply(&self) -> Option<&ClientReply> {
        match &self.answer {
            Answer::Reply(reply) => Some(reply),
            Answer::TimedOut | Answer::Left | Answer::Failed { .. } => None,
        }
    }
}

/// How a client request ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A whole reply.
    Reply(ClientReply),
    /// Nothing within the driver's own limit: the outcome is unknown.
    TimedOut,
    /// The client closed its connection on purpose, as the step says: the outcome is unknown.
    Left,
    /// The connection failed: the outcome is unknown.
    Failed {
        /// What the client library said.
        error: String,
    },
}

/// A reply as the client saw it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientReply {
    /// Status.
    pub status: u16,
    /// `content-type`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// SHA-256 of the body bytes, hexadecimal.
    pub body_sha256: String,
    /// The first bytes of the body as text, for people.
    pub excerpt: String,
    /// Value of the contract's replay marker header, when it was present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marker: Option<String>,
    /// `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// The `status` member of a problem+json body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_status: Option<u16>,
    /// The `type` member of a problem+json body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem_type: Option<String>,
    /// The contract's degradation marker, when it was present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The age that the reply tells of itself, in the service's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<String>,
    /// How the payment stands, in the service's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
}
