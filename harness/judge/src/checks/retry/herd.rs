//! R3: clients that failed together do not come back together.

use std::time::Duration;

use super::gaps::Gaps;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R3;
use crate::checks::support::{Case, Request, Tally, attempt_line, pause, requests, unfired};
use crate::duration;
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, RetryPolicy};
use crate::stats::{Alpha, TestResult, peak};

const STORM: &str = R3.bug_classes[0];

/// Share of the expected retries that must have come.
const ENOUGH: f64 = 0.98;

/// Shorter windows would measure timers.
const SHORTEST_WINDOW: Duration = Duration::from_millis(5);

/// Whether the declared law spreads a herd at all. One without randomness promises the opposite, and R3 has nothing to
/// hold such a service to.
#[must_use]
pub fn excludes_a_herd(policy: &RetryPolicy) -> bool {
    (0..policy.attempts.saturating_sub(1) as usize).any(|k| !policy.backoff.is_atom(k))
}

/// **R3** Clients that failed together do not come back together.
///
/// - *Measure*: retries of the step `herd` in the fullest sliding window, first attempts left out. Each client's retries
///   are placed by their gaps from its own first failure, as if all had failed in the same instant: how far the load
///   driver spread them does not matter. The window is a tenth of the declared base.
/// - *Test*: fewer than m*, the smallest number that rules the declared law out ([`crate::stats::peak`]). Windows are
///   judged as if they were longer by the longest pause that the canary measured: a pause is what pushes arrivals
///   together, while the noise of each client by itself spreads them.
/// - *False alarms*: at most 1e-7, a Chernoff bound over all windows.
/// - *Inconclusive*: a canary pause above the bound, or no canary; too few retries; a law without randomness
///   ([`excludes_a_herd`]); a herd too small for the fullest window to tell.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-herd".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503] }"#)?;
/// assert!(retry::excludes_a_herd(&policy));
/// let finding = retry::no_herd(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn no_herd(policy: &RetryPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R3, move |evidence| judge(evidence, &policy, &link, noise))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let law = &policy.backoff;
    let promise = format!("a herd that failed together spreads its retries as {} does", law.describe());
    let case = Case::new(R3, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == "herd");
    if asked.is_empty() {
        return case.did_not_run("`herd`");
    }
    let herd = Herd::of(&asked, policy);
    let mut tally = Tally::default();
    tally.count("clients that retried", herd.clients);
    tally.count("retries", herd.offsets.len());
    if let Some((why, advice)) = pause(evidence, noise) {
        return case.inconclusive(tally, why, advice);
    }
    if !excludes_a_herd(policy) {
        let why = "the declared law has no randomness: it promises that clients which failed together return together";
        let advice = "declare a law with jitter, or leave this check out: R2 judges the waits";
        return case.inconclusive(tally, why.to_owned(), advice.to_owned());
    }
    let slack = Duration::from_nanos(evidence.canary_max_ns().unwrap_or_default());
    let Some((setup, result)) = peak_of(&herd, policy, slack) else {
        let advice = "see R1 and R6: the service does not retry this failure, or declares waits too far apart to judge";
        return case.inconclusive(tally, "no window could be judged".to_owned(), advice.to_owned());
    };
    let window = duration::format(setup.window);
    let seconds = setup.window.as_secs_f64();
    let raw = peak::max_sliding(&herd.arrivals, seconds).0;
    tally.millis("window", seconds);
    tally.fact("retries in the fullest window", result.statistic, "");
    tally.fact("m*", result.critical, "");
    tally.count("retries in the fullest window, by the clock", raw);
    tally.millis("spread of the first failures", herd.spread);
    let case = case.measured(format!(
        "{}; the first failures were spread over {:.0} ms, and by the clock the fullest window held {raw} retries",
        result.detail,
        1e3 * herd.spread
    ));
    if result.rejected {
        let what = format!(
            "{} of {} retries came back within {window}, {} or more rule out {}",
            result.statistic,
            herd.offsets.len(),
            result.critical,
            law.describe()
        );
        tally.breach(STORM, what, herd.lines(seconds));
        return case.fail(tally, result.tail);
    }
    tally.judged = herd.clients;
    if result.critical > herd.clients as f64 {
        let what = format!(
            "m* is {}, more than the {} clients: their return as one would not be seen",
            result.critical, herd.clients
        );
        tally.gap(what, "run it on a quieter machine, with more clients, a larger base or more jitter");
    }
    if (herd.missing as f64) > (1.0 - ENOUGH) * (herd.missing + herd.offsets.len()) as f64 {
        let what = format!("{} of {} expected retries are missing", herd.missing, herd.missing + herd.offsets.len());
        tally.gap(what, "see R1: the service makes fewer attempts than promised, or they do not join to their payment");
    }
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass =
        format!("the fullest window of {window} held {} retries, below m* = {}", result.statistic, result.critical);
    case.conclude(tally, pass)
}

/// The retries of a herd.
struct Herd<'a> {
    clients: usize,
    retries: usize,
    missing: usize,
    /// Seconds from each client's own first failure, waits only.
    offsets: Vec<f64>,
    /// By the proxy's clock, in seconds.
    arrivals: Vec<f64>,
    /// Seconds between the earliest and the latest first failure.
    spread: f64,
    gaps: Gaps<'a>,
}

impl<'a> Herd<'a> {
    fn of(asked: &[Request<'_, 'a>], policy: &RetryPolicy) -> Self {
        let mut gaps = Gaps::of(asked, policy);
        // Attempts beyond the promised ones are for R1 to count.
        let retries = (policy.attempts as usize).saturating_sub(1);
        gaps.rows.iter_mut().for_each(|row| row.truncate(retries));
        let mut offsets = Vec::new();
        for row in &gaps.rows {
            offsets.extend(row.iter().scan(0.0, |at, gap| {
                *at += gap.seconds();
                Some(*at)
            }));
        }
        let firsts = || gaps.rows.iter().filter_map(|row| row.first()).map(|gap| gap.before.reply.ended.0);
        let spread = firsts().max().zip(firsts().min()).map_or(0.0, |(last, first)| (last - first) as f64 / 1e9);
        Herd {
            clients: gaps.rows.iter().filter(|row| !row.is_empty()).count(),
            retries,
            missing: gaps.missing,
            arrivals: gaps.iter().map(|gap| gap.after.arrived.0 as f64 / 1e9).collect(),
            offsets,
            spread,
            gaps,
        }
    }

    /// The retries of the fullest window.
    fn lines(&self, window: f64) -> Vec<Line> {
        let start = peak::max_sliding(&self.offsets, window).1;
        let inside = self.gaps.iter().zip(&self.offsets).filter(|(_, at)| (start..=start + window).contains(*at));
        inside
            .map(|(gap, at)| {
                let remark = format!("{:.1} ms of waiting after its first failure", 1e3 * at);
                attempt_line(gap.after, gap.rank + 1, Some(gap.before), &remark)
            })
            .collect()
    }
}

/// The peak of the herd in the shortest window, from a tenth of the base on, that the profile can resolve.
fn peak_of(herd: &Herd<'_>, policy: &RetryPolicy, slack: Duration) -> Option<(peak::Herd, TestResult)> {
    let law = &policy.backoff;
    let base = if law.base().is_zero() { Duration::from_secs_f64(law.support(0).1) } else { law.base() };
    let shortest = (base / 10).max(SHORTEST_WINDOW);
    [1, 4, 16].into_iter().find_map(|times| {
        let setup = peak::Herd {
            clients: herd.clients,
            retries: herd.retries,
            window: shortest * times,
            slack,
            alpha: Alpha::DEFAULT,
            sliding: true,
        };
        peak::test(&herd.offsets, &setup, law).ok().map(|result| (setup, result))
    })
}
