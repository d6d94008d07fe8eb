//! What can go wrong while measuring. A measurement that went wrong is not reported as a number.

use std::io;

/// Why the bench stops.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The command line.
    #[error("{0}")]
    Usage(String),
    /// A process of the run did not start or did not say where it listens.
    #[error("{what} did not start: {why}")]
    Start {
        /// Which.
        what: String,
        /// Why.
        why: String,
    },
    /// A contender answered with something else than the origin's bytes.
    #[error("through {through}: expected {expected}, got {got}")]
    Wrong {
        /// The address.
        through: String,
        /// What should have come.
        expected: String,
        /// What came.
        got: String,
    },
    /// A system call.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// The error.
        source: io::Error,
    },
}

impl BenchError {
    pub(crate) fn start(what: &str, why: impl ToString) -> Self {
        Self::Start { what: what.to_owned(), why: why.to_string() }
    }
}

/// Says what was tried when a system call failed.
pub(crate) trait While<T> {
    fn during(self, what: &str) -> Result<T, BenchError>;
}

impl<T> While<T> for io::Result<T> {
    fn during(self, what: &str) -> Result<T, BenchError> {
        self.map_err(|source| BenchError::Io { what: what.to_owned(), source })
    }
}
