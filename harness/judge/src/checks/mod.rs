//! The checks: one promise each, `&Evidence` in, a [`Finding`] out.

pub mod breaker;
pub mod catalogue;
pub mod degradation;
pub mod idempotency;
pub mod retry;
pub mod storm;
mod support;
pub mod timeout;
pub mod topology;
pub mod trust;

use self::support::{QUIETER, standstill};
use crate::evidence::Evidence;
use crate::{Finding, Ruling, Verdict};

pub use catalogue::{CATALOGUE, CheckInfo, Tier, info};

/// A check, bound to the promise it judges by.
pub struct Check {
    info: &'static CheckInfo,
    run: Box<dyn Fn(&Evidence) -> Finding + Send + Sync>,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Check({} {})", self.info.id, self.info.name)
    }
}

impl Check {
    /// Binds a judgement to its entry in the catalogue.
    pub fn new(info: &'static CheckInfo, run: impl Fn(&Evidence) -> Finding + Send + Sync + 'static) -> Self {
        Self { info, run: Box::new(run) }
    }

    /// Its entry in the catalogue.
    #[must_use]
    pub fn info(&self) -> &'static CheckInfo {
        self.info
    }

    /// Judges. Evidence that says of itself that something is missing turns a pass into inconclusive; evidence that was
    /// never sealed, because its run was killed, also turns a failure into inconclusive: what is missing might acquit. So does
    /// a machine that stood still for longer than four noise bounds: whatever waits for anything may then have given up.
    #[must_use]
    pub fn judge(&self, evidence: &Evidence) -> Finding {
        self.judge_ordered(&evidence.ordered())
    }

    /// The same for evidence whose records are in order.
    fn judge_ordered(&self, evidence: &Evidence) -> Finding {
        let mut finding = (self.run)(evidence);
        if !evidence.sealed && finding.ruling == Ruling::Fail {
            finding.ruling = Ruling::Inconclusive;
            finding.headline = format!("would fail, but the run was ended before it was over: {}", finding.headline);
            finding.chance = None;
            finding.advice = Some("run it again to the end; the records that are missing might acquit".to_owned());
        }
        if finding.ruling == Ruling::Fail
            && let Some(pause) = standstill(evidence)
        {
            finding.ruling = Ruling::Inconclusive;
            finding.headline = format!("{} - but {pause}", finding.headline);
            finding.chance = None;
            finding.advice = Some(QUIETER.to_owned());
        }
        if finding.ruling == Ruling::Pass
            && let Some(note) = evidence.spoiling_notes().next()
        {
            finding.ruling = Ruling::Inconclusive;
            finding.headline = format!("the evidence is incomplete ({}): {}", note.code, note.text);
            finding.advice = Some("run it again; what is missing cannot be judged".to_owned());
        }
        finding
    }
}

/// Judges one scenario's evidence by several checks.
#[must_use]
pub fn judge(evidence: &Evidence, checks: &[Check]) -> Verdict {
    let evidence = evidence.ordered();
    let findings = checks.iter().map(|c| c.judge_ordered(&evidence)).collect();
    let h = &evidence.header;
    Verdict::of(&h.run, &h.service, h.seed, &h.placement, findings)
}
