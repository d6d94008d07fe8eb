//! R6 and R7: exactly the failures of the table are retried.

use std::collections::BTreeMap;

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R6;
use crate::checks::support::{Case, Request, Tally, attempt_line, outcome_line, outcome_words, requests, succeeded};
use crate::checks::support::{note_unjoined, strays};
use crate::evidence::{Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Failure, RetryPolicy};

const EVERYTHING: &str = R6.bug_classes[0];
const ONLY_EXCEPTIONS: &str = R6.bug_classes[1];
const LIBRARY: &str = R6.bug_classes[2];

/// **R6** Exactly the failures of the declared table are retried, and (**R7**) a request that is not safe to repeat is
/// never repeated without its key.
///
/// - *Measure*: attempts for the one payment of each step `case/<failure>`; refused connections count as attempts.
/// - *Test*: two or more where the table says retried, exactly one where it does not; a retry that was answered with
///   success reaches the client as one; the second attempt of a POST or PATCH carries a key.
/// - *False alarms*: none, attempts are counted.
/// - *Inconclusive*: a failure of the table has no step, never struck, or its payment has no outcome.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-table".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry, promise::RetryPolicy};
///
/// let policy: RetryPolicy = serde_json::from_str(
///     r#"{ "attempts": 4, "backoff": { "law": "full", "base": "200ms" }, "retryable": [503, "reset"] }"#)?;
/// let finding = retry::retries_only_the_retryable(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert_eq!(finding.promise, "retried are 503, reset, and nothing else");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn retries_only_the_retryable(policy: &RetryPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(R6, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &RetryPolicy, link: &str) -> Finding {
    let words: Vec<String> = policy.retryable.iter().map(ToString::to_string).collect();
    let promise = match words.is_empty() {
        true => "nothing is retried".to_owned(),
        false => format!("retried are {}, and nothing else", words.join(", ")),
    };
    let case = Case::new(R6, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| failure_of(&o.step).is_some());
    if asked.is_empty() {
        return case.did_not_run("`case/<failure>`");
    }
    let mut rows: BTreeMap<Failure, Row<'_, '_>> = BTreeMap::new();
    for request in asked {
        if let Some(failure) = failure_of(&request.outcome.step) {
            let row = rows.entry(failure).or_insert_with(|| Row {
                failure,
                retried: promised(policy, failure),
                requests: Vec::new(),
                joined: &joined,
            });
            row.requests.push(request);
        }
    }
    let mut tally = Tally::default();
    tally.exhibit.push(format!("{:<8} {:<9} {:<10} {:<5} client got", "failure", "promised", "expected", "seen"));
    let only_exceptions = only_exceptions(&rows);
    rows.values().for_each(|row| row.judge(only_exceptions, &mut tally));
    if rows.values().any(|row| row.requests.iter().any(|r| row.strays(r) > 0)) {
        tally.exhibit.push("+n?: so many more attempts came meanwhile that join to no payment".to_owned());
    }
    for failure in policy.retryable.iter().filter(|f| !rows.contains_key(f)) {
        // Without a limit for one attempt nobody can say when a hung one has failed, so no step can be made of it.
        if *failure != Failure::Hang || policy.attempt_timeout.is_some() {
            tally.gap(
                format!("{failure} is promised as retried and has no step"),
                "run the whole scenario `retry-table`",
            );
        }
    }
    tally.count("failures judged", tally.judged);
    let pass = format!("{} kinds of failure: retried where promised, and only there", tally.judged);
    case.conclude(tally, pass)
}

/// `503` of `case/503`, `reset` of `case/reset`.
fn failure_of(step: &str) -> Option<Failure> {
    let word = step.strip_prefix("case/")?;
    serde_json::from_value(word.parse::<u16>().map_or_else(|_| word.into(), serde_json::Value::from)).ok()
}

fn promised(policy: &RetryPolicy, failure: Failure) -> bool {
    policy.retries(failure) && policy.attempts > 1
}

/// Whether failures of the transport are retried, and no status that is promised to be.
fn only_exceptions(rows: &BTreeMap<Failure, Row<'_, '_>>) -> bool {
    let retried = |status: bool| {
        let kind = move |r: &&Row<'_, '_>| r.retried && matches!(r.failure, Failure::Status(_)) == status;
        rows.values().filter(kind).any(|row| row.requests.iter().any(|r| r.tries() > 1))
    };
    retried(false) && !retried(true)
}

/// One line of the matrix.
struct Row<'j, 'a> {
    failure: Failure,
    retried: bool,
    requests: Vec<Request<'j, 'a>>,
    joined: &'j Joined<'a>,
}

impl Row<'_, '_> {
    /// Attempts that came while the payment of the step ran, and may be its own.
    fn strays(&self, request: &Request<'_, '_>) -> usize {
        strays(self.joined, (request.outcome.sent, request.outcome.ended)).len()
    }

    fn judge(&self, only_exceptions: bool, tally: &mut Tally) {
        for request in &self.requests {
            let seen = request.tries();
            let (promised, expected) = if self.retried { ("retried", "2 or more") } else { ("final", "1") };
            let got = outcome_words(request.outcome);
            let strays = self.strays(request);
            let count = if strays > 0 { format!("{seen}+{strays}?") } else { seen.to_string() };
            tally
                .exhibit
                .push(format!("{:<8} {promised:<9} {expected:<10} {count:<5} {got}", self.failure.to_string()));
            self.judge_one(request, (seen, strays), only_exceptions, tally);
        }
    }

    fn judge_one(
        &self,
        request: &Request<'_, '_>,
        (seen, strays): (usize, usize),
        only_exceptions: bool,
        tally: &mut Tally,
    ) {
        let failure = self.failure;
        let struck = !request.refused.is_empty() || request.attempts.iter().any(|a| a.fault.is_some());
        // Too few attempts of its own say nothing while others came that may be its own.
        if seen < 2 && note_unjoined(strays, tally) {
            return;
        }
        if !struck {
            let what = format!("{failure} never struck the payment of its step ({seen} attempts were seen)");
            tally.gap(what, "see that the service calls the dependency through the link that the contract names");
            return;
        }
        if !self.retried && seen > 1 {
            let class = if matches!(failure, Failure::Status(_)) { EVERYTHING } else { LIBRARY };
            let what = format!("{failure} was tried {seen} times, promised to be final");
            tally.breach(class, what, lines(request, "not promised as retried"));
        } else if request.outcome.reply().is_none() {
            let what = format!("the payment that met {failure} has no outcome");
            tally.gap(what, "give the request a longer timeout in the contract");
            return;
        } else if self.retried && seen < 2 {
            let exceptions = only_exceptions && matches!(failure, Failure::Status(_));
            let class = if exceptions { ONLY_EXCEPTIONS } else { "" };
            let what = format!("{failure} was not retried, promised to be");
            tally.breach(class, what, lines(request, "the only one"));
        } else if self.retried && request.attempts.last().is_some_and(|a| succeeded(a)) && !request.outcome.succeeded()
        {
            let what = format!("{failure} was retried and the retry succeeded, but the client was told otherwise");
            tally.breach("", what, lines(request, ""));
        }
        self.judge_key(request, tally);
        tally.judged += 1;
    }

    /// R7: no repetition of an unsafe request without its key.
    fn judge_key(&self, request: &Request<'_, '_>, tally: &mut Tally) {
        let unsafe_method = |m: &str| matches!(m, "POST" | "PATCH");
        let repeated = request.attempts.iter().skip(1).find(|a| a.key.is_none() && unsafe_method(&a.method));
        if let Some(attempt) = repeated {
            let what = format!("after {} a {} was repeated without a key", self.failure, attempt.method);
            tally.breach(EVERYTHING, what, lines(request, "no key"));
        }
    }
}

fn lines(request: &Request<'_, '_>, remark: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (i, attempt) in request.attempts.iter().enumerate().take(3) {
        let before = i.checked_sub(1).map(|b| request.attempts[b]);
        lines.push(attempt_line(
            attempt,
            i + 1,
            before,
            if i > 0 || request.attempts.len() == 1 { remark } else { "" },
        ));
    }
    for refused in request.refused.iter().take(3) {
        let text = "connection refused by the fault: an attempt without a name".to_owned();
        let trace = Some(request.outcome.context.trace.to_string());
        lines.push(Line { at: refused.accepted, key: request.outcome.key.clone(), attempt: None, trace, text });
    }
    lines.push(outcome_line(request.outcome, ""));
    lines
}
