//! B10: how many failures reach the dependency after the breaker has counted enough of them.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B10, class};
use crate::evidence::At;
use crate::promise::{BreakerMode, BreakerPolicy};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::surely_open_until;
use super::view::{Call, Hit, View, named, variant};

/// **B10** When many calls fail at once, the breaker opens as soon as it has counted enough of them: only calls that
/// were in flight by then still reach the dependency.
///
/// - *Measure*: in each `crowd/x`, calls that overlap and fail together, and the failing calls of `after/x`, one after
///   another. *Overshoot* is the number of calls that arrive after the threshold-th failure had ended at the proxy; it
///   is reported beside the number in flight then.
/// - *Test*: no call arrives within the open time that was sent after `threshold` failures had been answered to their
///   callers. What arrives when that time may be over is no part of it.
/// - *False alarms*: none. An answer to the caller comes after the service has counted it, so the order is by cause.
/// - *Inconclusive*: fewer failures than the threshold, a success among them, a breaker that was open before or never
///   opens (which [`super::trips_at_threshold`] owns), no call behind the crowd while it was surely open.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-crowd".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::overshoot_is_bounded(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// ```
#[must_use]
pub fn overshoot_is_bounded(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B10, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        let mut seen = Vec::new();
        for crowd in view.steps("crowd") {
            seen.extend(judge(&view, &policy, crowd, &mut tally));
        }
        let figures: Vec<String> = seen.iter().map(|(over, flying)| format!("{over} of {flying}")).collect();
        let words = Words {
            promise: format!(
                "after {} failures only calls in flight by then still reach the dependency",
                policy.threshold
            ),
            measured: "calls that arrived after the threshold-th failure had ended, and those in flight then"
                .to_owned(),
            pass: format!(
                "overshoot past the threshold, of the calls in flight then: {} in {} crowd(s)",
                figures.join(", "),
                tally.judged
            ),
        };
        conclude(&view, B10, None, tally, words)
    })
}

/// Judges one crowd; the overshoot and the number in flight, when they are known.
fn judge(view: &View<'_>, policy: &BreakerPolicy, crowd: &str, tally: &mut Tally) -> Option<(usize, usize)> {
    let after = named("after", variant(crowd));
    let mut calls: Vec<&Call<'_>> = view.step(crowd).chain(view.step(&after)).collect();
    calls.sort_by_key(|c| (c.outcome.sent, c.outcome.seq));
    let threshold = policy.threshold as usize;
    let begin = calls.first()?.outcome.sent;
    if view.last_before(begin).is_some_and(Call::rejected) {
        tally.gap(format!("{crowd}: the breaker was not closed when the crowd came"));
        return None;
    }
    let mut failed: Vec<(&Call<'_>, Hit<'_>)> =
        calls.iter().flat_map(|c| c.hits.iter().map(move |h| (*c, *h))).collect();
    if failed.iter().any(|(_, h)| h.ok) {
        tally.gap(format!("{crowd}: calls that were to fail succeeded, so that the count is not known"));
        return None;
    }
    failed.sort_by_key(|(c, h)| (h.ended, c.outcome.seq));
    let in_crowd = failed.iter().filter(|(c, _)| c.outcome.step == crowd).count();
    let reached = threshold.checked_sub(1).and_then(|i| failed.get(i)).filter(|_| in_crowd > threshold);
    let eps = Duration::from_nanos(view.evidence.header.eps_ns);
    let end = surely_open_until(failed.iter().map(|(_, h)| *h), policy, eps);
    let Some(((_, last), end)) = reached.zip(end) else {
        tally.gap(format!("{crowd}: {in_crowd} failures arrived together, which is no more than the threshold"));
        return None;
    };
    let at = last.ended;
    let overshoot = failed.iter().filter(|(_, h)| h.arrived > at).count();
    let flying = calls.iter().filter(|c| c.in_flight(at)).count();
    tally.count(&format!("{crowd}: failures that arrived together"), in_crowd);
    tally.count(&format!("{crowd}: overshoot, calls that arrived after the threshold-th failure"), overshoot);
    tally.count(&format!("{crowd}: calls in flight at the threshold-th failure"), flying);
    if !calls.iter().any(|c| c.rejected() && c.outcome.status().is_some()) {
        tally.gap(format!("{crowd}: the breaker never opened, which is for B1 to judge"));
        return None;
    }
    if !view.step(&after).any(|c| c.outcome.sent < end) {
        tally.gap(format!("{after}: no call was sent after the crowd while the breaker was surely open"));
        return None;
    }
    // What arrives when the open time may be over is a probe, and for B3 and B4 to judge.
    let too_many = |(c, h): &&(&Call<'_>, Hit<'_>)| h.arrived < end && known(policy, &failed, c, h, eps) >= threshold;
    let beyond: Vec<_> = failed.iter().filter(too_many).collect();
    if let Some((first, _)) = beyond.iter().min_by_key(|(_, h)| h.arrived) {
        let what = format!(
            "{crowd}: {} call(s) reached the dependency that were sent after {} failures had been answered, declared \
             threshold {threshold}: overshoot {overshoot}, {flying} in flight",
            beyond.len(),
            failed.iter().filter(|(c, _)| c.outcome.ended <= first.outcome.sent).count(),
        );
        let mut lines: Vec<_> = beyond.iter().map(|(c, h)| arrival(c, h, ("the threshold-th failure", at))).collect();
        lines.extend(calls.iter().find(|c| c.rejected()).map(|c| outcome(c, "the first one rejected")));
        tally.breach(class::LOST_UPDATE, what, lines);
        return None;
    }
    tally.judged += 1;
    Some((overshoot, flying))
}

/// Failures that the breaker had surely counted, and not forgotten, when that call was let through.
fn known(
    policy: &BreakerPolicy,
    failed: &[(&Call<'_>, Hit<'_>)],
    call: &Call<'_>,
    hit: &Hit<'_>,
    eps: Duration,
) -> usize {
    let window = policy.window.filter(|_| policy.mode == BreakerMode::Window);
    let fresh = |end: At| window.is_none_or(|w| end + w.saturating_sub(eps) >= hit.arrived);
    failed.iter().filter(|(c, h)| c.outcome.ended <= call.outcome.sent && fresh(h.ended)).count()
}
