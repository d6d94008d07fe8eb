//! I7: which answers a key remembers.

use super::books::{attempt_lines, told_success};
use super::refusal::calls_during;
use super::replay::difference;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I7;
use crate::checks::support::{
    Case, Request, Tally, note_blind, note_unjoined, outcome_line, requests, strays_among, unfired,
};
use crate::evidence::{Evidence, Joined, Outcome};
use crate::promise::{IdempotencyPolicy, Memo};

const FORGOTTEN: &str = I7.bug_classes[0];
const KEPT: &str = I7.bug_classes[1];
const ALTERED: &str = I7.bug_classes[2];

/// **I7** An answer that the declared policy remembers is given again to its key; after any other the key runs again.
///
/// - *Measure*: the steps `first/<case>`, under a fault or none, and `again/<case>` without a fault: the answers of each
///   key, and the calls that the repetition caused.
/// - *Test*: by the class of the *first answer*, whatever the fault was; successes are left to I3. A remembered one is repeated with its status, content
///   type and bytes and without a call. After one that is not remembered the repetition makes a call of its own.
/// - *False alarms*: none, answers and calls are counted.
/// - *Inconclusive*: no failure reached the client, or none of a class that the policy treats apart; a request without an
///   answer; a fault struck less often than planned; calls that join to no request; no call at all was seen on the link;
///   no policy is promised.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "key-memo".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "memo": "2xx+4xx" }"#)?;
/// let finding = idempotency::failures_are_remembered(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("2xx+4xx"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn failures_are_remembered(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I7, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let words = policy.memo.map_or("nothing", Memo::word);
    let promise = format!("answers remembered by a key: {words}; after any other the key runs again");
    let case = Case::new(I7, evidence, link, promise);
    let Some(memo) = policy.memo else {
        let advice = "promise a policy in the contract: promises.idempotency.memo";
        return case.inconclusive(Tally::default(), "no memo of failures is promised".to_owned(), advice.to_owned());
    };
    let joined = Joined::of(evidence, link);
    let repeats = requests(&joined, |o| o.step.starts_with("again/"));
    if repeats.is_empty() {
        return case.did_not_run("`first` and `again`");
    }
    let mut tally = Tally::default();
    // On a link where nothing is seen, a call that is missing is no failure that was kept.
    if !note_blind(&joined, &mut tally) {
        return case.conclude(tally, String::new());
    }
    let mut seen = Seen::default();
    for request in &repeats {
        if let Some(first) = first_answer(request, policy, &mut tally) {
            seen.note(first);
            // Every policy remembers successes, and whether they come back as they were is for I3 to say.
            if !told_success(first) {
                repeated(request, first, memo, &joined, &mut tally);
            }
        }
    }
    tally.count("repeated successes", seen.successes);
    tally.count("repeated refusals (4xx)", seen.refusals);
    tally.count("repeated failures (5xx)", seen.failures);
    seen.gaps(memo, &mut tally);
    for what in unfired(evidence, link) {
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    let pass = format!(
        "{} keys with a failure were answered again as {words} promises, each by the class of the first answer",
        tally.judged
    );
    case.conclude(tally, pass)
}

/// How many first answers of each class there were.
#[derive(Default)]
struct Seen {
    successes: usize,
    refusals: usize,
    failures: usize,
}

impl Seen {
    fn note(&mut self, first: &Outcome) {
        match first.status() {
            Some(200..=299) => self.successes += 1,
            Some(400..=499) => self.refusals += 1,
            _ => self.failures += 1,
        }
    }

    /// What was not provoked cannot have been kept.
    fn gaps(&self, memo: Memo, tally: &mut Tally) {
        let advice = "see what the service answers when its dependency refuses or fails a call";
        if self.refusals + self.failures == 0 {
            tally.gap("no failure of the dependency became a failure for the client", advice);
        } else if memo == Memo::SuccessesAndRefusals && (self.refusals == 0 || self.failures == 0) {
            let missing = if self.refusals == 0 { "4xx" } else { "5xx" };
            tally.gap(format!("no first answer was a {missing}, which the policy treats apart"), advice);
        }
    }
}

/// The answer that the key had before the repetition. One that nothing remembers by rule (a twin in flight, a payload or
/// a key that was refused) is none.
fn first_answer<'a>(request: &Request<'_, 'a>, policy: &IdempotencyPolicy, tally: &mut Tally) -> Option<&'a Outcome> {
    let before = request.payment.outcomes.iter().copied().filter(|o| o.ended <= request.outcome.sent);
    let first = before.min_by_key(|o| (o.sent, o.seq));
    let (Some(first), true) = (first, request.outcome.reply().is_some()) else {
        let what = format!("a request for {} has no answer", request.name());
        tally.gap(what, "give the request a longer timeout in the contract");
        return None;
    };
    let status = first.status();
    let unstored = [Some(policy.in_flight), policy.mismatch, policy.missing].contains(&status);
    if status.is_none() || unstored {
        let what =
            format!("the first request for {} was not worked on, so that there is nothing to remember", request.name());
        tally.gap(what, "see the other findings first, and give the request a longer timeout in the contract");
        return None;
    }
    Some(first)
}

fn repeated(request: &Request<'_, '_>, first: &Outcome, memo: Memo, joined: &Joined<'_>, tally: &mut Tally) {
    let (again, name) = (request.outcome, request.name());
    let status = first.status().unwrap_or_default();
    let calls = calls_during(request);
    let lines = || {
        let mut lines = vec![outcome_line(first, "the first answer"), outcome_line(again, "the repetition")];
        lines.extend(attempt_lines(&calls));
        lines
    };
    let strays = strays_among(joined, std::iter::once(again)).len();
    if memo.remembers(status) {
        let differs = first.reply().zip(again.reply()).and_then(|(a, b)| difference(a, b));
        if !calls.is_empty() {
            let what =
                format!("{name} was answered {status}, which is remembered, and its repetition called the dependency");
            tally.breach(FORGOTTEN, what, lines());
        } else if let Some((member, _)) = differs {
            let what =
                format!("{name} was answered {status}, which is remembered, and its repetition has another {member}");
            tally.breach(ALTERED, what, lines());
        }
        // A call that nobody can name may be the repetition's.
        note_unjoined(strays, tally);
    } else if calls.is_empty() && strays == 0 {
        let what = format!("{name} was answered {status}, which is not remembered, and its repetition did not run");
        tally.breach(KEPT, what, lines());
    }
    tally.judged += 1;
}
