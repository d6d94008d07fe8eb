//! T1: a client is answered in time, whatever the dependency does.

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::T1;
use crate::checks::support::{
    Case, Late, Request, Tally, attempt_line, ms, note_unjoined, outcome_line, requests, strays_among, unfired,
};
use crate::evidence::{Answer, Attempt, Evidence, Joined};
use crate::finding::Line;
use crate::promise::{Noise, TimeoutPolicy};

const NO_LIMIT: &str = T1.bug_classes[0];
const SUM: &str = T1.bug_classes[1];
const BROKEN: &str = T1.bug_classes[2];

/// **T1** A client is answered within the promised time, also when the dependency never answers.
///
/// - *Measure*: the load driver's time from send to answer for the payments of the step `hung`, whose every call to the
///   dependency is read and never answered.
/// - *Test*: a whole answer, no later than the promised time and the noise bound.
/// - *False alarms*: none; lateness counts only while the canary was within the noise bound.
/// - *Inconclusive*: no call of the step hung; a pause above the noise bound; the driver's own limit ended the request
///   before the promised time.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "hung".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::timeout, promise::{Noise, TimeoutPolicy}};
///
/// let policy = TimeoutPolicy { answer: std::time::Duration::from_secs(3) };
/// let finding = timeout::answers_in_time(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn answers_in_time(policy: &TimeoutPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (*policy, link.to_owned());
    Check::new(T1, move |evidence| judge(evidence, policy, &link, noise))
}

fn judge(evidence: &Evidence, policy: TimeoutPolicy, link: &str, noise: Noise) -> Finding {
    let most = policy.answer;
    let latest = most.saturating_add(noise.eps);
    let promise = format!("a client is answered within {}, also while the dependency hangs", ms(most));
    let case = Case::new(T1, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let asked = requests(&joined, |o| o.step == "hung");
    if asked.is_empty() {
        return case.did_not_run("`hung`");
    }
    let (mut tally, mut late) = (Tally::default(), Late::default());
    // Whoever left in no time was not kept waiting.
    let hung = |a: &&&Attempt| a.fault.as_ref().is_some_and(|f| f.what.ends_with("/hang")) && a.reply.ended > a.arrived;
    let mut longest = None;
    for r in &asked {
        if r.attempts.iter().find(hung).is_none() {
            continue;
        }
        let took = r.outcome.latency();
        longest = longest.max(Some(took));
        match &r.outcome.answer {
            Answer::Failed { error } => {
                tally.breach(BROKEN, format!("{} got no answer: {error}", r.name()), lines(r));
            }
            Answer::Reply(_) if took > latest => {
                let class = if r.attempts.len() > 1 { SUM } else { NO_LIMIT };
                late.breach(
                    class,
                    format!("{} was answered after {}, promised {}", r.name(), ms(took), ms(most)),
                    lines(r),
                );
            }
            Answer::Reply(_) => {}
            Answer::TimedOut | Answer::Left if took > latest => {
                let class = if r.attempts.len() > 1 { SUM } else { NO_LIMIT };
                late.breach(
                    class,
                    format!("{} had no answer after {}, promised {}", r.name(), ms(took), ms(most)),
                    lines(r),
                );
            }
            Answer::TimedOut | Answer::Left => {
                let what = format!("the client of {} gave up after {}, before the promised time", r.name(), ms(took));
                tally.gap(what, "give the request a longer timeout in the contract than the promised time");
                continue;
            }
        }
        tally.judged += 1;
    }
    if tally.judged == 0 && tally.gaps.is_empty() {
        let why = unfired(evidence, link).into_iter().next().map_or_else(String::new, |w| format!(": {w}"));
        let what = format!("no payment of the step called a dependency that hung{why}");
        tally.gap(what, "see that the service calls the dependency through the link that the contract names");
    }
    note_unjoined(strays_among(&joined, asked.iter().map(|r| r.outcome)).len(), &mut tally);
    tally.count("payments", asked.len());
    if let Some(longest) = longest {
        tally.millis("longest time to an answer", longest.as_secs_f64());
    }
    late.settle(evidence, noise, &mut tally);
    let pass = format!(
        "{} payments over a dependency that hung were answered, the last one after {}",
        tally.judged,
        ms(longest.unwrap_or_default())
    );
    case.conclude(tally, pass)
}

fn lines(r: &Request<'_, '_>) -> Vec<Line> {
    let attempts = r.attempts.iter().enumerate();
    let attempts = attempts.map(|(i, a)| attempt_line(a, i + 1, i.checked_sub(1).map(|b| r.attempts[b]), ""));
    attempts.chain([outcome_line(r.outcome, "")]).collect()
}
