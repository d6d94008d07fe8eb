//! I3: what was answered is answered the same way again.

use super::books::{attempt_lines, told_success};
use super::refusal::calls_during;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I3;
use crate::checks::support::{Case, Request, Tally, note_blind, note_unjoined, outcome_line, requests, strays_among};
use crate::evidence::{ClientReply, Evidence, Joined, Outcome, Payment};
use crate::finding::Line;
use crate::promise::IdempotencyPolicy;

const RENDERED: &str = I3.bug_classes[0];
const STATUS: &str = I3.bug_classes[1];
const MARKER: &str = I3.bug_classes[2];

/// **I3** A key that has been answered is answered the same way again, marked as a replay, without a call to the
/// dependency.
///
/// - *Measure*: each request of the steps `again/<fault>`, `after` and `replay` whose key had succeeded before, against
///   the success of that key; and the answers of twins that are marked as replays.
/// - *Test*: the same status, content type and bytes; the promised marker on replays and not on originals; no call to the
///   dependency.
/// - *False alarms*: none, replies are compared byte by byte.
/// - *Inconclusive*: no key was repeated after a success; a repetition without an answer; no call of the whole scenario was
///   seen on the link.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "duplicates".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "replay_marker": "X-Idempotency-Replay" }"#)?;
/// let finding = idempotency::replay_is_faithful(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("X-Idempotency-Replay"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn replay_is_faithful(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I3, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let marked = policy.replay_marker.as_ref().map_or(String::new(), |m| format!(", marked with {m}"));
    let promise = format!("a repeated key gets the same status, content type and bytes{marked}, without a call");
    let case = Case::new(I3, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let repeats = |o: &Outcome| o.step == "after" || o.step == "replay" || o.step.starts_with("again/");
    let asked = requests(&joined, repeats);
    if asked.is_empty() {
        return case.did_not_run("`again`, `after` or `replay`");
    }
    let mut tally = Tally::default();
    let pairs: Vec<_> = asked.iter().filter_map(|r| Some((r, original(r.payment, r.outcome)?))).collect();
    let twins = requests(&joined, |o| !repeats(o) && is_replay(o, policy));
    let of_twins = twins.iter().filter_map(|r| Some((r, original_of_twin(r.payment, r.outcome)?)));
    let marked: Vec<_> = pairs.iter().copied().chain(of_twins).collect();
    altered(&marked, &mut tally);
    // What a held race calls is for I2 to count.
    let free: Vec<_> = marked.iter().copied().filter(|(r, _)| !r.outcome.step.starts_with("held")).collect();
    called(&free, &mut tally);
    let strays = free.iter().map(|(r, _)| strays_among(&joined, std::iter::once(r.outcome)).len()).max();
    note_unjoined(strays.unwrap_or(0), &mut tally);
    if policy.replay_marker.is_some() {
        unmarked(&pairs, &mut tally);
        marked_originals(&joined, &mut tally);
    }
    tally.judged = pairs.iter().filter(|(r, _)| r.outcome.reply().is_some()).count();
    tally.count("repetitions", asked.len());
    tally.count("repetitions of a success", pairs.len());
    note_blind(&joined, &mut tally);
    let unanswered = pairs.len() - tally.judged;
    if unanswered > 0 {
        tally.gap(
            format!("{unanswered} repetitions have no answer"),
            "give the request a longer timeout in the contract",
        );
    } else if pairs.is_empty() {
        let advice = "see the other findings first: the originals did not succeed";
        tally.gap("no key was repeated after a success", advice);
    }
    let pass = format!("{} replays, each the original's reply byte for byte and without a call", tally.judged);
    case.conclude(tally, pass)
}

/// The success that this request repeats: one that was over before it was sent. Where twins both ran there are several, and
/// a replay is faithful when it repeats one of them.
fn original<'a>(payment: &Payment<'a>, repeat: &Outcome) -> Option<&'a Outcome> {
    let before = payment.outcomes.iter().filter(|o| told_success(o) && o.ended <= repeat.sent && o.seq != repeat.seq);
    let differs = |o: &Outcome| o.reply().zip(repeat.reply()).is_some_and(|(a, b)| difference(a, b).is_some());
    // An unmarked one is an original for sure.
    before.min_by_key(|o| (differs(o), o.reply().is_some_and(|r| r.marker.is_some()), o.ended)).copied()
}

/// The success that a twin's marked answer claims to repeat: an unmarked one of its key, whichever came first.
fn original_of_twin<'a>(payment: &Payment<'a>, twin: &Outcome) -> Option<&'a Outcome> {
    let unmarked = |o: &&&Outcome| told_success(o) && o.reply().is_some_and(|r| r.marker.is_none());
    let differs = |o: &Outcome| o.reply().zip(twin.reply()).is_some_and(|(a, b)| difference(a, b).is_some());
    payment.outcomes.iter().filter(unmarked).min_by_key(|o| (differs(o), o.ended)).copied()
}

/// Whether a success is marked as a replay, where the service promises to mark them.
pub(super) fn is_replay(o: &Outcome, policy: &IdempotencyPolicy) -> bool {
    policy.replay_marker.is_some() && o.succeeded() && o.reply().is_some_and(|r| r.marker.is_some())
}

type Pair<'r, 'j, 'a> = (&'r Request<'j, 'a>, &'a Outcome);

/// What differs between two replies, in words; `None` when nothing does.
pub(super) fn difference(first: &ClientReply, again: &ClientReply) -> Option<(&'static str, &'static str)> {
    if first.status != again.status {
        Some(("status", STATUS))
    } else if first.body_sha256 != again.body_sha256 {
        Some(("body", RENDERED))
    } else if first.content_type != again.content_type {
        Some(("content type", RENDERED))
    } else {
        None
    }
}

fn altered(pairs: &[Pair<'_, '_, '_>], tally: &mut Tally) {
    let differs = |(r, first): &Pair<'_, '_, '_>| difference(first.reply()?, r.outcome.reply()?);
    let found: Vec<_> = pairs.iter().filter_map(|p| Some((p, differs(p)?))).collect();
    if let Some((_, (member, class))) = found.first() {
        let what =
            format!("{} of {} replays differ from the original, the first in its {member}", found.len(), pairs.len());
        tally.breach(class, what, found.iter().flat_map(|(p, _)| both(p)).collect());
    }
}

fn both((r, first): &Pair<'_, '_, '_>) -> [Line; 2] {
    let excerpt = |o: &Outcome| o.reply().map_or(String::new(), |r| r.excerpt.chars().take(120).collect());
    [
        outcome_line(first, &format!("the original: {}", excerpt(first))),
        outcome_line(r.outcome, &format!("the replay: {}", excerpt(r.outcome))),
    ]
}

fn called(pairs: &[Pair<'_, '_, '_>], tally: &mut Tally) {
    let found: Vec<_> = pairs.iter().map(|(r, _)| calls_during(r)).filter(|calls| !calls.is_empty()).collect();
    if !found.is_empty() {
        let what = format!("{} of {} replays called the dependency again", found.len(), pairs.len());
        tally.breach("", what, found.iter().flat_map(|calls| attempt_lines(calls)).collect());
    }
}

fn unmarked(pairs: &[Pair<'_, '_, '_>], tally: &mut Tally) {
    let plain =
        |(r, _): &&Pair<'_, '_, '_>| r.outcome.succeeded() && r.outcome.reply().is_some_and(|r| r.marker.is_none());
    let found: Vec<_> = pairs.iter().filter(plain).collect();
    if !found.is_empty() {
        let what = format!("{} of {} replays are not marked as such", found.len(), pairs.len());
        tally.breach("", what, found.iter().map(|(r, _)| outcome_line(r.outcome, "no marker")).collect());
    }
}

/// Payments all of whose answers are known, and whose every success is marked as the repetition of another one.
fn marked_originals(joined: &Joined<'_>, tally: &mut Tally) {
    let known = |o: &Outcome| o.status().is_some_and(|s| s < 500);
    let marked = |o: &Outcome| o.reply().is_some_and(|r| r.marker.is_some());
    let all_marked = |p: &&Payment<'_>| {
        let mut successes = p.outcomes.iter().filter(|o| told_success(o)).peekable();
        p.outcomes.iter().all(|o| known(o)) && successes.peek().is_some() && successes.all(|o| marked(o))
    };
    let found: Vec<_> = joined.payments.iter().filter(all_marked).collect();
    if let Some(first) = found.first() {
        let what = format!(
            "{} payments have no original answer: each is marked as a replay, as for {}",
            found.len(),
            first.name
        );
        let first = |p: &&Payment<'_>| {
            p.outcomes.iter().find(|o| told_success(o)).map(|o| outcome_line(o, "the first success"))
        };
        tally.breach(MARKER, what, found.iter().filter_map(first).collect());
    }
}
