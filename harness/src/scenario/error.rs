//! What can be wrong with a scenario file.

use std::path::PathBuf;

use crate::contract::ContractError;

/// Why a scenario file cannot be used. Every variant says where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario {}: {source}; give the path of a scenario file", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no scenario by its size.
    #[error("the scenario {} is larger than 1 MiB; give the path of a scenario file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The text is not a scenario.
    #[error("{origin}:{line}:{column}: {message}{}\n{excerpt}", hint.as_ref().map(|h| format!("; did you mean `{h}`?")).unwrap_or_default())]
    Syntax {
        /// File name, or `<scenario>`.
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
    #[error("{origin}{}: {field}: {problem}", line.map(|l| format!(":{l}")).unwrap_or_default())]
    Invalid {
        /// File name, or `<scenario>`.
        origin: String,
        /// Line, from 1, when the field or its table stands in the text.
        line: Option<usize>,
        /// The field, as a dotted path.
        field: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The contract that it names cannot be used.
    #[error("{origin}: contract: {source}")]
    Contract {
        /// File name, or `<scenario>`.
        origin: String,
        /// What is wrong with the contract, or with what the scenario puts into it.
        source: Box<ContractError>,
    },
}
