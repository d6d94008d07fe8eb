//! R2: the law of the gaps.

use super::gaps::{Gap, Gaps};
use super::herd::excludes_a_herd;
use super::queueing::Queueing;
use crate::checks::Check;
use crate::checks::catalogue::R2;
use crate::checks::support::{Case, Tally, attempt_line, pause, requests, strays_among, unfired, unjoined};
use crate::evidence::{Evidence, Joined};
use crate::finding::{Finding, Line};
use crate::promise::{Noise, RetryPolicy};
use crate::stats::{BatteryReport, Decision, Settings, TestName, Undecided, WorstGap, battery};

const NO_JITTER: &str = R2.bug_classes[0];
const SAME_SEED: &str = R2.bug_classes[1];
const ONE_DRAW: &str = R2.bug_classes[2];
const EXPONENT: &str = R2.bug_classes[3];
const UNITS: &str = R2.bug_classes[4];
const CAP: &str = R2.bug_classes[5];
const OTHER_WAIT: &str = R2.bug_classes[6];

/// Share of the expected gaps that may be missing from a law that is to be confirmed.
const MISSING: f64 = 0.02;

/// **R2** The gaps between attempts follow the declared law.
///
/// - *Measure*: gap k of a payment is the arrival of attempt k+1 at the proxy minus the instant at which attempt k failed
///   there. It is the service's own delay plus something between 0 and the noise bound.
/// - *Test*: the seven tests of [`crate::stats::battery()`], each at 1e-7; one rejection fails.
/// - *False alarms*: at most 7e-7 in all, for any noise within the bound and any number of clients.
/// - *Inconclusive*: a canary pause above the bound, or no canary; attempts that queue in the service's connection pool;
///   requests that the driver cut short (the long waits would be the missing ones); and, when no test rejects: fewer
///   than 60 clients, missing attempts, a fault that struck less often than planned.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-law".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503] }"#)?;
/// let finding = retry::backoff_law(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert_eq!(finding.promise, "3 retries, full jitter: U(0, 200ms * 2^k)");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn backoff_law(policy: &RetryPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R2, move |evidence| judge(evidence, &policy, &link, noise))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str, noise: Noise) -> Finding {
    let law = &policy.backoff;
    let promise = format!("{} retries, {}", policy.attempts.saturating_sub(1), law.describe());
    let case = Case::new(R2, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    // The herd's gaps only stand in where no waves were run: a pool is more likely to bend them.
    let mut asked = requests(&joined, |o| o.step == "waves");
    if asked.is_empty() {
        asked = requests(&joined, |o| o.step == "herd");
    }
    if asked.is_empty() {
        return case.did_not_run("`waves` or `herd`");
    }
    let gaps = Gaps::of(&asked, policy);
    let report = battery(&gaps.table(), law, &Settings { eps: noise.eps, ..Settings::default() });
    let queueing = Queueing::of(evidence, gaps.iter(), noise);
    let mut tally = numbers(&report, evidence, &gaps, queueing, noise);
    let case = case.measured(measured(&report));
    let strays = strays_among(&joined, asked.iter().map(|r| r.outcome)).len();
    let blind = unjoined(strays)
        .or_else(|| pause(evidence, noise))
        .or_else(|| queueing.doubt())
        .or_else(|| cut_short(&gaps, asked.len()));
    if let Some((why, advice)) = blind {
        let headline = if report.is_rejected() { format!("{} - but {why}", accusation(&report)) } else { why };
        return case.inconclusive(tally, headline, advice);
    }
    match &report.decision {
        Decision::Rejected => {
            tally.breach(class(&report, policy, &gaps), accusation(&report), worst(&report.worst, &gaps));
            case.fail(tally, report.chance())
        }
        Decision::Undecided(why) => {
            let (why, advice) = (why.to_string(), undecided_advice(why));
            case.inconclusive(tally, why, advice)
        }
        Decision::Kept => {
            let missing = missing(&gaps).into_iter();
            tally.gaps =
                missing.chain(unfired(evidence, link).into_iter().map(|what| (what, unfired_advice()))).collect();
            tally.judged = report.clients;
            let pass = format!("{} gaps of {} payments keep to {}", report.gaps, report.clients, law.describe());
            case.conclude(tally, pass)
        }
    }
}

/// `interval-DKW, reach rule out full jitter; looks like: fixed exponential`.
fn accusation(report: &BatteryReport) -> String {
    let names: Vec<&str> = report.rejections().map(|t| t.name.as_str()).collect();
    let verb = if names.len() == 1 { "rules" } else { "rule" };
    let fit = report.looks_like.as_ref().map_or(String::new(), |fit| format!("; {fit}"));
    let law = report.declared.split(':').next().unwrap_or_default();
    format!("{} of {} payments: {} {verb} out {law}{fit}", count(report.gaps), report.clients, names.join(", "))
}

fn count(gaps: usize) -> String {
    if gaps == 1 { "1 gap".to_owned() } else { format!("{gaps} gaps") }
}

fn measured(report: &BatteryReport) -> String {
    let rows: Vec<String> = report.attempts.iter().map(ToString::to_string).collect();
    if rows.is_empty() { R2.measure.to_owned() } else { rows.join("; ") }
}

fn numbers(report: &BatteryReport, evidence: &Evidence, gaps: &Gaps<'_>, queueing: Queueing, noise: Noise) -> Tally {
    let mut tally = Tally::default();
    tally.count("clients that retried", report.clients);
    tally.count("gaps", report.gaps);
    tally.count("gaps missing", gaps.missing);
    tally.millis("noise bound", noise.eps.as_secs_f64());
    if let Some(max) = evidence.canary_max_ns() {
        tally.millis("canary, max", max as f64 / 1e9);
    }
    tally.fact("level of each test", report.alpha.get(), "");
    if queueing.compared > 0 {
        tally.count("gaps compared with spans", queueing.compared);
        tally.count("gaps longer on the wire than between spans", queueing.late);
    }
    for test in &report.tests {
        tally.fact(&format!("{}, statistic", test.name), test.statistic, "");
        tally.fact(&format!("{}, critical", test.name), test.critical, "");
    }
    tally.exhibit = exhibit(report);
    tally
}

/// What a person reads to believe it: the tests, each attempt, the nearest law, the histogram.
fn exhibit(report: &BatteryReport) -> Vec<String> {
    let mut out = vec![format!("declared law: {}", report.declared)];
    out.extend(report.tests.iter().map(ToString::to_string));
    out.extend(report.skipped.iter().map(|s| format!("{} does not apply: {}", s.name, s.reason)));
    out.extend(report.attempts.iter().map(ToString::to_string));
    out.extend(report.looks_like.iter().map(ToString::to_string));
    out.extend(report.hints.iter().cloned());
    if !report.remark.is_empty() {
        out.push(report.remark.clone());
    }
    if !report.histogram.counts.is_empty() {
        out.push("gaps as a share of the declared ceiling:".to_owned());
        out.extend(report.histogram.to_string().lines().map(str::to_owned));
    }
    out
}

/// The most damning gaps with both their timestamps.
fn worst(worst: &[WorstGap], gaps: &Gaps<'_>) -> Vec<Line> {
    let line = |w: &WorstGap| {
        let gap = gaps.rows.get(w.client)?.get(w.retry)?;
        let remark = format!(
            "allowed {:.1} to {:.1} ms; from {} to {}",
            1e3 * w.allowed.0.max(0.0),
            1e3 * w.allowed.1,
            gap.before.reply.ended,
            gap.after.arrived
        );
        Some(attempt_line(gap.after, gap.rank + 1, Some(gap.before), &remark))
    };
    worst.iter().filter_map(line).collect()
}

/// The known class of bugs that the nearest law and the rejections point to; empty when none does.
fn class(report: &BatteryReport, policy: &RetryPolicy, gaps: &Gaps<'_>) -> &'static str {
    let looks = report.looks_like.as_ref().map(|fit| fit.name.as_str()).unwrap_or_default();
    let rejected = |name: TestName| report.rejections().any(|t| t.name == name);
    let says = |word: &str| looks.contains(word);
    let units = says("milliseconds") || says("whole seconds") || rejected(TestName::Phase);
    if !excludes_a_herd(policy) {
        // What is promised without jitter cannot have lost it.
        return match (units, says("growth") || says("ceiling")) {
            (true, _) => UNITS,
            (false, true) => EXPONENT,
            (false, false) => OTHER_WAIT,
        };
    }
    if looks.starts_with("no jitter") {
        // Alike, and at times that no law without jitter gives: each client drew the same numbers.
        if is_regular(gaps) { NO_JITTER } else { SAME_SEED }
    } else if says("immediate") || looks.starts_with("fixed") || says("without jitter") {
        NO_JITTER
    } else if units {
        UNITS
    } else if says("growth") || says("ceiling") {
        EXPONENT
    } else if rejected(TestName::GapScan) {
        if report.declared.contains("cap") { CAP } else { NO_JITTER }
    } else if rejected(TestName::RankCorr) {
        ONE_DRAW
    } else {
        ""
    }
}

/// Whether the shortest waits are constant, or grow by the same step or factor each time.
fn is_regular(gaps: &Gaps<'_>) -> bool {
    let most = gaps.rows.iter().map(Vec::len).max().unwrap_or(0);
    let shortest = |k: usize| gaps.rows.iter().filter_map(|r| r.get(k)).map(Gap::seconds).fold(f64::INFINITY, f64::min);
    let waits: Vec<f64> = (0..most).map(shortest).collect();
    let alike = |a: f64, b: f64| (a - b).abs() <= 0.1 * a.abs().max(b.abs());
    let constant = waits.windows(2).all(|w| alike(w[0], w[1]));
    let grows = waits.windows(2).all(|w| w[1] > w[0]);
    let step = waits.windows(3).all(|w| alike(w[1] - w[0], w[2] - w[1]));
    let factor = waits.windows(3).all(|w| alike(w[1] / w[0], w[2] / w[1]));
    constant || (grows && most > 2 && (step || factor))
}

fn cut_short(gaps: &Gaps<'_>, asked: usize) -> Option<(String, String)> {
    let what = || format!("the driver gave up on {} of {asked} payments before their last attempt", gaps.cut_short);
    let advice = || "give the request a longer timeout in the contract: the long waits are the missing ones".to_owned();
    (gaps.cut_short as f64 > MISSING * asked as f64).then(|| (what(), advice()))
}

fn missing(gaps: &Gaps<'_>) -> Option<(String, String)> {
    let what = || format!("{} of {} expected gaps are missing", gaps.missing, gaps.expected);
    let advice = || "see R1: the service makes fewer attempts than promised, or they do not join to their payment";
    (gaps.missing as f64 > MISSING * gaps.expected as f64).then(|| (what(), advice().to_owned()))
}

fn unfired_advice() -> String {
    "see that the service calls the dependency through the link that the contract names".to_owned()
}

fn undecided_advice(why: &Undecided) -> String {
    match why {
        Undecided::TooFewClients { floor, .. } => format!("run at least {floor} payments, better 100"),
        Undecided::Empty => "see R1 and R6: the service does not retry this failure, or calls another link".to_owned(),
        Undecided::OutlierShare { .. } => "correct the declared share of outliers".to_owned(),
        // Their own words say what to change.
        _ => "change what the headline names, and run it again".to_owned(),
    }
}
