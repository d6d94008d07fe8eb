//! Scenario files: one load under a timeline of faults, for each variant of a service.
//!
//! What a contract cannot say, because it is about one incident: so many payments, this fault at that time, and a
//! *control*, the service made wrong on purpose, which the checks must find out. A file names a contract and overrides
//! what the incident needs: environment, promises, the client's patience. [`run`] plays each variant on a rig of its own:
//! steady state before, load and faults, healing, steady state after.

mod checks;
mod error;
mod fault_word;
mod file;
mod judged;
mod load;
mod play;
mod run;
mod validate;

pub use checks::CHECKS;
pub use error::ScenarioError;
pub use fault_word::FaultWord;
pub use file::{
    BankSpec, ClientSpec, FaultSpec, Isolate, LoadSpec, ScenarioFile, Setup, ShapeWord, Steady, Storm, Until, VERSION,
    Variant,
};
pub(crate) use judged::judge;
pub use run::{RunOptions, run};

/// Name of the file's copy in a run folder.
pub(crate) const COPY: &str = "scenario.toml";
