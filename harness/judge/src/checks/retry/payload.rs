//! R12: the same bytes on every attempt.

use std::collections::{BTreeSet, HashMap};

use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::R12;
use crate::checks::support::{Case, Tally, attempt_line, digest, note_unjoined, strays_among};
use crate::evidence::{Attempt, Evidence, Joined, Payment, TraceId};
use crate::finding::Line;

const REBUILT: &str = R12.bug_classes[0];
const CONSUMED: &str = R12.bug_classes[1];

/// **R12** Each attempt of a payment carries the same bytes.
///
/// - *Measure*: digest and length of every request body that reached the proxy whole.
/// - *Test*: one digest for each payment; as many bytes as `content-length` declares.
/// - *False alarms*: none, digests are compared. A client that asks again with another payload asks for other bytes:
///   such requests are left out.
/// - *Inconclusive*: no payment has two attempts whose bodies were read whole.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "retry-law".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::retry};
///
/// let finding = retry::payload_is_stable("bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// ```
#[must_use]
pub fn payload_is_stable(link: &str) -> Check {
    let link = link.to_owned();
    Check::new(R12, move |evidence| judge(evidence, &link))
}

fn judge(evidence: &Evidence, link: &str) -> Finding {
    let case = Case::new(R12, evidence, link, "the same bytes on every attempt of a payment".to_owned());
    if evidence.outcomes.is_empty() {
        return case.did_not_run("`waves`, `case` or `point`");
    }
    let joined = Joined::of(evidence, link);
    let bodies: Vec<Vec<&Attempt>> = joined.payments.iter().map(of_one_payload).collect();
    let mut tally = Tally { judged: bodies.iter().filter(|b| b.len() > 1).count(), ..Tally::default() };
    tally.count("payments with two whole bodies or more", tally.judged);
    changed(&bodies, &mut tally);
    let all = joined.payments.iter().flat_map(|p| p.attempts.iter()).chain(&joined.orphan_attempts).copied();
    wrong_length(all, &mut tally);
    note_unjoined(strays_among(&joined, evidence.outcomes.iter()).len(), &mut tally);
    if tally.judged == 0 {
        let what = "no payment has two attempts whose bodies were read whole";
        tally.gap(what, "run a scenario whose fault strikes after the request was read, and is retried");
    }
    let pass = format!("{} payments sent the same bytes on every attempt", tally.judged);
    case.conclude(tally, pass)
}

/// The whole bodies of a payment, without those of repetitions that asked for something else.
fn of_one_payload<'a>(payment: &Payment<'a>) -> Vec<&'a Attempt> {
    let first = payment.outcomes.first().map(|o| o.payload.as_str());
    let asked: HashMap<TraceId, &str> =
        payment.outcomes.iter().map(|o| (o.context.trace, o.payload.as_str())).collect();
    let alike = |a: &&&Attempt| {
        let payload = a.context.and_then(|c| asked.get(&c.trace).copied());
        payload.is_none() || payload == first
    };
    payment.attempts.iter().filter(alike).filter(|a| a.body.sha256.is_some()).copied().collect()
}

fn changed(bodies: &[Vec<&Attempt>], tally: &mut Tally) {
    let digests = |b: &[&Attempt]| b.iter().filter_map(|a| a.body.sha256.clone()).collect::<BTreeSet<_>>().len();
    let found: Vec<_> = bodies.iter().filter(|b| digests(b) > 1).collect();
    let Some(first) = found.first() else { return };
    let what = format!(
        "{} payments changed their bytes between attempts; the first sent {} different bodies on {} attempts",
        found.len(),
        digests(first),
        first.len()
    );
    let emptied = found.iter().flat_map(|b| b.iter().skip(1)).any(|a| a.body.bytes == 0);
    let class = if emptied { CONSUMED } else { REBUILT };
    tally.breach(class, what, found.iter().flat_map(|b| lines(b)).collect());
}

fn wrong_length<'a>(attempts: impl Iterator<Item = &'a Attempt>, tally: &mut Tally) {
    // A request that never came whole shows a client that left, not a wrong length.
    let wrong = |a: &&Attempt| a.received.is_some() && a.body.declared.is_some_and(|n| n != a.body.bytes);
    let found: Vec<_> = attempts.filter(wrong).collect();
    if !found.is_empty() {
        let what = format!("{} attempts sent another number of bytes than their content-length", found.len());
        tally.breach(CONSUMED, what, lines(&found));
    }
}

fn lines(attempts: &[&Attempt]) -> Vec<Line> {
    let text = |a: &Attempt| {
        let sha = a.body.sha256.as_deref().map_or("not read", digest);
        let declared = a.body.declared.map_or(String::new(), |n| format!(" of {n} declared"));
        format!("body {sha}, {} bytes{declared}", a.body.bytes)
    };
    attempts.iter().enumerate().map(|(i, a)| attempt_line(a, i + 1, None, &text(a))).collect()
}
