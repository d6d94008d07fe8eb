//! The run folder: evidence first, verdict last.
//!
//! ```text
//! runs/latest -> 20260102T030405Z-1a2b3c4d
//! runs/20260102T030405Z-1a2b3c4d/
//!     run.json            what was run, on what, with which seed: `harness-run` version 1
//!     contract.toml       the contract as it was read
//!     children.jsonl      processes of the run, for `harness sweep`
//!     scenarios/NAME/
//!         evidence.jsonl  sealed before anybody judges it
//!         service.log     what the service printed
//!         ...             what others derive: verdict.json, junit.xml, report.txt
//! ```
//!
//! The folder's layout, `run.json` and `children.jsonl` are public formats; the evidence format is `judge`'s.

mod atomic;
mod children;
mod error;
mod folder;
mod host;
mod manifest;
mod reading;
mod recorder;
mod stamp;

pub use children::{ChildEntry, ChildRegister, ProcessId, RegisterRead, World};
pub use error::RecordError;
pub use folder::{RunFolder, ScenarioFolder, runs_root};
pub use host::Host;
pub use manifest::{ContractFile, ContractText, MANIFEST_FORMAT, MANIFEST_VERSION, Manifest, Start};
pub use reading::{RunEntry, runs};
pub use recorder::Recorder;
