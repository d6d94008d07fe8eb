//! Why a probe could not read.

use std::time::Duration;

/// Why a probe could not read. The text says what to mend in the contract or the service.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The URL is not one that the probe can use.
    #[error("`{url}` is not a URL this probe can use ({reason}); give an http:// URL, the harness speaks no TLS")]
    Url {
        /// The URL as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answered.
    #[error("GET {url} failed: {reason}; is the service running, and is this its address?")]
    Unreachable {
        /// What was asked.
        url: String,
        /// What happened.
        reason: String,
    },
    /// The answer was not 200.
    #[error("GET {url} answered {status}: `{excerpt}`; the endpoint must answer 200 without credentials or redirects")]
    Status {
        /// What was asked.
        url: String,
        /// The status.
        status: u16,
        /// Begin of the body.
        excerpt: String,
    },
    /// The reading took too long.
    #[error("{what} did not finish within {limit:?}; make it cheaper or raise the probe's time limit")]
    Timeout {
        /// The request or query.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// The reading is too large.
    #[error("{what} returned more than {limit} bytes; return less or raise the probe's byte limit")]
    TooLarge {
        /// The request or query.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// The body is not what it should be.
    #[error("GET {url} did not answer {expected}: {reason}; it began with `{excerpt}`")]
    Format {
        /// What was asked.
        url: String,
        /// `JSON` or `Prometheus text`.
        expected: &'static str,
        /// What is wrong with it.
        reason: String,
        /// Begin of the body.
        excerpt: String,
    },
    /// A JSON pointer led nowhere, or to the wrong kind of value.
    #[error("in the answer of {url}, `{pointer}` is {found}; it must point to {expected}")]
    Pointer {
        /// What was asked.
        url: String,
        /// The pointer.
        pointer: String,
        /// What is there.
        found: String,
        /// What must be there.
        expected: &'static str,
    },
    /// The breaker is not there.
    #[error("{url} has no circuit breaker `{name}`; it has: {known}")]
    NoSuchBreaker {
        /// What was asked.
        url: String,
        /// The breaker's name.
        name: String,
        /// Names that are there.
        known: String,
    },
    /// The ledger database cannot be opened.
    #[error("cannot open the ledger `{path}` for reading: {reason}; the service must have created it, at this path")]
    Open {
        /// Path of the database.
        path: String,
        /// What SQLite said.
        reason: String,
    },
    /// The ledger's database server cannot be used.
    #[error(
        "cannot read the ledger at {called}: {reason}; give it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, without TLS"
    )]
    Database {
        /// Host, port and database; never the password.
        called: String,
        /// What happened.
        reason: String,
    },
    /// The database stayed locked.
    #[error("the ledger `{path}` stayed locked for {limit:?}; the service must not keep a write transaction open")]
    Locked {
        /// Path of the database.
        path: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The query is wrong.
    #[error("the ledger query failed: {reason}; the query was `{query}`")]
    Query {
        /// The query.
        query: String,
        /// What the database said.
        reason: String,
    },
    /// A column or field cannot be mapped.
    #[error("ledger {at}: {reason}")]
    Column {
        /// The column or field, with the row where it matters.
        at: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The probe's own task died.
    #[error("the probe's task ended early: {0}; this is a defect of the harness")]
    Internal(String),
}
