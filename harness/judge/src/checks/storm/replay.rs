//! S1: the storm that a control makes of a failure, and what the service makes of it.

use std::sync::Arc;
use std::time::Duration;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::S1;
use crate::checks::retry::excludes_a_herd;
use crate::checks::retry::peaks::Herd;
use crate::checks::support::{Case, Tally, attempt_line, caused, pause, requests, strays_among, unfired, unjoined};
use crate::duration;
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, RetryPolicy};
use crate::stats::peak::{self, Expected};
use crate::stats::{Alpha, TestResult};

const STORM: &str = S1.bug_classes[0];
const NESTED: &str = S1.bug_classes[1];

/// The step that it reads.
const STEP: &str = "herd";
/// Simulated herds behind the expected value, and their seed. The spread of one herd's peak is about 11; that of the mean
/// of so many is below 1.
const RUNS: usize = 200;
const SEED: u64 = 0x5701_2340;
/// Share of the promised retries that must have come.
const ENOUGH: f64 = 0.98;

/// **S1** Payments that failed together come back spread out, where a control comes back as a storm.
///
/// - *Measure*: the step `herd` of two evidences. Requests at the proxy for each payment, each
///   refused connection counted once; retries in the fullest sliding
///   window of length `window`, each payment's placed by their gaps from its own first failure, as if all had failed in
///   one instant: how far the load driver spread them, and how fast the machine is, does not matter.
/// - *Test*: the service's peak against m* ([`crate::stats::peak`]) of the declared law, windows widened by the longest
///   pause that the canary measured; requests for each payment against the promised attempts. Beside them the peak that
///   the law makes expect ([`peak::expected`]).
/// - *False alarms*: at most 1e-7 for the peak; none for what is counted.
/// - *Inconclusive*: a control that m* does not rule out, for then the load was no storm; missing retries; another number of
///   payments than the control had; a canary pause above the bound, or no canary; a law without randomness.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-storm/full".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use std::{sync::Arc, time::Duration};
/// use judge::{Ruling, checks::storm, promise::{Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 3, "backoff": { "law": "full", "base": "911ms" }, "retryable": [503] }"#)?;
/// let (control, service) = (Evidence::new(header.clone()), Evidence::new(header));
/// let window = Duration::from_millis(100);
/// let check = storm::storm_replay(&policy, "bank", Noise::default(), window, Arc::new(control));
/// assert_eq!(check.judge(&service).ruling, Ruling::Inconclusive); // nothing was seen
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn storm_replay(policy: &RetryPolicy, link: &str, noise: Noise, window: Duration, control: Arc<Evidence>) -> Check {
    let plan = Plan { policy: policy.clone(), link: link.to_owned(), noise, window };
    Check::new(S1, move |evidence| judge(evidence, &control, &plan))
}

/// What is judged by.
struct Plan {
    policy: RetryPolicy,
    link: String,
    noise: Noise,
    window: Duration,
}

/// One side of the comparison.
struct Side {
    payments: usize,
    requests: usize,
    clients: usize,
    retries: usize,
    missing: usize,
    strays: usize,
    peak: usize,
    by_the_clock: usize,
    spread: f64,
    offsets: Vec<f64>,
    fullest: Vec<Line>,
    over: Vec<Line>,
}

impl Side {
    fn of(evidence: &Evidence, plan: &Plan) -> Option<Side> {
        let joined = Joined::of(evidence, &plan.link);
        let asked = requests(&joined, |o| o.step == STEP);
        if asked.is_empty() {
            return None;
        }
        let window = plan.window.as_secs_f64();
        let herd = Herd::of(&asked, &plan.policy);
        let most = plan.policy.attempts as usize;
        let over = asked.iter().filter(|r| r.attempts.len() > most).flat_map(|r| {
            let rank = r.attempts.len();
            r.attempts.last().map(|last| attempt_line(last, rank, None, "more than promised"))
        });
        Some(Side {
            payments: asked.len(),
            requests: caused(&joined, &asked),
            clients: herd.clients,
            retries: herd.offsets.len(),
            missing: herd.missing,
            strays: strays_among(&joined, asked.iter().map(|r| r.outcome)).len(),
            peak: peak::max_sliding(&herd.offsets, window).0,
            by_the_clock: herd.by_the_clock(window),
            spread: herd.spread,
            over: over.collect(),
            fullest: herd.lines(window),
            offsets: herd.offsets,
        })
    }

    /// Requests at the dependency for each payment.
    fn amplification(&self) -> f64 {
        self.requests as f64 / self.payments as f64
    }
}

fn judge(evidence: &Evidence, control: &Evidence, plan: &Plan) -> Finding {
    let window = duration::format(plan.window);
    let law = plan.policy.backoff.describe();
    let promise = format!(
        "at most {} requests for a payment, and no window of {window} with more retries than {law} can put there",
        plan.policy.attempts
    );
    let case = Case::new(S1, evidence, &plan.link, promise);
    let (Some(seen), Some(storm)) = (Side::of(evidence, plan), Side::of(control, plan)) else {
        return case.did_not_run("`herd` of service and control");
    };
    let mut tally = Tally { judged: seen.clients, ..Tally::default() };
    let reason = unjoined(seen.strays + storm.strays).or_else(|| pause(evidence, plan.noise));
    if let Some((why, advice)) = reason {
        numbers(&seen, &storm, None, &mut tally);
        return case.inconclusive(tally, why, advice);
    }
    let judged = match bounds(&seen, evidence, plan) {
        Ok(judged) => judged,
        Err((why, advice)) => {
            numbers(&seen, &storm, None, &mut tally);
            return case.inconclusive(tally, why, advice);
        }
    };
    numbers(&seen, &storm, Some(&judged), &mut tally);
    tally.exhibit = table(&seen, &storm, &judged, &window);
    let case = case.measured(format!(
        "{}; the first failures were spread over {:.1} s, and by the clock the fullest window held {} retries",
        judged.result.detail, seen.spread, seen.by_the_clock
    ));
    if seen.amplification() > f64::from(plan.policy.attempts) {
        let (requests, payments, attempts) = (seen.requests, seen.payments, plan.policy.attempts);
        let what = format!("{requests} requests for {payments} payments, promised {attempts} for each");
        tally.breach(NESTED, what, seen.over);
        return case.conclude(tally, String::new());
    }
    if judged.result.rejected {
        let critical = judged.result.critical;
        let what = format!(
            "{} of {} retries came back within {window}, {critical} or more rule out {law}; the control had {}",
            seen.peak, seen.retries, storm.peak
        );
        tally.breach(STORM, what, seen.fullest);
        return case.fail(tally, judged.result.tail);
    }
    let pass = headline(&seen, &storm, &judged, &window);
    doubts(&seen, &storm, &judged, &mut tally);
    for what in unfired(evidence, &plan.link).into_iter().chain(unfired(control, &plan.link)) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    case.conclude(tally, pass)
}

/// What the law makes expect and what it rules out.
struct Bounds {
    result: TestResult,
    expected: Expected,
}

fn bounds(seen: &Side, evidence: &Evidence, plan: &Plan) -> Result<Bounds, (String, String)> {
    if !excludes_a_herd(&plan.policy) {
        let why = "the declared law has no randomness: it promises that payments which failed together return together";
        return Err((why.to_owned(), "declare a law with jitter".to_owned()));
    }
    let (clients, retries) = (seen.clients, (plan.policy.attempts as usize).saturating_sub(1));
    let slack = Duration::from_nanos(evidence.canary_max_ns().unwrap_or_default());
    let herd = peak::Herd { clients, retries, window: plan.window, slack, alpha: Alpha::default(), sliding: true };
    let law = &plan.policy.backoff;
    let judged = peak::test(&seen.offsets, &herd, law)
        .and_then(|result| Ok(Bounds { result, expected: peak::expected(&herd, law, RUNS, SEED)? }));
    judged.map_err(|error| {
        (
            format!("the retries cannot be judged: {error}"),
            "see R1 and R6: the service does not retry this failure".to_owned(),
        )
    })
}

/// Why silence is no acquittal.
fn doubts(seen: &Side, storm: &Side, judged: &Bounds, tally: &mut Tally) {
    let critical = judged.result.critical;
    if (storm.peak as f64) < critical {
        let what = format!(
            "the control's fullest window held {} retries, below m* = {critical}: it made no storm",
            storm.peak
        );
        tally.gap(what, "see that the control's environment takes its jitter away, and that the machine is quiet");
    }
    if seen.payments != storm.payments {
        let what = format!("{} payments, but {} in the control", seen.payments, storm.payments);
        tally.gap(what, "compare runs of one scenario");
    }
    for (side, who) in [(seen, "the service"), (storm, "the control")] {
        let expected = side.missing + side.retries;
        if (side.missing as f64) > (1.0 - ENOUGH) * expected as f64 {
            let what = format!("{} of {expected} promised retries of {who} are missing", side.missing);
            tally.gap(what, "see R1: fewer attempts than promised are made, or they do not join to their payment");
        }
    }
}

fn headline(seen: &Side, storm: &Side, judged: &Bounds, window: &str) -> String {
    format!(
        "{} payments became {} requests (x {:.2}); retries in the fullest {window}: {} where the law makes expect {:.0} and \
         rules out {}, {} in the control, {:.1} times as many",
        seen.payments,
        seen.requests,
        seen.amplification(),
        seen.peak,
        judged.expected.mean,
        judged.result.critical,
        storm.peak,
        ratio(seen, storm),
    )
}

/// How many times as high the control's peak is.
fn ratio(seen: &Side, storm: &Side) -> f64 {
    storm.peak as f64 / seen.peak.max(1) as f64
}

fn numbers(seen: &Side, storm: &Side, judged: Option<&Bounds>, tally: &mut Tally) {
    tally.count("payments", seen.payments);
    tally.count("requests", seen.requests);
    tally.fact("amplification", seen.amplification(), "");
    tally.count("retry peak", seen.peak);
    tally.count("retry peak, by the clock", seen.by_the_clock);
    if let Some(Bounds { result, expected }) = judged {
        tally.fact("expected retry peak", expected.mean, "");
        tally.count("expected retry peak, least", expected.least);
        tally.count("expected retry peak, most", expected.most);
        tally.count("simulated herds", expected.runs);
        tally.fact("m*", result.critical, "");
    }
    tally.fact("spread of the first failures", (1e3 * seen.spread).round() / 1e3, "s");
    tally.count("control: payments", storm.payments);
    tally.count("control: requests", storm.requests);
    tally.fact("control: amplification", storm.amplification(), "");
    tally.count("control: retry peak", storm.peak);
    tally.count("control: retry peak, by the clock", storm.by_the_clock);
    tally.fact("ratio of the peaks", ratio(seen, storm), "");
}

/// Both sides beside each other.
fn table(seen: &Side, storm: &Side, judged: &Bounds, window: &str) -> Vec<String> {
    let row = |what: &str, left: String, right: String| format!("{what:<44} {left:>10} {right:>10}");
    let counts = |what: &str, left: usize, right: usize| row(what, left.to_string(), right.to_string());
    let Expected { mean, least, most, runs } = judged.expected;
    let amplification = |side: &Side| format!("x {:.2}", side.amplification());
    vec![
        row("", "control".to_owned(), "service".to_owned()),
        counts("payments", storm.payments, seen.payments),
        counts("requests at the dependency", storm.requests, seen.requests),
        row("amplification", amplification(storm), amplification(seen)),
        counts(&format!("retries in the fullest {window}"), storm.peak, seen.peak),
        counts(&format!("the same by the clock of this machine ({window})"), storm.by_the_clock, seen.by_the_clock),
        format!("expected of the law: {mean:.0} ({least} to {most} in {runs} simulated herds)"),
        format!("ruled out from: {} (chance at most 1e-7 that the law puts so many there)", judged.result.critical),
        format!("the control's peak is {:.1} times as high", ratio(seen, storm)),
    ]
}
