//! S3: what is left of the service under more load than its dependency can bear.

use std::time::Duration;

use super::{ENOUGH, long_pause, no_share, noisy};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::S3;
use crate::checks::support::{Case, Tally, outcome_line, requests};
use crate::duration;
use crate::evidence::{Evidence, Joined};
use crate::promise::OverloadPolicy;

const UNLIMITED: &str = S3.bug_classes[0];
const RETRIES: &str = S3.bug_classes[1];

/// The step that it reads.
const STEP: &str = "overload";
/// Share of the load's time that is left out at its begin: until then any queue is still short.
const LEAD: f64 = 0.25;
/// How far above the capacity the load must have been.
const ABOVE: f64 = 1.2;
/// Attempts for each payment that reached the dependency, from which on retries are named as the cause.
const REPEATED: f64 = 1.25;

/// **S3** Asked for more than the dependency can do, the service still turns the promised share of its capacity into
/// successes.
///
/// - *Measure*: the step `overload`, an even load. Successes by the moment they were answered, over the time in which
///   payments were sent, the first quarter left out. `capacity` is what the dependency can work on in a second.
/// - *Test*: successes a second of at least `goodput` times the capacity.
/// - *False alarms*: none, successes are counted.
/// - *Inconclusive*: an offered load below 1.2 times the capacity; a time so short that fewer than 50 successes were
///   possible; no payment that reached the dependency; a pause longer than a quarter of that time, or, when the share is
///   missed, longer than two noise bounds, a stall of the disk longer than four, or a canary whose 99th percentile is above a third of a noise
///   bound; a share that is none.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "overload".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::storm, promise::OverloadPolicy};
///
/// let policy = OverloadPolicy { goodput: 0.7 };
/// let finding = storm::goodput(&policy, "bank", 200.0).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen
/// ```
#[must_use]
pub fn goodput(policy: &OverloadPolicy, link: &str, capacity: f64) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(S3, move |evidence| judge(evidence, &policy, &link, capacity))
}

fn judge(evidence: &Evidence, policy: &OverloadPolicy, link: &str, capacity: f64) -> Finding {
    let promise = format!(
        "at least {:.0} % of the dependency's {capacity:.0} calls a second end as successes when more is asked",
        100.0 * policy.goodput
    );
    let case = Case::new(S3, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == STEP);
    let (Some(first), Some(last)) = (asked.first(), asked.last()) else { return case.did_not_run("`overload`") };
    let (begun, end) = (first.outcome.sent, last.outcome.sent);
    let whole = end.since(begun);
    let from = begun + whole.mul_f64(LEAD);
    let time = end.since(from);
    let offered = asked.len() as f64 / whole.as_secs_f64();
    let within = |at| (from..end).contains(&at);
    let successes = asked.iter().filter(|r| r.outcome.succeeded() && within(r.outcome.ended)).count();
    let share = successes as f64 / time.as_secs_f64() / capacity;
    let reached = asked.iter().filter(|r| r.tries() > 0).count();
    let attempts: usize = asked.iter().map(|r| r.tries()).sum();
    let repeated = attempts as f64 / reached.max(1) as f64;
    let mut tally = Tally { judged: asked.len(), ..Tally::default() };
    tally.count("payments", asked.len());
    tally.fact("offered", offered, "payments/s");
    tally.fact("capacity", capacity, "calls/s");
    tally.fact("goodput", successes as f64 / time.as_secs_f64(), "payments/s");
    tally.fact("share of the capacity", share, "");
    tally.count("payments that reached the dependency", reached);
    tally.fact("attempts for each of them", repeated, "");
    let possible = capacity * time.as_secs_f64();
    let doubt = no_share(policy.goodput).or_else(|| unusable(offered, possible, capacity));
    if let Some((why, advice)) = doubt.or_else(|| long_pause(evidence, time)) {
        return case.inconclusive(tally, why, advice);
    }
    let seen = format!(
        "{:.1} payments a second succeeded over {}, {:.0} % of the dependency's {capacity:.0}; {offered:.0} a second were asked for",
        successes as f64 / time.as_secs_f64(),
        duration::format(Duration::from_millis(time.as_millis() as u64)),
        100.0 * share,
    );
    if share.is_nan() {
        let advice = "let the overload last longer, and see that the script gives the dependency a capacity";
        return case.inconclusive(tally, "nothing was possible in no time".to_owned(), advice.to_owned());
    }
    if reached == 0 {
        let advice = "name the link through which the service calls its dependency in the contract";
        tally.gap("no payment reached the dependency, whose capacity is what successes are held against", advice);
    }
    if share < policy.goodput {
        if let Some((why, advice)) = noisy(evidence) {
            return case.measured(seen).inconclusive(tally, why, advice);
        }
        let failed = asked.iter().filter(|r| !r.outcome.succeeded() && r.tries() > 0);
        let class = if repeated > REPEATED { RETRIES } else { UNLIMITED };
        tally.breach(class, seen.clone(), failed.map(|r| outcome_line(r.outcome, "")).collect());
    }
    case.conclude(tally, seen)
}

/// Why the load was no overload.
fn unusable(offered: f64, possible: f64, capacity: f64) -> Option<(String, String)> {
    if possible.is_nan() || possible < ENOUGH as f64 {
        let what = format!("only {possible:.0} successes were possible, at least {ENOUGH} are needed");
        return Some((what, "let the load run for longer".to_owned()));
    }
    if offered.is_nan() || offered < ABOVE * capacity {
        let what = format!("{offered:.0} payments a second were asked for, which is no overload of {capacity:.0}");
        return Some((what, "run it again on a quieter machine: the driver did not keep its rate".to_owned()));
    }
    None
}
