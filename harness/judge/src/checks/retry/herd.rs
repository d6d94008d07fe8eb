//! R3: clients that failed together do not come back together.

use std::time::Duration;

use super::peaks::{Herd, Peak};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R3;
use crate::checks::support::{Case, Tally, ms, pause, requests, strays_among, unfired, unjoined};
use crate::duration;
use crate::evidence::{Evidence, Joined};
use crate::promise::{Noise, RetryPolicy};

const STORM: &str = R3.bug_classes[0];

/// Share of the expected retries that must have come.
const ENOUGH: f64 = 0.98;

/// Whether the declared law spreads a herd at all. One without randomness promises the opposite, and R3 has nothing to
/// hold such a service to.
#[must_use]
pub fn excludes_a_herd(policy: &RetryPolicy) -> bool {
    // A law that does not spread its early retries does not spread later ones: ceilings only grow, up to a cap.
    (0..policy.attempts.saturating_sub(1).min(64) as usize).any(|k| !policy.backoff.is_atom(k))
}

/// **R3** Clients that failed together do not come back together.
///
/// - *Measure*: retries of the step `herd` in the fullest sliding window, first attempts left out. Each client's retries
///   are placed by their gaps from its own first failure, as if all had failed in the same instant: how far the load
///   driver spread them does not matter. Windows are a tenth, a fifth and a quarter of the declared base.
/// - *Test*: fewer than m*, the smallest number that rules the declared law out ([`crate::stats::peak`]). Windows are
///   judged as if they were longer by the longest pause that the canary measured: a pause is what pushes arrivals
///   together, while the noise of each client by itself spreads them.
/// - *False alarms*: at most 1e-7, a Chernoff bound over all windows of the three lengths.
/// - *Inconclusive*: a canary pause above the bound, or no canary; too few retries; a law without randomness
///   ([`excludes_a_herd`]); pauses so long, or a herd so small, that no window could tell it from the law.
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
    tally.millis("spread of the first failures", herd.spread);
    let strays = strays_among(&joined, asked.iter().map(|r| r.outcome)).len();
    if let Some((why, advice)) = unjoined(strays).or_else(|| pause(evidence, noise)) {
        return case.inconclusive(tally, why, advice);
    }
    if !excludes_a_herd(policy) {
        let why = "the declared law has no randomness: it promises that clients which failed together return together";
        let advice = "declare a law with jitter, or leave this check out: R2 judges the waits";
        return case.inconclusive(tally, why.to_owned(), advice.to_owned());
    }
    let slack = Duration::from_nanos(evidence.canary_max_ns().unwrap_or_default());
    let peaks = herd.peaks(law, slack);
    let Some(first) = peaks.first() else {
        let advice = "see R1 and R6: the service does not retry this failure, or declares waits too far apart to judge";
        return case.inconclusive(tally, "no window could be judged".to_owned(), advice.to_owned());
    };
    numbers(&peaks, &mut tally);
    let case = case.measured(format!(
        "{}; the first failures were spread over {:.0} ms, and by the clock the fullest window held {} retries",
        first.result.detail,
        1e3 * herd.spread,
        first.by_the_clock
    ));
    let (window, seen, critical) = (duration::format(first.window), first.result.statistic, first.result.critical);
    if first.result.rejected {
        let all = herd.offsets.len();
        let law = law.describe();
        let what = format!("{seen} of {all} retries came back within {window}, {critical} or more rule out {law}");
        tally.breach(STORM, what, herd.lines(first.window.as_secs_f64()));
        return case.fail(tally, first.chance());
    }
    tally.judged = herd.clients;
    doubts(&herd, &peaks, slack, &mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    case.conclude(tally, format!("the fullest window of {window} held {seen} retries, below m* = {critical}"))
}

fn numbers(peaks: &[Peak], tally: &mut Tally) {
    for peak in peaks {
        let window = duration::format(peak.window);
        tally.fact(&format!("retries in the fullest {window}"), peak.result.statistic, "");
        tally.fact(&format!("m* of {window}"), peak.result.critical, "");
        tally.count(&format!("retries in the fullest {window}, by the clock"), peak.by_the_clock);
    }
}

/// Why silence is no acquittal.
fn doubts(herd: &Herd<'_>, peaks: &[Peak], slack: Duration, tally: &mut Tally) {
    if !peaks.iter().any(|p| p.telling) {
        let what = format!(
            "with pauses of {} no window tells a herd of {} clients that returns as one from the declared law",
            ms(slack),
            herd.clients
        );
        tally.gap(what, "run it on a quieter machine, with more clients, a larger base or more jitter");
    }
    let expected = herd.missing + herd.offsets.len();
    if (herd.missing as f64) > (1.0 - ENOUGH) * expected as f64 {
        let what = format!("{} of {expected} expected retries are missing", herd.missing);
        tally.gap(what, "see R1: the service makes fewer attempts than promised, or they do not join to their payment");
    }
}
