//! What a suite in Rust needs beside the rig: a session for the running test, and a result that prints like a report.

use std::fmt;

use judge::checks::Check;
use judge::evidence::Evidence;
use judge::{Finding, Ruling, Verdict, render};

use crate::battery::Scenario;
use crate::contract::Contract;
use crate::error::HarnessError;
use crate::load::fnv1a;
use crate::recordings::{Recordings, ruled};
use crate::rig::{Isolation, Rig, RigError};
use crate::session::Session;

/// What a test of a suite returns: `Ok` when every check passed.
pub type Judged = Result<(), Red>;

/// Why a test is red. Its `Debug` form, which test runners print, is the report.
pub enum Red {
    /// A check failed, or the evidence did not suffice.
    Verdict(Box<Verdict>),
    /// It did not come to a verdict.
    Error(Box<HarnessError>),
}

impl fmt::Debug for Red {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Red::Verdict(verdict) => {
                let plain = render::Style { color: false, width: 120 };
                write!(f, "\n{}", render::terminal(verdict, &plain))
            }
            Red::Error(error) => write!(f, "{error}"),
        }
    }
}

impl From<HarnessError> for Red {
    fn from(error: HarnessError) -> Self {
        Red::Error(Box::new(error))
    }
}

impl From<RigError> for Red {
    fn from(error: RigError) -> Self {
        HarnessError::from(error).into()
    }
}

/// A run for the test that is calling: its own run folder, and the seed of `HARNESS_SEED` or, without it, one derived
/// from the test's name, so that a pull request asks the same questions every time.
///
/// # Errors
/// When the run folder cannot be made, or `HARNESS_SEED` is not a number.
pub fn session(contract: Contract) -> Result<Session, HarnessError> {
    let test = std::thread::current().name().unwrap_or("unnamed").to_owned();
    let seed = match std::env::var("HARNESS_SEED") {
        Ok(text) => text.trim().parse().map_err(|_| HarnessError::BadSeed { text })?,
        Err(_) => fnv1a(test.as_bytes()),
    };
    Ok(Session::start(contract, seed, None, None)?
        .reproduced_by(format!("HARNESS_SEED={seed} cargo test -p suites -- --exact {test}")))
}

impl Session {
    /// Runs scenarios of the battery one after another and judges all of them.
    ///
    /// # Errors
    /// [`Red`] when a check did not pass or a rig failed.
    pub async fn judge(&self, scenarios: &[&Scenario]) -> Judged {
        self.conclude(self.findings(scenarios).await?)
    }

    /// Runs scenarios of the battery one after another and gives out the findings, whatever they say.
    ///
    /// # Errors
    /// When a rig failed.
    pub async fn findings(&self, scenarios: &[&Scenario]) -> Result<Vec<Finding>, HarnessError> {
        let mut findings = Vec::new();
        for scenario in scenarios {
            findings.extend(self.judged(scenario).await?);
        }
        Ok(findings)
    }

    /// Runs steps of the suite's own in a rig and judges the evidence by checks of its choice; again while a verdict is
    /// open and the machine paused, as [`Session::judged`] does.
    ///
    /// # Errors
    /// [`Red`] when a check did not pass or the rig failed.
    pub async fn judge_steps(
        &self,
        scenario: &str,
        isolation: Isolation,
        steps: impl AsyncFn(&Rig) -> Result<(), RigError>,
        checks: &[Check],
    ) -> Judged {
        let mut recordings = Recordings::against(self.contract().noise);
        loop {
            let spec = self.rig(scenario).isolate(isolation).timed(true);
            let rig = Rig::start(spec.again(recordings.again())).await?;
            steps(&rig).await?;
            let evidence = rig.finish().await?;
            let mut findings: Vec<_> = checks.iter().map(|check| check.judge(&evidence)).collect();
            if recordings.counts(ruled(&findings), evidence.canary_max_ns(), &mut findings) {
                return self.conclude(findings);
            }
        }
    }

    /// Starts a rig for a scenario of the suite's own.
    ///
    /// # Errors
    /// When a player does not start.
    pub async fn start_rig(&self, scenario: &str, isolation: Isolation) -> Result<Rig, RigError> {
        Rig::start(self.rig(scenario).isolate(isolation).timed(true)).await
    }

    /// Judges evidence by checks of the suite's choice.
    ///
    /// # Errors
    /// [`Red`] when a check did not pass.
    pub fn judge_by(&self, evidence: &Evidence, checks: impl IntoIterator<Item = Check>) -> Judged {
        self.conclude(checks.into_iter().map(|check| check.judge(evidence)).collect())
    }

    fn conclude(&self, mut findings: Vec<Finding>) -> Judged {
        for finding in findings.iter_mut().filter(|f| f.ruling != Ruling::Pass) {
            finding.reproduce = Some(self.how_to_reproduce(&finding.scenario));
        }
        let verdict = self.verdict(findings);
        self.write(&verdict)?;
        if verdict.ruling == Ruling::Pass { Ok(()) } else { Err(Red::Verdict(Box::new(verdict))) }
    }
}
