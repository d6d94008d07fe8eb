//! `run.json`: what was run, on what, with which seed.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::RecordError;
use super::host::Host;
use super::stamp::Stamp;

/// The manifest's format name.
pub const MANIFEST_FORMAT: &str = "harness-run";
/// The version this build writes; it reads every version up to this one.
pub const MANIFEST_VERSION: u32 = 1;
/// File name within a run folder.
pub(super) const MANIFEST: &str = "run.json";

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The contract, when there is one.
    pub contract: Option<ContractText>,
    /// The run's seed.
    pub seed: u64,
    /// Placement: `process`, `containers` or `attach`.
    pub placement: String,
    /// The tree that is verified, for its commit; usually the directory of the contract.
    pub tree: PathBuf,
}

/// A contract as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractText {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub text: String,
}

/// The contract in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractFile {
    /// Where it was read. The run folder has a copy.
    pub path: PathBuf,
    /// SHA-256 of its text, hexadecimal.
    pub sha256: String,
}

/// The manifest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_FORMAT`].
    pub schema: String,
    /// Version of the format.
    pub version: u32,
    /// The run's id, which is also the name of its folder.
    pub run: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The contract, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<ContractFile>,
    /// The run's seed.
    pub seed: u64,
    /// Placement.
    pub placement: String,
    /// The command line of the harness.
    pub argv: Vec<String>,
    /// Version of the harness.
    pub recorder: String,
    /// The machine.
    pub host: Host,
}

impl Manifest {
    pub(super) fn new(run: &str, now: Stamp, start: &Start) -> Self {
        let contract = start.contract.as_ref().map(|c| ContractFile { path: c.path.clone(), sha256: sha256(&c.text) });
        Self {
            schema: MANIFEST_FORMAT.to_owned(),
            version: MANIFEST_VERSION,
            run: run.to_owned(),
            started: now.rfc3339(),
            contract,
            seed: start.seed,
            placement: start.placement.clone(),
            argv: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            recorder: env!("CARGO_PKG_VERSION").to_owned(),
            host: Host::here(&start.tree),
        }
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Probe {
            schema: String,
            version: u32,
        }
        let not_a_run = |reason: String| RecordError::NotARun { path: path.to_owned(), reason };
        let probe: Probe =
            serde_json::from_str(text).map_err(|e| not_a_run(format!("its run.json is damaged: {e}")))?;
        if probe.schema != MANIFEST_FORMAT {
            return Err(not_a_run(format!("its run.json has the schema `{}`", probe.schema)));
        }
        if probe.version > MANIFEST_VERSION {
            return Err(RecordError::TooNew { path: path.to_owned(), found: probe.version, known: MANIFEST_VERSION });
        }
        serde_json::from_str(text).map_err(|e| not_a_run(format!("its run.json is damaged: {e}")))
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}
