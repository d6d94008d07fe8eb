//! I2: of many requests with one key, one runs.

use std::collections::BTreeSet;

use super::books::attempt_lines;
use super::refusal::is_problem;
use super::replay::is_replay;
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::I2;
use crate::checks::support::{Case, Tally, failed, note_unjoined, outcome_line, paused, strays_among, succeeded};
use crate::evidence::{Attempt, Evidence, Joined, Outcome, Payment, Step};
use crate::finding::Line;
use crate::promise::IdempotencyPolicy;

const TWO_STEPS: &str = I2.bug_classes[0];
const RUNS_AGAIN: &str = I2.bug_classes[2];

/// **I2** Requests with one key that arrive together cause one call to the dependency; the others get the declared
/// answer for a key in flight, or the original's reply.
///
/// - *Measure*: in the steps `held/<n>` (the first call is held until the others are answered) and `burst/<n>`: the calls
///   that reached the proxy, and every caller's answer.
/// - *Test*: one call, not counting retries of a call that failed; a success, and all successes alike byte for byte; every
///   other answer is the declared status as problem details; no 5xx. Answers that are marked as replays are compared by
///   [`super::replay_is_faithful`].
/// - *False alarms*: none. The hold makes the overlap certain, and calls are counted.
/// - *Inconclusive*: several calls of one caller, or 5xx, on a machine that paused for longer than the noise bound: an attempt
///   may have timed out unseen; a hold that never took a call; callers left without an outcome; a service that gave up on the held
///   call before it was released. Effects are counted by [`super::exactly_one_effect`].
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "duplicates".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::idempotency, promise::IdempotencyPolicy};
///
/// let policy: IdempotencyPolicy = serde_json::from_str(r#"{ "in_flight": 409 }"#)?;
/// let finding = idempotency::one_of_many_runs(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert!(finding.promise.contains("409"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn one_of_many_runs(policy: &IdempotencyPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(I2, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &IdempotencyPolicy, link: &str) -> Finding {
    let promise = format!(
        "one call for callers with one key; the others get {} as problem details, or the original's reply",
        policy.in_flight
    );
    let case = Case::new(I2, evidence, link, promise);
    let joined = Joined::of(evidence, link);
    let steps: Vec<&Step> = evidence.steps_of("held").into_iter().chain(evidence.steps_of("burst")).collect();
    let mut tally = Tally::default();
    let (mut callers, paused) = (0, paused(evidence));
    for step in steps {
        for payment in &joined.payments {
            if let Some(race) = Race::of(step, payment) {
                callers += race.outcomes.len();
                let strays = strays_among(&joined, race.outcomes.iter().copied()).len();
                race.judge(policy, strays, paused.as_deref(), &mut tally);
            }
        }
    }
    if callers == 0 {
        return case.did_not_run("`held` or `burst`");
    }
    tally.count("races", tally.judged);
    tally.count("callers", callers);
    let pass = format!("{callers} callers in {} races: one call each, every other answer as promised", tally.judged);
    case.conclude(tally, pass)
}

/// The callers of one key in one step.
struct Race<'p, 'a> {
    step: &'p Step,
    payment: &'p Payment<'a>,
    outcomes: Vec<&'a Outcome>,
    calls: Vec<&'a Attempt>,
}

impl<'p, 'a> Race<'p, 'a> {
    fn of(step: &'p Step, payment: &'p Payment<'a>) -> Option<Self> {
        let outcomes: Vec<_> = payment.outcomes.iter().filter(|o| o.step == step.name).copied().collect();
        let (from, to) = (outcomes.iter().map(|o| o.sent).min()?, outcomes.iter().map(|o| o.ended).max()?);
        let traced = |a: &Attempt| a.context.is_some_and(|c| outcomes.iter().any(|o| o.context.trace == c.trace));
        let calls =
            payment.attempts.iter().filter(|a| traced(a) || (from..=to).contains(&a.arrived)).copied().collect();
        Some(Self { step, payment, outcomes, calls })
    }

    fn judge(&self, policy: &IdempotencyPolicy, strays: usize, paused: Option<&str>, tally: &mut Tally) {
        let held = self.step.name.starts_with("held");
        let hold = self.calls.iter().find(|a| a.fault.as_ref().is_some_and(|f| f.held.is_some()));
        let (step, callers) = (&self.step.name, self.outcomes.len());
        if held {
            self.exhibit(tally);
        }
        let runs = runs(&self.original_calls(policy));
        if runs.len() > 1 {
            let class = if overlapping(&runs) { TWO_STEPS } else { RUNS_AGAIN };
            let what = format!("{step}: {} calls reached the dependency for one key and {callers} callers", runs.len());
            tally.breach_unless(paused.filter(|_| of_one_caller(&runs)), class, what, attempt_lines(&self.calls));
            // Its answers follow from its calls; judging them too would only say the same thing twice.
            tally.judged += 1;
            return;
        }
        let wrong: Vec<_> = self.outcomes.iter().filter(|o| !is_expected(o, policy)).collect();
        let originals = self.outcomes.iter().filter(|o| o.succeeded() && !is_replay(o, policy));
        let answers: BTreeSet<_> = originals.filter_map(|o| signature(o)).collect();
        let nobody = !self.outcomes.iter().any(|o| o.succeeded());
        if let Some(first) = wrong.first() {
            let what = format!(
                "{step}: {} of {callers} callers got neither the original's reply nor {} as problem details, such as {}",
                wrong.len(),
                policy.in_flight,
                first.status().unwrap_or_default()
            );
            let excuse = paused.filter(|_| wrong.iter().all(|o| o.status().is_some_and(|s| s >= 500)));
            tally.breach_unless(excuse, "", what, wrong.iter().map(|o| outcome_line(o, "")).collect());
        }
        if answers.len() > 1 {
            let what = format!("{step}: {} different successes were told for one key", answers.len());
            tally.breach("", what, self.successes());
        }
        let unknown = self.outcomes.iter().filter(|o| o.reply().is_none()).count();
        if note_unjoined(strays, tally) {
            // One of them may be the call that was held, or one call too many.
        } else if unknown > 0 {
            let what = format!("{step}: {unknown} of {callers} callers have no outcome");
            tally.gap(what, "give the request a longer timeout in the contract, or the service more connections");
        } else if held && hold.is_none() {
            let what = format!("{step}: no call to the dependency was held");
            tally.gap(what, "see that the service calls the dependency through the link that the contract names");
        } else if nobody && self.calls.iter().all(|a| failed(a)) {
            let what = format!("{step}: every call of this key failed, so there was no success to share");
            tally.gap(what, "the service gave up before the hold was released: raise its limit for one attempt");
        } else if nobody && wrong.is_empty() {
            let what = format!("{step}: the call succeeded, but none of {callers} callers was told so");
            tally.breach("", what, self.outcomes.iter().map(|o| outcome_line(o, "")).collect());
        }
        tally.judged += 1;
    }

    /// The calls that are this check's to count. A hold makes sure that all callers came while the first one ran; of a burst
    /// some may come late, and what an answer that is marked as a replay calls and says is for I3.
    fn original_calls(&self, policy: &IdempotencyPolicy) -> Vec<&'a Attempt> {
        let late = |a: &&Attempt| {
            let caller = a.context.and_then(|c| self.outcomes.iter().find(|o| o.context.trace == c.trace));
            self.step.name.starts_with("burst") && caller.is_some_and(|o| is_replay(o, policy))
        };
        self.calls.iter().copied().filter(|a| !late(a)).collect()
    }

    fn successes(&self) -> Vec<Line> {
        self.outcomes.iter().filter(|o| o.succeeded()).map(|o| outcome_line(o, "")).collect()
    }

    /// The table of answers.
    fn exhibit(&self, tally: &mut Tally) {
        tally.exhibit.push(format!("{}, key {}: {} calls", self.step.name, self.payment.name, self.calls.len()));
        tally.exhibit.extend(self.outcomes.iter().map(|o| format!("  {}", outcome_line(o, "").text)));
    }
}

/// Calls that are runs of their own: every call but the retries of one that had failed before they arrived.
fn runs<'a>(calls: &[&'a Attempt]) -> Vec<&'a Attempt> {
    let mut runs: Vec<&'a Attempt> = Vec::new();
    let mut current: Option<&'a Attempt> = None;
    for call in calls {
        let retry = current.is_some_and(|c| failed(c) && c.reply.ended <= call.arrived);
        if !retry {
            runs.push(call);
        }
        if current.is_none_or(|c| retry || c.reply.ended <= call.reply.ended) {
            current = Some(call);
        }
    }
    runs
}

/// Whether one and the same request may have caused all of them, as far as the service tells.
fn of_one_caller(runs: &[&Attempt]) -> bool {
    let mut traces: Vec<_> = runs.iter().filter_map(|a| a.context.map(|c| c.trace)).collect();
    traces.dedup();
    traces.len() < 2
}

fn overlapping(runs: &[&Attempt]) -> bool {
    runs.windows(2).any(|w| w[1].arrived < w[0].reply.ended || !succeeded(w[0]))
}

/// A success, or the declared conflict; no answer at all is not known to be wrong.
fn is_expected(o: &Outcome, policy: &IdempotencyPolicy) -> bool {
    o.reply().is_none() || o.succeeded() || is_problem(o, policy.in_flight)
}

fn signature(o: &Outcome) -> Option<(u16, &str, Option<&str>)> {
    o.reply().map(|r| (r.status, r.body_sha256.as_str(), r.content_type.as_deref()))
}
