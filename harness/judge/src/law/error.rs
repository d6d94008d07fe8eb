//! Why a declared law cannot be used.

use thiserror::Error;

use super::LawName;

/// What is wrong with the parameters of a declared law. Each text says what to write instead.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LawError {
    /// The law needs a parameter that is not there.
    #[error("law `{law}` needs `{parameter}`, for example {example}")]
    Missing {
        /// The law.
        law: LawName,
        /// The missing parameter.
        parameter: &'static str,
        /// A value that would do.
        example: &'static str,
    },
    /// The law has no such parameter: it would be ignored silently.
    #[error("law `{law}` has no parameter `{parameter}`: remove it; `{law}` takes {allowed}")]
    Unused {
        /// The law.
        law: LawName,
        /// The parameter that does not belong to it.
        parameter: &'static str,
        /// What the law does take.
        allowed: String,
    },
    /// A number is outside its range, or not a number.
    #[error("`{parameter}` of law `{law}` is {value}: it must be {range}")]
    Range {
        /// The law.
        law: LawName,
        /// The parameter.
        parameter: &'static str,
        /// Its value, as text.
        value: String,
        /// The allowed range, in words.
        range: &'static str,
    },
    /// A row of a table ends before it begins.
    #[error("row {row} of the table begins at {lo} and ends at {hi}: write [shortest, longest]")]
    Row {
        /// The row, from 1.
        row: usize,
        /// Its first value.
        lo: String,
        /// Its second value.
        hi: String,
    },
}
