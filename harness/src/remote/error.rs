//! Why a remote proxy could not be driven.

use std::time::Duration;

use crate::probe::chain;

/// Why a remote proxy could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody answered.
    #[error("{call} failed: {reason}; is the {who} running, and is this the address of its API?")]
    Unreachable {
        /// Who should have answered.
        who: &'static str,
        /// What was asked.
        call: String,
        /// What happened.
        reason: String,
    },
    /// It said no.
    #[error("{call} was refused with status {status}: {error}")]
    Refused {
        /// What was asked.
        call: String,
        /// The status.
        status: u16,
        /// The proxy's words.
        error: String,
    },
    /// Somebody answered who is no chaos proxy, or one of another version.
    #[error("{call}: {what}; the harness needs chaos-proxy's API under /v1/, and mock-bank's journal")]
    Unexpected {
        /// What was asked.
        call: String,
        /// What is wrong with the answer.
        what: String,
    },
    /// Requests did not end.
    #[error("{left} requests were still in flight on link `{link}` after {within:?}")]
    Busy {
        /// The link.
        link: String,
        /// How many there were.
        left: u64,
        /// How long was waited.
        within: Duration,
    },
}

impl RemoteError {
    pub(super) fn unreachable(who: &'static str, call: &str, error: &dyn std::error::Error) -> Self {
        Self::Unreachable { who, call: call.to_owned(), reason: chain(error) }
    }
}
