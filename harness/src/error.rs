//! The errors of whole runs.

use crate::contract::ContractError;
use crate::record::RecordError;
use crate::rig::RigError;

/// Why a run did not come to a verdict.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The contract is not usable.
    #[error(transparent)]
    Contract(#[from] ContractError),
    /// The scenario file is not usable.
    #[error(transparent)]
    Scenario(#[from] crate::scenario::ScenarioError),
    /// A rig could not start, drive or stop.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// The run folder could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A scenario or check of that name does not exist.
    #[error("there is no scenario or check `{name}`; known: {known}")]
    UnknownScenario {
        /// The name that was given.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// The choice left nothing to run.
    #[error("nothing to run: the contract promises nothing that the chosen scenarios or checks would verify")]
    NothingChosen,
    /// `HARNESS_LANES` is not usable.
    #[error(transparent)]
    Lanes(std::io::Error),
    /// A placement that this build does not have.
    #[error(
        "HARNESS_RIG is `{asked}`, which this version does not know; set HARNESS_RIG=process or HARNESS_RIG=attach, or unset it"
    )]
    NoPlacement {
        /// What was asked for.
        asked: String,
    },
    /// What was asked for cannot be done in the placement.
    #[error("{what} with HARNESS_RIG={placement}: unset it, and the harness starts the service itself")]
    NotThere {
        /// What cannot be done.
        what: &'static str,
        /// The placement.
        placement: &'static str,
    },
    /// `HARNESS_SEED` is not a seed.
    #[error("HARNESS_SEED is `{text}`; give a whole number from 0 to 2^64-1, or unset it")]
    BadSeed {
        /// What it is.
        text: String,
    },
    /// The run folder has no contract.
    #[error("run {run} has no contract, so nobody knows what was promised; replay a run of `harness verify`")]
    NoContract {
        /// The run.
        run: String,
    },
    /// The run folder has no evidence.
    #[error("run {run} holds no evidence: it was ended before its first scenario began")]
    NothingToJudge {
        /// The run.
        run: String,
    },
}
