//! Reasons to believe neither a good nor a bad verdict.

use std::time::Duration;

use super::ms;
use crate::evidence::Evidence;
use crate::promise::Noise;

/// What helps against a pause.
pub(in crate::checks) const QUIETER: &str = "run it again on a quieter machine, or declare a larger noise bound";

/// Why times cannot be judged: the canary's longest pause exceeded the bound, or nobody measured one.
pub(in crate::checks) fn pause(evidence: &Evidence, noise: Noise) -> Option<(String, String)> {
    let Some(max) = evidence.canary_max_ns().map(Duration::from_nanos) else {
        let what = "no canary ran, so nobody knows how long the machine paused";
        return Some((what.to_owned(), "record the scenario with the canary on".to_owned()));
    };
    let what = || format!("the machine paused for {}, longer than the noise bound of {}", ms(max), ms(noise.eps));
    (max > noise.eps).then(|| (what(), QUIETER.to_owned()))
}

/// Whether the canary saw a pause beyond the bound that the run declared. Nobody knows of one where no canary ran.
pub(in crate::checks) fn paused(evidence: &Evidence) -> bool {
    evidence.canary_max_ns().is_some_and(|max| max > evidence.header.eps_ns)
}

/// Faults on `link` that struck less often than planned, in words. Empty: all did.
pub(in crate::checks) fn unfired(evidence: &Evidence, link: &str) -> Vec<String> {
    let short = evidence.faults.iter().filter(|f| f.link == link && f.fired < f.planned);
    short.map(|f| format!("fault {} ({}) struck {} times of {} planned", f.rule, f.what, f.fired, f.planned)).collect()
}
