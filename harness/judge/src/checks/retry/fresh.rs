//! R4: a service that was restarted, or has a second replica, draws its waits anew.

use super::excludes_a_herd;
use super::gaps::Gaps;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R4;
use crate::checks::support::{Case, Tally, attempt_line, pause, requests, strays_among, unfired, unjoined};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, RetryPolicy};
use crate::stats::partners::{self, Pair, RADIUS};
use crate::stats::{Alpha, Sample, Settings, TestResult, restart};

const SEED: &str = R4.bug_classes[0];
const SHARED: &str = R4.bug_classes[1];

/// The two herds: before and after the restart, or of the first replica and of the second.
const STEPS: [&str; 2] = ["start/1", "start/2"];

/// Fewest payments of each herd, and the share of their gaps that may be missing, for a repetition to be ruled out.
const FLOOR: usize = 60;
const MISSING: f64 = 0.02;

/// **R4** A service that was restarted draws its waits anew, and so does a second replica beside the first.
///
/// - *Measure*: gaps of the steps `start/1` and `start/2`, between which the service was killed and started again, or of
///   which the second went to another instance.
/// - *Test*: [`crate::stats::restart`], the pooled distance, whose critical value is exact; and
///   [`crate::stats::partners`], payments that return as a whole. Either rejects.
/// - *False alarms*: at most 1e-7, shared by the two.
/// - *Inconclusive*: a canary pause above the bound, or no canary; a law without randomness; too few payments; herds that
///   draw alike within themselves; noise that hides a repetition.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-restart".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503] }"#)?;
/// let finding = retry::draws_anew(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn draws_anew(policy: &RetryPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R4, move |evidence| judge(evidence, &policy, &link, noise))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let promise = format!("waits drawn anew after every start, by {}", policy.backoff.describe());
    let case = Case::new(R4, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = STEPS.map(|step| requests(&joined, |o| o.step == step));
    if asked.iter().any(Vec::is_empty) {
        return case.did_not_run("`start/1` and `start/2`");
    }
    let replicas = asked[1].iter().all(|r| r.outcome.instance() != asked[0][0].outcome.instance());
    let herds = asked.each_ref().map(|herd| {
        let mut gaps = Gaps::of(herd, policy);
        // Attempts beyond the promised ones are for R1 to count.
        gaps.rows.iter_mut().for_each(|row| row.truncate((policy.attempts as usize).saturating_sub(1)));
        gaps
    });
    let mut tally = Tally::default();
    for (step, gaps) in STEPS.iter().zip(&herds) {
        tally.count(&format!("gaps of {step}"), gaps.iter().count());
    }
    let strays = strays_among(&joined, asked.iter().flatten().map(|r| r.outcome)).len();
    if let Some((why, advice)) = unjoined(strays).or_else(|| pause(evidence, noise)) {
        return case.inconclusive(tally, why, advice);
    }
    if !excludes_a_herd(policy) {
        let advice = "declare a law with jitter, or leave this check out";
        return case.inconclusive(
            tally,
            "the declared law draws nothing that could repeat".to_owned(),
            advice.to_owned(),
        );
    }
    // Half of a level in (0, 1/2) is one: the default stands in for what cannot happen.
    let alpha = Alpha::new(Alpha::DEFAULT.split(2)).unwrap_or_default();
    let settings = Settings { eps: noise.eps, alpha, ..Settings::default() };
    let tables = herds.each_ref().map(Gaps::table);
    let samples = tables.each_ref().map(|table| Sample::new(table, &policy.backoff, &settings));
    let [Ok(first), Ok(second)] = &samples else {
        let why = samples.iter().find_map(|s| s.as_ref().err()).map(ToString::to_string).unwrap_or_default();
        return case.inconclusive(tally, why, "see R1 and R6: the service does not retry this failure".to_owned());
    };
    let seen = Seen::of(first, second);
    seen.numbers(&mut tally);
    let case = case.measured(seen.words());
    if let Some(alike) = &seen.alike {
        let why = format!("payments of one start already wait alike: {}", alike.detail);
        return case.inconclusive(tally, why, "see R2: what repeats within a start is not the restart's".to_owned());
    }
    if let Some(test) = seen.made().find(|test| test.rejected) {
        let chance = test.tail.of_several(2);
        let (class, what) = match replicas {
            true => (SHARED, "the waits of the second replica are those of the first"),
            false => (SEED, "the waits after the restart are those before it"),
        };
        tally.breach(class, format!("{what}: {}", test.detail), lines(&seen, &herds));
        return case.fail(tally, chance);
    }
    tally.judged = herds.iter().map(|gaps| gaps.rows.len()).sum();
    doubts(evidence, &seen, &herds, [first, second], &mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass = match replicas {
        true => "the waits of the second replica are not those of the first",
        false => "the waits after the restart are not those before it",
    };
    case.conclude(tally, pass.to_owned())
}

/// What the tests say.
struct Seen {
    distance: Option<TestResult>,
    partners: Option<TestResult>,
    pairs: Vec<Pair>,
    /// A herd whose payments have partners among themselves.
    alike: Option<TestResult>,
    skipped: Vec<String>,
}

impl Seen {
    fn of(first: &Sample<'_>, second: &Sample<'_>) -> Seen {
        let mut skipped = Vec::new();
        let mut reason = |s: crate::stats::Skipped| skipped.push(format!("{} does not apply: {}", s.name, s.reason));
        let distance = restart::test(first, second).map_err(&mut reason).ok();
        let (partners, pairs) = partners::test(first, second).map_err(&mut reason).ok().unzip();
        let within = [first, second].into_iter().filter_map(|run| partners::within(run).ok());
        let alike = within.into_iter().find(|test| test.rejected);
        Seen { distance, partners, pairs: pairs.unwrap_or_default(), alike, skipped }
    }

    fn made(&self) -> impl Iterator<Item = &TestResult> {
        self.distance.iter().chain(&self.partners)
    }

    fn words(&self) -> String {
        self.made().map(|t| t.detail.clone()).collect::<Vec<_>>().join("; ")
    }

    fn numbers(&self, tally: &mut Tally) {
        for test in self.made() {
            tally.fact(&format!("{}, statistic", test.name), test.statistic, "");
            tally.fact(&format!("{}, critical", test.name), test.critical, "");
            tally.exhibit.push(test.to_string());
        }
        tally.exhibit.extend(self.skipped.iter().cloned());
    }
}

/// Payments of the second start beside those of the first whose waits they repeat: the last gap of each.
fn lines(seen: &Seen, herds: &[Gaps<'_>; 2]) -> Vec<Line> {
    let mut out = Vec::new();
    for pair in seen.pairs.iter().take(crate::MAX_LINES / 2) {
        for (herd, row) in [(0, pair.first), (1, pair.second)] {
            let Some(row) = herds[herd].rows.get(row) else { continue };
            let waits: Vec<String> = row.iter().map(|gap| format!("{:.1}", 1e3 * gap.seconds())).collect();
            let remark = format!("{}: waits of {} ms", STEPS[herd], waits.join(", "));
            out.extend(row.last().map(|gap| attempt_line(gap.after, gap.rank + 1, Some(gap.before), &remark)));
        }
    }
    if out.is_empty() {
        // The pool repeats without a payment that does: the first gap of each start stands for it.
        let firsts = herds.iter().zip(STEPS).filter_map(|(gaps, step)| Some((gaps.iter().next()?, step)));
        out.extend(firsts.map(|(gap, step)| attempt_line(gap.after, gap.rank + 1, Some(gap.before), step)));
    }
    out
}

/// Why silence is no acquittal.
fn doubts(evidence: &Evidence, seen: &Seen, herds: &[Gaps<'_>; 2], samples: [&Sample<'_>; 2], tally: &mut Tally) {
    for (step, sample) in STEPS.iter().zip(samples) {
        let clients = sample.table.clients();
        if clients < FLOOR {
            tally.gap(format!("only {clients} payments of {step} retried, {FLOOR} are needed"), "run more payments");
        }
    }
    for (step, gaps) in STEPS.iter().zip(herds) {
        if gaps.missing as f64 > MISSING * gaps.expected as f64 {
            let what = format!("{} of {} expected gaps of {step} are missing", gaps.missing, gaps.expected);
            tally.gap(
                what,
                "see R1: the service makes fewer attempts than promised, or they do not join to their payment",
            );
        }
    }
    // The harness's own echoes: each is one delay, as a gap has it. What a service's threads waited between two samples adds up.
    let shaken = evidence.echoes().map(|c| c.p99_ns as f64 / 1e9).fold(0.0, f64::max);
    let retries = samples[0].columns.len();
    let narrowest = (0..retries).map(|k| samples[0].law.width(k)).filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
    // What repeated draws survive: partners a noise within their radius, the distance one of a hundredth of the delays.
    let bears = if seen.partners.is_some() { RADIUS } else { narrowest / 100.0 };
    if seen.made().next().is_none() || shaken > bears {
        let what = format!(
            "a repetition would not show: one echo in a hundred is {:.1} ms late, and {:.1} ms is what the tests bear",
            1e3 * shaken,
            1e3 * bears
        );
        tally.gap(what, "run it on a quieter machine, with a larger base, more retries or more payments");
    }
}
