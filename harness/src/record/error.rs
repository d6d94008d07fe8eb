//! Why a run folder could not be written or read.

use std::io;
use std::path::{Path, PathBuf};

use judge::evidence::CodecError;

/// Why a run folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The disk is full, or the quota is used up.
    #[error("cannot {action} {}: the disk is full; free some space, or set HARNESS_RUNS to a folder elsewhere", .path.display())]
    DiskFull {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
    },
    /// The folder cannot be written by us.
    #[error("cannot {action} {}: {source}; set HARNESS_RUNS to a folder that you may write to", .path.display())]
    NotWritable {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Read-only file system, or no permission.
        source: io::Error,
    },
    /// Anything else that the file system refuses.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no such run.
    #[error("there is no run at {}{}", .path.display(), newest(.known))]
    NoSuchRun {
        /// Where we looked.
        path: PathBuf,
        /// Runs that exist next to it, newest first.
        known: Vec<String>,
    },
    /// The folder is something else.
    #[error("{} is not a run folder: {reason}; give a folder below `runs`, or `latest`", .path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A newer harness wrote it.
    #[error("{} has run format version {found}; this build reads up to {known}: use a newer harness", .path.display())]
    TooNew {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that this build reads.
        known: u32,
    },
    /// The run has no such scenario.
    #[error("the run {run} has no scenario `{name}`; it has: {}", .known.join(", "))]
    NoSuchScenario {
        /// The run.
        run: String,
        /// What was asked for.
        name: String,
        /// What it has.
        known: Vec<String>,
    },
    /// A file name that would leave the folder.
    #[error("`{name}` cannot be a file of a run folder: use a plain file name")]
    BadName {
        /// The name.
        name: String,
    },
    /// The evidence itself.
    #[error("{}: {source}", .path.display())]
    Evidence {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CodecError,
    },
    /// The recorder has failed before, so the file ends in the middle of a record.
    #[error("{} was given up after an earlier error; the records before it can still be replayed", .path.display())]
    GivenUp {
        /// The file.
        path: PathBuf,
    },
}

impl RecordError {
    /// Sorts an I/O error by what one can do about it.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { action, path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::NotWritable { action, path, source }
            }
            _ => Self::Io { action, path, source },
        }
    }

    pub(crate) fn codec(action: &'static str, path: &Path, source: CodecError) -> Self {
        match source {
            CodecError::Io(source) => Self::io(action, path, source),
            source => Self::Evidence { path: path.to_owned(), source },
        }
    }
}

fn newest(known: &[String]) -> String {
    match known {
        [] => "; no run was recorded yet".to_owned(),
        some => format!("; the newest are: {}", some.iter().take(5).cloned().collect::<Vec<_>>().join(", ")),
    }
}
