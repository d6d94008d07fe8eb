//! Reasons to believe neither a good nor a bad verdict.

use std::time::Duration;

use super::ms;
use crate::evidence::Evidence;
use crate::promise::Noise;

/// What helps against a pause.
pub(in crate::checks) const QUIETER: &str = "run it again on a quieter machine, or declare a larger noise bound";

/// What helps a service that was kept waiting.
const A_PROCESSOR: &str = "run it again with less beside the service, or in a class and share that get a processor in time, or declare a larger \
     noise bound";

/// Why times cannot be judged: the longest pause, of the harness or of a service, exceeded the bound, or nobody measured one.
pub(in crate::checks) fn pause(evidence: &Evidence, noise: Noise) -> Option<(String, String)> {
    let Some(longest) = evidence.longest_pause() else {
        let what = "no canary ran, so nobody knows how long the machine paused";
        return Some((what.to_owned(), "record the scenario with the canary on".to_owned()));
    };
    let max = Duration::from_nanos(longest.max_ns);
    let (what, advice) = match &longest.process {
        None => (format!("the machine paused for {}", ms(max)), QUIETER),
        Some(service) => (format!("`{service}` waited {} for a processor", ms(max)), A_PROCESSOR),
    };
    let what = || format!("{what}, longer than the noise bound of {}", ms(noise.eps));
    (max > noise.eps).then(|| (what(), advice.to_owned()))
}

/// A pause that the canary saw, beyond the bound that the run declared. Nobody knows of one where no canary ran.
///
/// An attempt may then have timed out while its answer lay unread, or before it was sent, and nobody but the service knows.
/// Whatever a service does after an attempt that timed out it may have done rightly.
pub(in crate::checks) fn paused(evidence: &Evidence) -> Option<String> {
    evidence.canary_max_ns()?;
    pause(evidence, Noise { eps: Duration::from_nanos(evidence.header.eps_ns) }).map(|(what, _)| what)
}

/// A pause of so many noise bounds may still be the service's own: one that floods its dependency makes the machine pause
/// (up to 118 ms, at a bound of 60, were seen). A longer one acquits of everything.
pub(in crate::checks) const STANDSTILL: u32 = 4;

/// That the machine stood still for longer than that. Then the service, its dependency and the driver may each have given up on
/// anything, at any place, and a promise that looks broken may be kept. Only the harness's own canary tells: a service that waited
/// alone has kept nobody else from anything, what it may have given up on itself is excused by [`paused`], and one that
/// burns its processors makes its own threads wait.
pub(in crate::checks) fn standstill(evidence: &Evidence) -> Option<String> {
    let bound = Duration::from_nanos(evidence.header.eps_ns).saturating_mul(STANDSTILL);
    let max = evidence.echoes().map(|c| Duration::from_nanos(c.max_ns)).max().filter(|max| *max > bound)?;
    Some(format!("the machine stood still for {}, longer than {STANDSTILL} noise bounds", ms(max)))
}

/// Faults on `link` that struck less often than planned, in words. Empty: all did.
pub(in crate::checks) fn unfired(evidence: &Evidence, link: &str) -> Vec<String> {
    let short = evidence.faults.iter().filter(|f| f.link == link && f.fired < f.planned);
    short.map(|f| format!("fault {} ({}) struck {} times of {} planned", f.rule, f.what, f.fired, f.planned)).collect()
}
