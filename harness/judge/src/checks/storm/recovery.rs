//! S2: the service comes back when a disturbance is over.

use std::time::Duration;

use super::{ENOUGH, long_pause, no_share, noisy};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::S2;
use crate::checks::support::{
    Case, Request, Tally, attempt_line, ms, note_blind, outcome_line, requests, strays_among, unfired, unjoined,
};
use crate::duration;
use crate::evidence::{At, Evidence, Joined};
use crate::promise::RecoveryPolicy;

const METASTABLE: &str = S2.bug_classes[0];
const ABANDONED: &str = S2.bug_classes[1];
const STAYS_DOWN: &str = S2.bug_classes[2];

/// The step that it reads.
const STEP: &str = "load";
/// Requests by which two stretches of an even load may differ because of where they were cut.
const CUT: f64 = 2.0;
/// Share by which the second half may exceed the first before the load counts as rising.
const RISING: f64 = 0.1;
/// Share of the time before the disturbance that is left out at its begin: a service that has just started warms up.
const WARM_UP: f64 = 0.25;
/// The load before and after must be asked for at the same rate, up to this share.
const SAME_RATE: f64 = 0.1;
/// Least time that is looked at after the promised one.
const AFTERMATH: Duration = Duration::from_millis(500);

/// **S2** When a disturbance is over the service comes back by itself, within the promised time.
///
/// - *Measure*: the step `load`, an even load. *Before* are the payments answered before the first fault on the link, but for
///   those of the first quarter of that time,
///   *after* those sent from the promised time after the last fault on: how many succeed, how many attempts they take, how
///   many requests reach the dependency in each second.
/// - *Test*: after, at least `goodput` of the success rate of before; attempts for each payment and requests a second above
///   those of before by at most 1 - `goodput`; requests that do not rise within that time.
/// - *False alarms*: none on a service that recovers, since before and after are the same load; two requests are left for
///   where the time was cut.
/// - *Inconclusive*: fewer than 50 payments on either side; less than half a second after the promised time; no good success
///   rate before; another rate of asking; a fault that did not strike; no call at all seen on the link; a pause
///   longer than a quarter of the promised time, or, when something is not back, longer than two noise bounds, a
///   stall of the disk longer than four, or a canary whose 99th percentile is above a third of a noise bound; a share that is none.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "recovery".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::storm, promise::RecoveryPolicy};
///
/// let policy: RecoveryPolicy = serde_json::from_str(r#"{ "within": "2s" }"#)?;
/// let finding = storm::recovers_after_trigger(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen
/// assert!(finding.promise.contains("95 %"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn recovers_after_trigger(policy: &RecoveryPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(S2, move |evidence| judge(evidence, &policy, &link))
}

/// What one stretch of the load shows.
struct Stretch<'r, 'j, 'a> {
    asked: Vec<&'r Request<'j, 'a>>,
    from: At,
    to: At,
    /// Payments sent within that time, answered within it or not.
    sent: usize,
    /// Requests at the dependency within that time, whosever they are.
    arrivals: Vec<At>,
}

impl<'r, 'j, 'a> Stretch<'r, 'j, 'a> {
    fn of(asked: Vec<&'r Request<'j, 'a>>, (from, to): (At, At), evidence: &Evidence, link: &str) -> Self {
        let sent = evidence.outcomes.iter().filter(|o| o.step == STEP && (from..to).contains(&o.sent)).count();
        let at = evidence.attempts.iter().filter(|a| a.link == link).map(|a| a.arrived);
        Self { asked, from, to, sent, arrivals: at.filter(|at| (from..to).contains(at)).collect() }
    }

    fn seconds(&self) -> f64 {
        self.to.seconds_from(self.from)
    }

    fn successes(&self) -> usize {
        self.asked.iter().filter(|r| r.outcome.succeeded()).count()
    }

    /// Share of its payments that succeeded.
    fn success_rate(&self) -> f64 {
        self.successes() as f64 / self.asked.len() as f64
    }

    /// Attempts beyond the first, for each payment.
    fn retry_ratio(&self) -> f64 {
        let retries: usize = self.asked.iter().map(|r| r.tries().saturating_sub(1)).sum();
        retries as f64 / self.asked.len() as f64
    }

    /// Payments asked for in a second.
    fn asked_per_second(&self) -> f64 {
        self.sent as f64 / self.seconds()
    }

    /// Requests at the dependency in a second.
    fn load(&self) -> f64 {
        self.arrivals.len() as f64 / self.seconds()
    }

    /// Requests in the first and in the second half of the time.
    fn halves(&self) -> (usize, usize) {
        let middle = self.from + Duration::from_secs_f64(self.seconds() / 2.0);
        let first = self.arrivals.iter().filter(|at| **at < middle).count();
        (first, self.arrivals.len() - first)
    }
}

fn judge(evidence: &Evidence, policy: &RecoveryPolicy, link: &str) -> Finding {
    let promise = format!(
        "{} after the end of a disturbance at least {:.0} % of the earlier goodput is back, and retries and load with it",
        duration::format(policy.within),
        100.0 * policy.goodput
    );
    let case = Case::new(S2, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == STEP);
    let (Some(first), Some(last)) = (asked.first(), asked.last()) else { return case.did_not_run("`load`") };
    let mut tally = Tally { judged: asked.len(), ..Tally::default() };
    let faults = || evidence.faults.iter().filter(|f| f.link == link);
    let Some((applied, healed)) = faults().map(|f| f.applied).min().zip(faults().map(|f| f.healed).max()) else {
        tally.gap("nothing disturbed the load", "put a fault on the link while the load runs");
        return case.conclude(tally, String::new());
    };
    let due = healed + policy.within;
    let sent = |r: &&Request<'_, '_>| r.outcome.sent;
    let begun = first.outcome.sent;
    let warm = begun + applied.since(begun).mul_f64(WARM_UP);
    let before = asked.iter().filter(|r| sent(r) >= warm && r.outcome.ended < applied).collect();
    let before = Stretch::of(before, (warm, applied), evidence, link);
    let after = asked.iter().filter(|r| sent(r) >= due).collect();
    let after = Stretch::of(after, (due, last.outcome.sent), evidence, link);
    let doubt = unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len())
        .or_else(|| long_pause(evidence, policy.within))
        .or_else(|| unusable(&before, &after, policy));
    if let Some((why, advice)) = doubt {
        return case.inconclusive(tally, why, advice);
    }
    numbers(&before, &after, &asked, healed, &mut tally);
    let pause = Duration::from_nanos(evidence.canary_max_ns().unwrap_or_default());
    breaches(&before, &after, policy, pause, &mut tally);
    if !tally.breaches.is_empty()
        && let Some((why, advice)) = noisy(evidence)
    {
        let broken: Vec<_> = tally.breaches.drain(..).map(|b| b.what).collect();
        return case.measured(broken.join("; ")).inconclusive(tally, why, advice);
    }
    // Retries and load are seen on the link alone.
    note_blind(&joined, &mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass = format!(
        "{} after the disturbance {:.1} % of {} payments succeeded (before: {:.1} %), with {:.1} requests a second at the \
         dependency (before: {:.1})",
        duration::format(policy.within),
        100.0 * after.success_rate(),
        after.asked.len(),
        100.0 * before.success_rate(),
        after.load(),
        before.load(),
    );
    case.conclude(tally, pass)
}

/// Why before and after cannot be compared.
fn unusable(
    before: &Stretch<'_, '_, '_>,
    after: &Stretch<'_, '_, '_>,
    policy: &RecoveryPolicy,
) -> Option<(String, String)> {
    if let Some(reason) = no_share(policy.goodput) {
        return Some(reason);
    }
    let short = after.to <= after.from || after.seconds() < AFTERMATH.as_secs_f64();
    if short || after.asked.len() < ENOUGH {
        let what =
            format!("{} payments were sent after the promised time, at least {ENOUGH} are needed", after.asked.len());
        return Some((what, "let the load run on for longer, or promise a shorter time".to_owned()));
    }
    if before.asked.len() < ENOUGH {
        let what = format!(
            "{} payments were answered before the disturbance, at least {ENOUGH} are needed",
            before.asked.len()
        );
        return Some((what, "let the disturbance begin later".to_owned()));
    }
    if before.success_rate() < policy.goodput {
        let rate = 100.0 * before.success_rate();
        let what =
            format!("only {rate:.1} % of the payments succeeded before the disturbance: there is nothing to return to");
        return Some((what, "see H4; lower the load, or raise the dependency's capacity".to_owned()));
    }
    let rate = after.asked_per_second() / before.asked_per_second();
    if (rate - 1.0).abs() > SAME_RATE {
        let what =
            format!("payments were asked for at {:.0} % of the earlier rate: the driver did not keep it", 100.0 * rate);
        return Some((what, "run it again on a quieter machine".to_owned()));
    }
    None
}

/// What is not back.
fn breaches(
    before: &Stretch<'_, '_, '_>,
    after: &Stretch<'_, '_, '_>,
    policy: &RecoveryPolicy,
    pause: Duration,
    tally: &mut Tally,
) {
    let spare = 1.0 - policy.goodput;
    // What was due in a pause right before comes at its end.
    let seconds = after.seconds() + pause.as_secs_f64();
    let loaded = after.arrivals.len() as f64 > before.load() * seconds * (1.0 + spare) + CUT;
    let wanted = policy.goodput * before.success_rate();
    if after.success_rate() < wanted {
        let what = format!(
            "{:.1} % of {} payments succeeded from {} after the disturbance on, {:.1} % did before it",
            100.0 * after.success_rate(),
            after.asked.len(),
            duration::format(policy.within),
            100.0 * before.success_rate(),
        );
        let failed = after.asked.iter().filter(|r| !r.outcome.succeeded());
        let class = if loaded { METASTABLE } else { STAYS_DOWN };
        tally.breach(class, what, failed.map(|r| outcome_line(r.outcome, "")).collect());
    }
    if after.retry_ratio() > before.retry_ratio() + spare {
        let what = format!(
            "{:.2} retries for each payment, {:.2} before the disturbance",
            after.retry_ratio(),
            before.retry_ratio()
        );
        let again = after.asked.iter().filter_map(|r| {
            let pair = r.attempts.get(..2)?;
            Some(attempt_line(pair[1], 2, Some(pair[0]), ""))
        });
        tally.breach(METASTABLE, what, again.collect());
    }
    if loaded {
        let (first, second) = after.halves();
        let rising = second as f64 > (1.0 + RISING) * first as f64 + CUT;
        let what = format!(
            "{:.1} requests a second reach the dependency, {:.1} did before the disturbance{}",
            after.load(),
            before.load(),
            if rising { ", and they still rise" } else { "" }
        );
        tally.breach(ABANDONED, what, Vec::new());
    }
}

fn numbers(
    before: &Stretch<'_, '_, '_>,
    after: &Stretch<'_, '_, '_>,
    asked: &[Request<'_, '_>],
    healed: At,
    tally: &mut Tally,
) {
    let percent = |share: f64| (1e4 * share).round() / 1e2;
    for (name, stretch) in [("before", before), ("after", after)] {
        tally.count(&format!("payments {name}"), stretch.asked.len());
        tally.fact(&format!("success rate {name}"), percent(stretch.success_rate()), "%");
        tally.fact(&format!("goodput {name}"), stretch.successes() as f64 / stretch.seconds(), "payments/s");
        tally.fact(&format!("retries for each payment {name}"), stretch.retry_ratio(), "");
        tally.fact(&format!("requests a second {name}"), stretch.load(), "");
    }
    let (first, second) = after.halves();
    tally.count("requests after, first half", first);
    tally.count("requests after, second half", second);
    // The last payment sent that failed: until then it had not recovered.
    let sent = |r: &Request<'_, '_>| r.outcome.sent;
    let last = asked.iter().filter(|r| !r.outcome.succeeded()).map(sent).max().filter(|at| *at > healed);
    let recovered = last.map_or(Duration::ZERO, |at| at.since(healed));
    tally.millis("last failed payment, sent after the disturbance", recovered.as_secs_f64());
    tally.exhibit = timeline(asked, healed);
    tally.exhibit.push(format!("the last payment that failed was sent {} after the disturbance", ms(recovered)));
}

/// Successes and failures by the quarter of a second in which they were sent, from the end of the disturbance.
fn timeline(asked: &[Request<'_, '_>], healed: At) -> Vec<String> {
    let mut cells: std::collections::BTreeMap<i64, (usize, usize, usize)> = std::collections::BTreeMap::new();
    for r in asked {
        let cell = cells.entry((r.outcome.sent.seconds_from(healed) * 4.0).floor() as i64).or_default();
        let (good, bad) = if r.outcome.succeeded() { (1, 0) } else { (0, 1) };
        *cell = (cell.0 + good, cell.1 + bad, cell.2 + r.tries());
    }
    let row = |(at, (good, bad, tries)): (&i64, &(usize, usize, usize))| {
        format!("{:>7.2} s  {good:>4} succeeded {bad:>4} failed {tries:>5} attempts", *at as f64 / 4.0)
    };
    cells.iter().map(row).collect()
}
