//! R6 at its edges: which class a hole in the table is of, what need not have a step, and attempts without a name.

use judge::checks::retry;
use judge::evidence::Evidence;
use judge::promise::{Failure, RetryPolicy};
use judge::{Finding, Ruling};

use crate::policy;
use crate::support::MS;
use crate::world::{Met, World, reply};

/// Promises that those are retried, with or without a limit for one attempt.
fn promising(retryable: &[Failure], timeout: bool) -> RetryPolicy {
    let promised = policy();
    let attempt_timeout = promised.attempt_timeout.filter(|_| timeout);
    RetryPolicy { retryable: retryable.to_vec(), attempt_timeout, ..promised }
}

fn judged(policy: &RetryPolicy, evidence: &Evidence) -> Finding {
    retry::retries_only_the_retryable(policy, "bank").judge(evidence)
}

/// A step: so many attempts that meet the failure, and then perhaps a success.
fn case(w: &mut World, failure: Failure, failing: usize, success: bool) {
    let sent = MS + w.evidence.outcomes.len() as u64 * 10_000 * MS;
    let p = w.pay(sent);
    let mut at = sent + MS;
    let met = if let Failure::Status(status) = failure { Met::Status(status) } else { Met::Hang(900 * MS) };
    for rank in 0..failing {
        at = w.attempt(p, at, rank, &met) + 10 * MS;
    }
    if success {
        at = w.attempt(p, at, failing, &Met::Success);
    }
    w.answer(p, &format!("case/{failure}"), at, reply(if success { 201 } else { 502 }));
}

const S503: Failure = Failure::Status(503);
const S429: Failure = Failure::Status(429);
const S504: Failure = Failure::Status(504);

/// Proves that a status which is not retried is of the class "only exceptions" where a failure of the transport is retried
/// and no status that is promised to be; a status that is retried against the promise does not change that.
#[test]
fn only_exceptions_are_retried() {
    let class = |finding: &Finding| finding.bug_class.clone().unwrap_or_default();
    let only = retry::retries_only_the_retryable(&policy(), "bank").info().bug_classes[1];
    let promised = promising(&[S429, S503, Failure::Hang], true);
    // Whether 429 and a hang are retried, and 504 against the promise; 503 is not.
    for (status, hang, unpromised, expected) in [
        (false, true, false, only),
        (false, true, true, only),
        (true, true, false, ""),
        (false, false, false, ""),
        (false, false, true, ""),
    ] {
        let mut w = World::new("retry-table");
        case(&mut w, S429, 1, status);
        case(&mut w, S503, 1, false);
        case(&mut w, S504, 1, unpromised);
        case(&mut w, Failure::Hang, 1, hang);
        let finding = judged(&promised, &w.evidence);
        assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
        assert_eq!(class(&finding), expected, "{status} {hang} {unpromised}: {finding:#?}");
    }
}

/// Proves that a hang needs a step only where an attempt has a limit, and everything else that is promised needs one.
#[test]
fn what_must_have_a_step() {
    let mut w = World::new("retry-table");
    case(&mut w, S503, 1, true);
    for (promised, ruling) in [
        (promising(&[S503, Failure::Hang], true), Ruling::Inconclusive),
        (promising(&[S503, Failure::Hang], false), Ruling::Pass),
        (promising(&[S503, S429], true), Ruling::Inconclusive),
        (promising(&[S503, S429], false), Ruling::Inconclusive),
    ] {
        let finding = judged(&promised, &w.evidence);
        assert_eq!(finding.ruling, ruling, "{promised:?}: {finding:#?}");
    }
}

/// Proves that a failure which is retried to the end, and then told as one, is what was promised.
#[test]
fn a_retry_may_fail_as_well() {
    let mut w = World::new("retry-table");
    case(&mut w, S503, 4, false);
    assert_eq!(judged(&promising(&[S503], true), &w.evidence).ruling, Ruling::Pass);
}

/// Proves that an attempt without a name is shown beside those of the payment that was running, and that two attempts of its
/// own are enough whoever made the third.
#[test]
fn nameless_attempts_are_shown() {
    let mut w = World::new("retry-table");
    case(&mut w, S503, 1, true);
    let kept = judged(&promising(&[S503], true), &w.evidence);
    assert_eq!(kept.exhibit.len(), 2, "{kept:#?}");
    let mut nameless = w.evidence.attempts[0].clone();
    (nameless.key, nameless.context, nameless.seq) = (None, None, 99);
    w.evidence.attempts.push(nameless);
    let finding = judged(&promising(&[S503], true), &w.evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert_eq!(finding.exhibit[1], "503      retried   2 or more  2+1?  201, body body");
    assert_eq!(finding.exhibit[2], "+n?: so many more attempts came meanwhile that join to no payment");
}
