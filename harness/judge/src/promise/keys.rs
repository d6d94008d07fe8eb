//! How long, for whom and of what a key is a key.

use serde::{Deserialize, Serialize};

/// Which answers a key remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Memo {
    /// Every answer once the work has begun, server errors included.
    #[serde(rename = "all")]
    All,
    /// Successes only: after any failure the key runs again.
    #[serde(rename = "2xx")]
    Successes,
    /// Successes and refusals: after a server error the key runs again.
    #[serde(rename = "2xx+4xx")]
    SuccessesAndRefusals,
}

impl Memo {
    /// Whether an answer with that status is given again to its key.
    #[must_use]
    pub fn remembers(self, status: u16) -> bool {
        match self {
            Memo::All => true,
            Memo::Successes => (200..300).contains(&status),
            Memo::SuccessesAndRefusals => (200..300).contains(&status) || (400..500).contains(&status),
        }
    }

    /// The word of the contract.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Memo::All => "all",
            Memo::Successes => "2xx",
            Memo::SuccessesAndRefusals => "2xx+4xx",
        }
    }
}

/// What a key belongs to: the same key elsewhere is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyScope {
    /// The caller, named by a header of the request.
    Caller,
    /// The route, which is what is asked for: the payment or another operation.
    Route,
}

/// What a repetition does once its key has expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterTtl {
    /// It is a new payment.
    New,
    /// It has no effect: it is refused, or still answered as before.
    #[default]
    NoEffect,
}

/// Over what two payloads are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fingerprint {
    /// The values: spaces and the order of members do not matter.
    Canonical,
    /// The bytes as sent.
    Bytes,
}

/// How the dependency says that a call with this key still runs. The service waits it out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingReply {
    /// Its status.
    #[serde(default = "conflict")]
    pub status: u16,
    /// Its content type.
    #[serde(default = "problem")]
    pub content_type: String,
    /// Its body.
    #[serde(default)]
    pub body: String,
}

fn conflict() -> u16 {
    409
}

fn problem() -> String {
    "application/problem+json".to_owned()
}
