//! B4: half-open lets exactly the declared number of probes through.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B4, class};
use crate::checks::support::ms;
use crate::evidence::At;
use crate::promise::BreakerPolicy;

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::running_at;
use super::view::{Call, Hit, View, named, variant};

/// **B4** A half-open breaker lets exactly the declared number of probes through and refuses every other caller until
/// they are answered.
///
/// - *Measure*: in each `probe` step, 32 callers after the open time while the proxy holds the probe: calls that
///   arrived before the release, and when the other callers were answered.
/// - *Test*: while held, exactly `probes` calls arrived; no other caller was let through or answered after the
///   release (queued behind the probe). No arrival at all after the open time means that the breaker is stuck.
/// - *False alarms*: none, the hold makes the overlap certain. "Stuck", and a short wait behind the probe, only count
///   when no pause exceeds the noise bound.
/// - *Inconclusive*: the wire does not show an open breaker when a probe step begins; no call was held or released. A
///   breaker that a hanging probe locked is for [`super::probe_never_answers`].
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-recovery".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::half_open_single_probe(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("exactly 1"));
/// ```
#[must_use]
pub fn half_open_single_probe(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B4, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        for step in view.steps("probe") {
            judge(&view, &policy, step, &mut tally);
        }
        let callers = view.calls.iter().filter(|c| super::view::base(&c.outcome.step) == "probe").count();
        tally.count("callers in probe steps", callers);
        let words = Words {
            promise: format!(
                "half-open lets exactly {} call(s) through until answered and refuses all others",
                policy.probes
            ),
            measured: "calls at the proxy while it held the probe, and the other callers' answers".to_owned(),
            pass: format!(
                "exactly {} call(s) let through in each of {} half-open periods, {callers} callers",
                policy.probes, tally.judged
            ),
        };
        conclude(&view, B4, None, tally, words)
    })
}

fn judge(view: &View<'_>, policy: &BreakerPolicy, step: &str, tally: &mut Tally) {
    let Some(period) = running_at(view, policy, step) else {
        tally.gap(format!("{step}: the breaker was not open when the callers came"));
        return;
    };
    let eps = Duration::from_nanos(view.evidence.header.eps_ns);
    let calls: Vec<&Call<'_>> = view.step(step).collect();
    let mut hits: Vec<(&Call<'_>, Hit<'_>)> = calls.iter().flat_map(|c| c.hits.iter().map(move |h| (*c, *h))).collect();
    hits.sort_by_key(|(c, h)| (h.arrived, c.outcome.seq));
    if hits.is_empty() {
        let hung = variant(step) == "hangs" && view.step(&named("fate", "hangs")).any(|c| !c.rejected());
        let last = calls.iter().map(|c| c.outcome.sent).max().unwrap_or_default();
        if hung {
            // B7 owns the breaker that a hanging probe locked.
        } else if last < period.surely_over(eps) {
            tally.gap(format!("{step}: the callers came before the open time was surely over"));
        } else {
            let what = format!(
                "{step}: no backend call from {} callers, {} after the breaker opened: it is stuck, declared {}",
                calls.len(),
                ms(last.since(period.from())),
                policy.probes
            );
            tally.late(class::NO_TIMER, what, calls.iter().map(|c| outcome(c, "after the open time")).collect());
        }
        return;
    }
    let Some((held, released)) = hits.iter().filter_map(|(_, h)| h.hold()).min() else {
        tally.gap(format!("{step}: calls arrived, but none was held"));
        return;
    };
    let Some(released) = released else {
        tally.gap(format!("{step}: the held call was never released"));
        return;
    };
    while_held(policy, step, (&calls, &hits), (held, released), tally);
    queued(policy, view, step, &calls, released, tally);
    tally.judged += 1;
}

/// Counts what arrived before the release.
fn while_held(
    policy: &BreakerPolicy,
    step: &str,
    (calls, hits): (&[&Call<'_>], &[(&Call<'_>, Hit<'_>)]),
    (held, released): (At, At),
    tally: &mut Tally,
) {
    let during: Vec<_> = hits.iter().filter(|(_, h)| h.arrived < released).collect();
    let (seen, declared) = (during.len(), policy.probes as usize);
    tally.count(&format!("{step}: calls while the probe was held"), seen);
    if seen == declared || (seen < declared && calls.len() < declared) {
        return;
    }
    let what = format!("{step}: {seen} backend calls while the probe was held, declared {declared}");
    let lines = during.iter().map(|(c, h)| arrival(c, h, ("the hold began", held))).collect();
    if seen > declared {
        tally.breach(class::NOT_ATOMIC, what, lines)
    } else {
        tally.late(class::TWO_STEPS, what, lines)
    }
}

/// Callers that came before the release and were let through or answered only after it.
fn queued(policy: &BreakerPolicy, view: &View<'_>, step: &str, calls: &[&Call<'_>], released: At, tally: &mut Tally) {
    let came_before = calls.iter().filter(|c| c.outcome.sent < released);
    let waited: Vec<&&Call<'_>> = came_before
        .filter(|c| match c.hits.first() {
            Some(hit) => hit.arrived >= released,
            None => c.outcome.ended > released,
        })
        .collect();
    let Some(longest) = waited.iter().map(|c| released.since(c.outcome.sent)).max() else { return };
    let what = format!(
        "{step}: {} caller(s) waited behind the probe, the longest for {}, instead of being refused",
        waited.len(),
        ms(longest)
    );
    let lines = waited.iter().map(|c| outcome(c, "not answered before the release")).collect();
    // A pause of the machine can delay an answer by as much as the canary saw, never by a whole hold.
    let pause = Duration::from_nanos(view.evidence.canary_max_ns().unwrap_or(u64::MAX));
    if longest > policy.fast_fail.saturating_add(pause) {
        tally.breach(class::QUEUE, what, lines);
    } else {
        tally.late(class::QUEUE, what, lines);
    }
}
