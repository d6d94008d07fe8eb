//! B1: the breaker opens at the declared number of failures.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B1, class};
use crate::evidence::{At, Evidence};
use crate::finding::Line;
use crate::promise::{BreakerMode, BreakerPolicy};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::count::{Count, failures};
use super::period::{Trip, opens_after, surely_open_until};
use super::view::{Call, Hit, View, base, variant};

/// Steps that must leave the breaker closed; `below` with all its variants.
const QUIET: [&str; 7] = ["good", "below", "reset", "below-again", "closed", "settle", "sparse"];

/// **B1** The breaker opens at the declared number of failures: not before, and not after.
///
/// - *Measure*: calls at the proxy before the first rejected call of each `trip` step; rejected calls in the steps
///   that stay below the threshold (`good`, `below`, `reset`, `below-again`, `closed`, `below/c`).
/// - *Test*: one call at a time, exactly `threshold` failures arrive. When calls overlapped, up to the number in
///   flight at the threshold-th failure may arrive on top. Below the threshold nothing is rejected. A `window` policy
///   counts what its window holds; failures nearer to its edge than the noise bound count for neither side.
/// - *False alarms*: none, arrivals are counted.
/// - *Inconclusive*: no `trip` step, a step that began with an open breaker, too few failing calls, failures so far apart
///   that the open time may have passed between them, or service retries that alone exceed the threshold in a step meant
///   to stay below it.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-trip".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::trips_at_threshold(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("after exactly 5 failures"));
/// ```
#[must_use]
pub fn trips_at_threshold(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B1, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let tally = tally(&view, &policy);
        let counted = match policy.window.filter(|_| policy.mode == BreakerMode::Window) {
            Some(window) => format!("within {window:?}"),
            None => "in a row".to_owned(),
        };
        let words = Words {
            promise: format!("opens after exactly {} failures {counted}", policy.threshold),
            measured:
                "calls that reached the proxy before the first rejected one, and rejected calls below the threshold"
                    .to_owned(),
            pass: format!(
                "opened after exactly {} failures in each of {} trip(s)",
                policy.threshold,
                view.steps("trip").len()
            ),
        };
        conclude(&view, B1, None, tally, words)
    })
}

fn eps(evidence: &Evidence) -> Duration {
    Duration::from_nanos(evidence.header.eps_ns)
}

fn tally(view: &View<'_>, policy: &BreakerPolicy) -> Tally {
    let mut tally = Tally::default();
    for name in QUIET {
        // `closed/c` follows a probe and belongs to B6.
        let steps = view.steps(name).into_iter().filter(|s| *s == name || name == "below");
        steps.for_each(|step| quiet(view, policy, step, &mut tally));
    }
    let trips = view.steps("trip");
    trips.iter().for_each(|step| trip(view, policy, step, &mut tally));
    if trips.is_empty() {
        tally.judged = 0;
    }
    tally
}

/// Whether the wire shows a closed breaker when the step begins; if not, notes the gap.
fn begins_closed(view: &View<'_>, step: &str, tally: &mut Tally) -> bool {
    let begin = view.step(step).map(|c| c.outcome.sent).min().unwrap_or_default();
    let open = view.last_before(begin).is_some_and(Call::rejected);
    if open {
        tally.gap(format!("{step}: the breaker was not closed when the step began, so that nothing can be counted"));
    }
    !open
}

/// A step that stays below the threshold.
fn quiet(view: &View<'_>, policy: &BreakerPolicy, step: &str, tally: &mut Tally) {
    if !begins_closed(view, step, tally) {
        return;
    }
    let calls: Vec<_> = view.step(step).collect();
    let failed = calls.iter().flat_map(|c| &c.hits).filter(|h| !h.ok).count();
    let threshold = policy.threshold as usize;
    let Some(rejected) = calls.iter().find(|c| c.rejected()) else {
        if base(step).starts_with("below") && failed + 1 < threshold {
            tally.gap(format!("{step}: only {failed} failures arrived where {} were planned", threshold - 1));
        }
        tally.judged += 1;
        return;
    };
    if rejected.outcome.status().is_none() {
        tally.gap(format!("{step}: a call got no answer at all, which is no rejection by a breaker"));
        return;
    }
    let counted = failures(view, policy, rejected.outcome.sent, eps(view.evidence));
    if counted.most >= threshold {
        tally.gap(format!(
            "{step}: the service's retries made {} failures, which may open the breaker; \
             isolate the breaker from retries",
            counted.most
        ));
        return;
    }
    let before = calls.iter().filter(|c| c.outcome.sent <= rejected.outcome.sent);
    let new = before.flat_map(|c| &c.hits).filter(|h| !h.ok).count();
    if !variant(step).is_empty() && new < opens_after(view) {
        tally
            .gap(format!("{step}: a call was rejected after {new} failures since the probe, which is for B6 to judge"));
        return;
    }
    let class = if step == "below-again" || step == "closed" { forgets_class(policy) } else { class::OFF_BY_ONE };
    let what =
        format!("{step}: a call was rejected after {} counted failures, declared threshold {threshold}", counted.most);
    tally.breach(class, what, history(view, rejected));
}

fn forgets_class(policy: &BreakerPolicy) -> &'static str {
    match policy.mode {
        BreakerMode::Consecutive => class::NEVER_FORGETS,
        BreakerMode::Window => class::WINDOW,
    }
}

/// The last arrivals before a rejected call, and the call.
fn history(view: &View<'_>, rejected: &Call<'_>) -> Vec<Line> {
    let origin = rejected.outcome.sent;
    let before: Vec<_> = view.hits().into_iter().filter(|(_, h)| h.arrived < origin).collect();
    let tail = before.iter().skip(before.len().saturating_sub(8));
    let mut lines: Vec<_> = tail.map(|(c, h)| arrival(c, h, ("the rejected call", origin))).collect();
    lines.push(outcome(rejected, "the first one rejected"));
    lines
}

/// A step of failing calls until some are rejected.
fn trip(view: &View<'_>, policy: &BreakerPolicy, step: &str, tally: &mut Tally) {
    if !begins_closed(view, step, tally) {
        return;
    }
    let trip = Trip::of(view, step);
    let hits = trip.hits_before();
    if hits.iter().any(|(_, h)| h.ok) {
        tally.gap(format!("{step}: calls that were to fail succeeded, so that the count is not known"));
        return;
    }
    if trip.first_rejected.is_some_and(|c| c.outcome.status().is_none()) {
        tally.gap(format!("{step}: a call got no answer at all, which is no rejection by a breaker"));
        return;
    }
    let threshold = policy.threshold as usize;
    let until = trip.first_rejected.map_or(At(u64::MAX), |c| c.outcome.ended);
    let now = if until == At(u64::MAX) {
        trip.calls.iter().map(|c| c.outcome.ended).max().unwrap_or_default()
    } else {
        until
    };
    let counted = failures(view, policy, now, eps(view.evidence));
    let allowed = threshold + in_flight(&trip, &hits, threshold);
    // What arrives when the open time may be over is a probe, not a failure too many.
    let end = surely_open_until(hits.iter().map(|(_, h)| *h), policy, eps(view.evidence)).unwrap_or(At(u64::MAX));
    let in_time = hits.iter().filter(|(_, h)| h.arrived < end).count();
    tally.count(&format!("{step}: failures before the first rejection"), hits.len());
    match verdict(trip.first_rejected.is_some(), counted, threshold, allowed) {
        Trips::AsPromised => tally.judged += 1,
        Trips::Early if opens_after(view) >= threshold && reset_failed(view, &trip) => {
            let seen = counted.most;
            tally.gap(format!("{step}: opened after {seen} failures, after a count that was not reset: B6's to judge"));
        }
        Trips::Early => {
            let what = format!("{step}: opened after {} failures, declared threshold {threshold}", counted.most);
            tally.breach(class::OFF_BY_ONE, what, lines(&trip, &hits));
        }
        Trips::Late | Trips::Never if in_time < hits.len() && in_time <= allowed => tally.gap(format!(
            "{step}: {in_time} of {} failures arrived before the open time may have been over",
            hits.len()
        )),
        Trips::Late => {
            let what = format!("{step}: opened after {} failures, declared threshold {threshold}", counted.least);
            let class = if policy.mode == BreakerMode::Window { class::WINDOW } else { class::OFF_BY_ONE };
            tally.breach(class, what, lines(&trip, &hits));
        }
        Trips::Never => {
            let what = format!(
                "{step}: {} failures arrived and the breaker never opened, declared threshold {threshold}",
                counted.least
            );
            tally.breach(class::PER_REQUEST, what, lines(&trip, &hits));
        }
        Trips::TooFew => tally.gap(format!(
            "{step}: {} failures arrived within the window, which is no more than the threshold",
            counted.least
        )),
    }
}

/// Whether a call was rejected earlier between a probe and the next trip: what B6 fails. Later counts start anywhere.
fn reset_failed(view: &View<'_>, trip: &Trip<'_, '_>) -> bool {
    let begin = trip.calls.iter().map(|c| c.outcome.sent).min().unwrap_or_default();
    let after_probe = |c: &&Call<'_>| matches!(base(&c.outcome.step), "closed" | "below" | "alive");
    let earlier = view.calls.iter().filter(|c| c.outcome.sent < begin && !variant(&c.outcome.step).is_empty());
    earlier.filter(after_probe).any(Call::rejected)
}

enum Trips {
    AsPromised,
    Early,
    Late,
    Never,
    TooFew,
}

fn verdict(opened: bool, counted: Count, threshold: usize, allowed: usize) -> Trips {
    match opened {
        true if counted.most < threshold => Trips::Early,
        true if counted.least > allowed => Trips::Late,
        true => Trips::AsPromised,
        false if counted.least > allowed => Trips::Never,
        false => Trips::TooFew,
    }
}

/// Calls besides its own that were under way when the threshold-th failure was over.
fn in_flight(trip: &Trip<'_, '_>, hits: &[(&Call<'_>, Hit<'_>)], threshold: usize) -> usize {
    let mut ends: Vec<_> = hits.iter().map(|(c, h)| (h.ended, c.outcome.seq)).collect();
    ends.sort_unstable();
    let Some((at, owner)) = threshold.checked_sub(1).and_then(|i| ends.get(i)) else { return 0 };
    trip.calls.iter().filter(|c| c.outcome.seq != *owner && c.in_flight(*at)).count()
}

fn lines(trip: &Trip<'_, '_>, hits: &[(&Call<'_>, Hit<'_>)]) -> Vec<Line> {
    let origin = hits.first().map_or(At(0), |(_, h)| h.arrived);
    let mut lines: Vec<_> = hits.iter().map(|(c, h)| arrival(c, h, ("the first failure", origin))).collect();
    lines.extend(trip.first_rejected.map(|c| outcome(c, "the first one rejected")));
    lines
}
