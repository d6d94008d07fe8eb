//! What can be wrong with a contract.

use std::path::PathBuf;

/// Why a contract cannot be used. Every variant says where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ContractError {
    /// The file cannot be read.
    #[error("cannot read the contract {}: {source}; give the path of a contract file", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no contract by its size.
    #[error("the contract {} is larger than 1 MiB; give the path of a contract file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a contract.
    #[error("{origin}:{line}:{column}: {message}{}\n{excerpt}", hint.as_ref().map(|h| format!("; did you mean `{h}`?")).unwrap_or_default())]
    Syntax {
        /// File name, or `<contract>`.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The nearest known key.
        hint: Option<String>,
        /// The offending line with a mark under the place.
        excerpt: String,
    },
    /// The parts do not fit together.
    #[error("{origin}: {field}: {problem}")]
    Invalid {
        /// File name, or `<contract>`.
        origin: String,
        /// The field, as a dotted path.
        field: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}
