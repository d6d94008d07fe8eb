//! The exit codes: public API, see the guide.

use std::process::ExitCode;

use harness::HarnessError;
use harness::judge::Ruling;
use harness::rig::RigError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All pass.
    Passed = 0,
    /// A check failed.
    Failed = 1,
    /// Usage, contract or scenario error.
    Usage = 2,
    /// Inconclusive.
    Inconclusive = 3,
    /// Nothing ran.
    NothingRan = 4,
    /// The rig could not start or stop.
    Rig = 5,
    /// A bug of ours.
    Internal = 70,
    /// Ctrl-C.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl From<Ruling> for Exit {
    fn from(ruling: Ruling) -> Self {
        match ruling {
            Ruling::Pass => Exit::Passed,
            Ruling::Inconclusive => Exit::Inconclusive,
            Ruling::Fail => Exit::Failed,
        }
    }
}

impl From<&HarnessError> for Exit {
    fn from(error: &HarnessError) -> Self {
        match error {
            HarnessError::Contract(_)
            | HarnessError::Scenario(_)
            | HarnessError::UnknownScenario { .. }
            | HarnessError::BadSeed { .. }
            | HarnessError::Lanes(_)
            | HarnessError::NoContract { .. }
            | HarnessError::NotThere { .. }
            | HarnessError::Rig(
                RigError::Template { .. }
                | RigError::Client(_)
                | RigError::NotPromised { .. }
                | RigError::NotAttached
                | RigError::NoInstance { .. },
            ) => Exit::Usage,
            HarnessError::NothingChosen | HarnessError::NothingToJudge { .. } => Exit::NothingRan,
            HarnessError::Rig(_) | HarnessError::Record(_) | HarnessError::NoPlacement { .. } => Exit::Rig,
        }
    }
}
