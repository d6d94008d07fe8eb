//! R10: the retry budget.

mod lower;
mod record;
mod upper;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R10;
use crate::checks::support::{Case, Tally, attempt_line, note_unjoined, outcome_line, requests, strays_among, unfired};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{BudgetPolicy, Noise, RetryPolicy};
use record::{Denial, Record, Retry};

const NONE: &str = R10.bug_classes[0];
const TOO_WIDE: &str = R10.bug_classes[1];
const STARVES: &str = R10.bug_classes[2];

/// **R10** All retries together stay within the declared budget, and the budget is really there to be used.
///
/// - *Measure*: retries, failures and successes of all payments at the proxy. A retry takes from the budget between the
///   failure that it follows and its arrival; a success gives to it within the noise bound after its end.
/// - *Test, never too many*: over every window of time, the retries that lie in it for certain are no more than one above
///   the most that the model allows. gRPC: half of `max_tokens` and `token_ratio` for each success of the window. Quota:
///   the capacity and what successes gave back. Ratio: over nine tenths of `ttl`, the floor and the share of the deposits
///   of a whole `ttl`. Share of the active: at every instant, by the attempts that may have been open.
/// - *Test, never too few*: no payment is given up after a failure that is retried, with attempts to go, while the least
///   that the budget can have held, less one, was enough.
/// - *False alarms*: none. Both bounds hold for every order of events within the noise bound. An attempt that joins to no
///   request is taken for whatever would have filled the budget, and no payment is called starved beside one.
/// - *Inconclusive*: the budget was never exhausted, or no retry was made; a payment without an outcome; attempts that join
///   to no request.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-budget".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::{BudgetPolicy, Noise, RetryPolicy}};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "20ms" }, "retryable": [503] }"#)?;
/// let budget: BudgetPolicy = serde_json::from_str(r#"{ "model": "grpc-tokens", "max_tokens": 10, "token_ratio": 0.1 }"#)?;
/// let finding = retry::budget_holds(&policy, &budget, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn budget_holds(policy: &RetryPolicy, budget: &BudgetPolicy, link: &str, noise: Noise) -> Check {
    let (policy, budget, link) = (policy.clone(), *budget, link.to_owned());
    Check::new(R10, move |evidence| judge(evidence, (&policy, &budget), &link, noise))
}

fn judge(evidence: &Evidence, (policy, budget): (&RetryPolicy, &BudgetPolicy), link: &str, noise: Noise) -> Finding {
    let case = Case::new(R10, evidence, link, budget.describe());
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |_| true);
    if !asked.iter().any(|r| r.outcome.step == "drain") {
        return case.did_not_run("`drain`");
    }
    if !is_defined(budget) {
        let (what, advice) = ("the promised budget holds a number that is none", "promise numbers from 0 up");
        return case.inconclusive(Tally::default(), what.to_owned(), advice.to_owned());
    }
    let mut tally = Tally::default();
    let blurred = asked.iter().filter(|r| r.blurred || !r.refused.is_empty()).count();
    if blurred > 0 {
        let what = format!("for {blurred} requests nobody can say which attempts were theirs");
        tally.gap(what, "pass the trace context of the client on to the dependency");
    }
    let loose = note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    let record = Record::of(&asked, &joined, policy, noise.eps);
    if record.without_outcome > 0 {
        let what = format!(
            "{} payments have no outcome, so nobody knows whether they were to be retried",
            record.without_outcome
        );
        tally.gap(what, "give the request a longer timeout in the contract");
    }
    tally.count("payments", asked.len());
    tally.count("retries", record.retries.len());
    tally.count("retries that were not made", record.denials.len());
    tally.judged = record.retries.len() + record.denials.len();
    if let Some(excess) = upper::excess(&record, budget, noise.eps) {
        // Whoever retries everything has no budget at all.
        let class = if record.denials.is_empty() { NONE } else { TOO_WIDE };
        tally.breach(class, excess.what, excess.retries.iter().rev().take(10).rev().map(|r| retry_line(r)).collect());
    }
    // A retry that nobody can name may be the one that is missing, and have emptied the budget as well.
    let nameless = loose || blurred > 0;
    let has_room = |d: &&Denial<'_, '_>| !nameless && lower::has_room(&record, budget, d, noise.eps);
    let starved: Vec<_> = record.denials.iter().filter(has_room).collect();
    if let Some(first) = starved.first() {
        let what = format!(
            "{} of {} payments were given up while the budget had room, the first one after {} of {} attempts",
            starved.len(),
            asked.len(),
            first.rank + 1,
            policy.attempts
        );
        tally.breach(STARVES, what, starved.iter().flat_map(|d| denial_lines(d)).collect());
    }
    witnesses(&record, evidence, link, &mut tally);
    let pass = format!(
        "{} retries stayed within the budget over every window, {} more were held back, none of them while it had room",
        record.retries.len(),
        record.denials.len()
    );
    case.conclude(tally, pass)
}

/// Whether every number of it can be counted against: nothing exceeds NaN, and nothing falls short of it.
fn is_defined(budget: &BudgetPolicy) -> bool {
    let counts = |n: f64| n.is_finite() && n >= 0.0;
    match *budget {
        BudgetPolicy::GrpcTokens { max_tokens, token_ratio } => counts(max_tokens) && counts(token_ratio),
        BudgetPolicy::Ratio { ratio, min_per_second, .. } => counts(ratio) && counts(min_per_second),
        BudgetPolicy::ActiveShare { percent, .. } => counts(percent),
        BudgetPolicy::AwsQuota { .. } => true,
    }
}

fn witnesses(record: &Record<'_, '_>, evidence: &Evidence, link: &str, tally: &mut Tally) {
    if !tally.breaches.is_empty() || !tally.gaps.is_empty() {
        return;
    }
    let why = unfired(evidence, link).into_iter().next().map_or_else(String::new, |w| format!(": {w}"));
    if record.denials.is_empty() {
        tally.gap(
            format!("the budget was never exhausted, so nobody knows where it ends{why}"),
            "let more payments fail",
        );
    } else if record.retries.is_empty() {
        tally.gap(format!("no retry was made{why}"), "see R1 and R6");
    }
}

fn retry_line(retry: &Retry<'_>) -> Line {
    attempt_line(retry.attempt, retry.rank + 1, Some(retry.before), "")
}

fn denial_lines(denial: &Denial<'_, '_>) -> Vec<Line> {
    vec![attempt_line(denial.last, denial.rank + 1, None, "the last one"), outcome_line(denial.request.outcome, "")]
}
