//! G3: the way back.

use std::time::Duration;

use super::view::{Seen, View, common_gaps, reads};
use crate::Finding;
use crate::checks::Check;
use crate::checks::catalogue::G3;
use crate::checks::support::{Case, Tally, ms, note_blind, succeeded};
use crate::evidence::{At, Evidence, FaultWindow, Outcome};
use crate::promise::DegradationPolicy;

const STAYS: &str = G3.bug_classes[0];
const STORED: &str = G3.bug_classes[1];

/// **G3** Within the declared time of the dependency's recovery answers are fresh again, and no fallback was kept as a fresh
/// one.
///
/// - *Measure*: the steps `recovering` and `fresh` after the last fault before them was healed, the calls behind their answers, and the
///   ages told by degraded answers of the same payment one after another.
/// - *Test*: an answer of `fresh` that was asked for later than the declared time and the noise bound after the healing is a
///   success without the marker. A success without the marker has a successful call behind it since the healing. An age that
///   is told does not fall behind an earlier one by more than one unit unless a call succeeded in between.
/// - *False alarms*: none, a pause of the machine only gives the service more time.
/// - *Inconclusive*: nothing was degraded; nothing was read after the declared time; no call at all was seen on
///   the link.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "degradation".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::degradation, promise::DegradationPolicy};
///
/// let policy: DegradationPolicy = serde_json::from_str(
///     r#"{ "read": "/payments/{id}", "marker": "X-Degraded", "age": "Age", "max_age": "1m", "fresh_within": "1s",
///          "confirmed": ["confirmed"] }"#,
/// )?;
/// let finding = degradation::fresh_again(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn fresh_again(policy: &DegradationPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(G3, move |evidence| judge(evidence, &policy, &link))
}

fn judge(evidence: &Evidence, policy: &DegradationPolicy, link: &str) -> Finding {
    let within = policy.fresh_within;
    let promise =
        format!("answers are fresh again {} after recovery, and no fallback is kept as a fresh answer", ms(within));
    let case = Case::new(G3, evidence, link, promise);
    let view = View::of(evidence, link);
    let faults: Vec<_> = evidence.faults.iter().filter(|f| f.link == link).collect();
    let after = view.seen(|o| o.step == "fresh" || o.step == "recovering");
    if faults.is_empty() || after.is_empty() {
        return case.did_not_run("`outage`, `recovering` and `fresh`");
    }
    let mut tally = Tally::default();
    // Where no call is seen, every fresh answer would look like a kept one.
    if !note_blind(&view.joined, &mut tally) {
        return case.conclude(tally, String::new());
    }
    rejuvenated(&view, policy, &mut tally);
    let (mut answered, mut first) = (0, None);
    for seen in &after {
        let Some(healed) = healing(&faults, seen.outcome()) else { continue };
        let due = healed + within + Duration::from_nanos(evidence.header.eps_ns);
        let late = seen.outcome().step == "fresh" && seen.outcome().sent >= due;
        if seen.outcome().succeeded() && !seen.is_marked() {
            first = first.or(Some(seen.outcome().ended.seconds_from(healed)));
        }
        if seen.reply().is_none() {
            let advice = "give the request a longer timeout in the contract";
            tally.gap(format!("a confirmation of {} has no answer", seen.request.name()), advice);
            continue;
        }
        answered += usize::from(late);
        recovered(seen, &view, (healed, late), &mut tally);
    }
    tally.judged = answered;
    if let Some(first) = first {
        tally.millis("first fresh answer after the healing", first);
    }
    tally.count("confirmations asked for after the declared time", answered);
    if answered == 0 {
        tally.gap("no confirmation was asked for after the declared time", "run the whole scenario `degradation`");
    }
    common_gaps(evidence, link, view.degraded().len(), &mut tally);
    case.conclude(tally, format!("{answered} confirmations were fresh {} after the recovery", ms(within)))
}

/// The healing that an answer comes after; `None` when it was asked for while a fault was in force, or before any.
fn healing(faults: &[&FaultWindow], outcome: &Outcome) -> Option<At> {
    let in_force = faults.iter().any(|f| f.applied <= outcome.sent && outcome.sent < f.healed);
    faults.iter().map(|f| f.healed).filter(|at| !in_force && *at <= outcome.sent).max()
}

/// One answer after the healing.
fn recovered(seen: &Seen<'_, '_>, view: &View<'_>, (healed, late): (At, bool), tally: &mut Tally) {
    let (outcome, name) = (seen.outcome(), seen.request.name());
    let since = ms(outcome.sent.since(healed));
    if late && (!outcome.succeeded() || seen.is_marked()) {
        let got = if outcome.succeeded() {
            "a degraded answer".to_owned()
        } else {
            format!("{}", outcome.status().unwrap_or_default())
        };
        let what = format!("{since} after the dependency had recovered {name} still got {got}");
        tally.breach(STAYS, what, vec![seen.line("after the declared time")]);
    } else if outcome.succeeded() && !seen.is_marked() && !asked_since(seen, view, healed) {
        let what =
            format!("{since} after the recovery {name} got an unmarked answer, and the dependency was not asked since");
        tally.breach(STORED, what, vec![seen.line("no call since the recovery, no marker")]);
    }
}

/// Whether a call about that payment, or one that nobody can name, has succeeded since the healing.
fn asked_since(seen: &Seen<'_, '_>, view: &View<'_>, healed: At) -> bool {
    let ended = seen.outcome().ended;
    let calls = seen.request.payment.attempts.iter().chain(&view.joined.orphan_attempts);
    calls
        .filter(|a| succeeded(a))
        .any(|a| (healed..=ended).contains(&a.reply.ended) || a.arrived >= healed && a.arrived <= ended)
}

/// Ages that shrink while nothing new was learned.
fn rejuvenated(view: &View<'_>, policy: &DegradationPolicy, tally: &mut Tally) {
    let marked = view.seen(|o| reads(o) && o.succeeded() && o.reply().is_some_and(|r| r.degraded.is_some()));
    let aged: Vec<_> =
        marked.iter().filter_map(|s| Some((s, policy.age_unit.read(s.reply()?.age.as_deref()?)?))).collect();
    for (i, (seen, age)) in aged.iter().enumerate() {
        let (name, sent) = (seen.request.name(), seen.outcome().sent);
        let earlier = aged[..i].iter().filter(|(e, _)| e.request.name() == name && e.outcome().ended <= sent);
        let Some((before, told)) = earlier.max_by_key(|(e, told)| told.saturating_add(sent.since(e.outcome().ended)))
        else {
            continue;
        };
        // A call that succeeded after that answer was sent may have renewed what is kept.
        let renewed = view.learned(seen, seen.outcome().ended).is_some_and(|at| at > before.outcome().sent);
        let expected = told.saturating_add(sent.since(before.outcome().ended));
        if !renewed && age.saturating_add(2 * policy.age_unit.granule()) < expected {
            let what =
                format!("{name} told an age of {} where its earlier answer had grown to {}", ms(*age), ms(expected));
            tally.breach(
                STORED,
                what,
                vec![before.line(&format!("told {}", ms(*told))), seen.line(&format!("told {}", ms(*age)))],
            );
        }
    }
}
