//! H1: the harness itself was served in time, and so was the service.

use std::time::Duration;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::H1;
use crate::checks::support::{Case, Tally, ms, pause};
use crate::evidence::Evidence;
use crate::promise::Noise;

/// **H1** No pause, of the harness or of a service, was longer than the declared noise bound while the scenario ran.
///
/// - *Measure*: the largest overshoot of the canary, which sleeps known times and echoes through a proxy; and the longest time that a
///   service was ready to run and had no processor, where the system tells.
/// - *Test*: not above the bound; above half of it the finding says so.
/// - *False alarms*: it never fails. Counting checks do not depend on it.
/// - *Inconclusive*: a longer overshoot or wait, or no canary.
///
/// ```
/// # use judge::evidence::{Canary, At, Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "steady".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::trust, promise::Noise};
///
/// let mut evidence = Evidence::new(header);
/// let check = trust::canary_is_quiet(Noise::default());
/// assert_eq!(check.judge(&evidence).ruling, Ruling::Inconclusive);
/// evidence.canary.push(Canary { process: None, samples: 500, max_ns: 4_000_000, p99_ns: 1_000_000, worst_at: At(0) });
/// assert_eq!(check.judge(&evidence).ruling, Ruling::Pass);
/// ```
#[must_use]
pub fn canary_is_quiet(noise: Noise) -> Check {
    Check::new(H1, move |evidence| judge(evidence, noise))
}

fn judge(evidence: &Evidence, noise: Noise) -> Finding {
    let case = Case::of_run(H1, evidence, format!("no pause longer than the noise bound of {}", ms(noise.eps)));
    let mut tally = Tally::default();
    tally.millis("noise bound", noise.eps.as_secs_f64());
    let samples: u64 = evidence.echoes().fold(0, |sum, c| sum.saturating_add(c.samples));
    tally.fact("canary echoes", samples, "");
    if let Some(worst) = evidence.echoes().max_by_key(|c| c.max_ns) {
        tally.millis("canary, max", worst.max_ns as f64 / 1e9);
        tally.millis("canary, 99th percentile", worst.p99_ns as f64 / 1e9);
        tally.millis("when the longest was due", worst.worst_at.as_millis_f64() / 1e3);
    }
    for (service, waits) in evidence.waits() {
        tally.millis(&format!("`{service}` without a processor, max"), waits.max_ns as f64 / 1e9);
        tally.millis(&format!("`{service}` without a processor, 99th percentile"), waits.p99_ns as f64 / 1e9);
        tally.millis(&format!("when `{service}` began to wait longest"), waits.worst_at.as_millis_f64() / 1e3);
    }
    if let Some((why, advice)) = pause(evidence, noise) {
        return case.inconclusive(tally, why, advice);
    }
    let longest = evidence.longest_pause();
    let max = Duration::from_nanos(longest.map_or(0, |c| c.max_ns));
    let near =
        if max > noise.eps / 2 { ": more than half of the bound, timing verdicts are near their edge" } else { "" };
    let whose = longest.and_then(|c| c.process.as_ref());
    let whose = whose.map(|service| format!(" (`{service}`, without a processor)")).unwrap_or_default();
    case.pass(tally, format!("the longest pause was {}{whose}, bound {}{near}", ms(max), ms(noise.eps)))
}
