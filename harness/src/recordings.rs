//! How often a scenario is recorded: again, and then by itself, while a machine that paused keeps it from a verdict.

use judge::promise::Noise;
use judge::{Fact, Finding, Ruling};

/// Recordings of a scenario at most. The second one is for the crowd that its neighbours were, the third for a machine with
/// other work to do; a fourth would not find one that is fit.
const MOST: usize = 3;

/// The recordings of one scenario up to now.
#[derive(Debug)]
pub(crate) struct Recordings {
    half_of_bound_ns: u128,
    taken: usize,
}

impl Recordings {
    /// None yet, against that noise bound.
    pub(crate) fn against(noise: Noise) -> Self {
        Self { half_of_bound_ns: noise.eps.as_nanos() / 2, taken: 0 }
    }

    /// Whether the next one is a repetition, which runs alone and waits for a quiet moment.
    pub(crate) fn again(&self) -> bool {
        self.taken > 0
    }

    /// Takes note of one, with the canary's longest reading in it, and says whether it is the one that counts: when it is
    /// `settled`, when the machine was not what kept it from that, or when it was the last that is allowed. Findings that
    /// come from a repetition say which one it was.
    pub(crate) fn counts(&mut self, settled: bool, pause_ns: Option<u64>, findings: &mut [Finding]) -> bool {
        self.taken += 1;
        if self.taken > 1 {
            for finding in findings {
                finding.facts.push(Fact {
                    name: "recordings".to_owned(),
                    value: self.taken.into(),
                    unit: String::new(),
                });
            }
        }
        let disturbed = pause_ns.is_some_and(|pause| u128::from(pause) > self.half_of_bound_ns);
        settled || !disturbed || self.taken == MOST
    }
}

/// Whether there is a verdict: all passed, or one failed, and then it is never recorded again.
pub(crate) fn ruled(findings: &[Finding]) -> bool {
    findings.iter().map(|f| f.ruling).max() != Some(Ruling::Inconclusive)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use judge::evidence::{Evidence, Header, TimeBase};

    use super::*;

    const BOUND: Noise = Noise { eps: Duration::from_millis(60) };
    const QUIET: Option<u64> = Some(30_000_000);
    const BUSY: Option<u64> = Some(30_000_001);

    fn findings(rulings: &[Ruling]) -> Vec<Finding> {
        let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
        let (run, service) = ("r".to_owned(), "payments".to_owned());
        let (scenario, placement) = ("steady".to_owned(), "simulated".to_owned());
        let header =
            Header { run, scenario, service, seed: 1, placement, time, eps_ns: 60_000_000, recorder: "0".to_owned() };
        let some = judge::checks::trust::canary_is_quiet(BOUND).judge(&Evidence::new(header));
        rulings.iter().map(|ruling| Finding { ruling: *ruling, ..some.clone() }).collect()
    }

    /// Proves that a recording counts when it passed, when it failed, and when the machine was quiet; that an inconclusive
    /// one of a busy machine is repeated; and that the third counts whatever it says.
    #[test]
    fn only_the_machine_is_a_reason_for_another() {
        use Ruling::{Fail, Inconclusive, Pass};
        for (rulings, pause, counts) in [
            (&[Pass, Pass][..], BUSY, true),
            (&[Pass, Inconclusive, Fail], BUSY, true),
            (&[Pass, Inconclusive], QUIET, true),
            (&[Pass, Inconclusive], None, true),
            (&[Inconclusive, Pass], BUSY, false),
        ] {
            let mut recordings = Recordings::against(BOUND);
            assert!(!recordings.again());
            let mut findings = findings(rulings);
            assert_eq!(recordings.counts(ruled(&findings), pause, &mut findings), counts, "{rulings:?} {pause:?}");
            assert!(recordings.again());
        }
        let mut recordings = Recordings::against(BOUND);
        let taken: Vec<_> = (0..3).map(|_| recordings.counts(false, BUSY, &mut findings(&[Inconclusive]))).collect();
        assert_eq!(taken, [false, false, true]);
    }

    /// Proves that a finding of a repetition says so, and that others do not.
    #[test]
    fn a_repetition_is_told() {
        let mut recordings = Recordings::against(BOUND);
        let told =
            |findings: &[Finding]| findings[0].facts.iter().find(|f| f.name == "recordings").map(|f| f.value.clone());
        let mut first = findings(&[Ruling::Inconclusive]);
        recordings.counts(false, BUSY, &mut first);
        assert_eq!(told(&first), None);
        let mut second = findings(&[Ruling::Pass]);
        assert!(recordings.counts(true, BUSY, &mut second));
        assert_eq!(told(&second), Some(2.into()));
    }
}
