//! B3: the breaker stays open for the declared time, and no longer.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B3, class};
use crate::checks::support::ms;
use crate::promise::{BreakerPolicy, Noise};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::{Period, Trip, open_again, reopened};
use super::view::{Call, Hit, View, named, variant};

/// **B3** The breaker stays open for the declared time, and no longer.
///
/// - *Measure*: from each open instant (the failure of the last attempt that arrived before the first rejection; the
///   failed probe of `fate/f`) to the first arrival after it, and the first call sent after the open time.
/// - *Test*: nothing arrives before the open time less 2 ms (less the noise bound too, where the service itself gave
///   up on the failing call: the proxy sees that late). Of the step that holds the first call sent after the open
///   time plus the noise bound, a call arrives. A failed probe multiplies the open time by `growth`.
/// - *False alarms*: none. Delay cannot make an arrival early, and lateness only counts when no pause exceeds the
///   bound.
/// - *Inconclusive*: the breaker never opened; no call was sent in the second half of the open time (`early/c`) or
///   after it; a pause beyond the bound. Whether a probe that hangs is ever replaced is for
///   [`super::probe_never_answers`].
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-recovery".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::stays_open(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("400.0 ms"));
/// ```
#[must_use]
pub fn stays_open(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B3, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let (tally, spans) = tally(&view, &policy, noise.eps);
        let growth = if policy.growth == 1.0 {
            String::new()
        } else {
            format!(", times {} after each failed probe", policy.growth)
        };
        let seen = spans.iter().min().zip(spans.iter().max());
        let seen = seen.map_or(String::new(), |(a, b)| format!(", first arrivals after {} to {}", ms(*a), ms(*b)));
        let words = Words {
            promise: format!("stays open for {}{growth}", ms(policy.open)),
            measured: "from the open instant to the first arrival after it".to_owned(),
            pass: format!("{} open periods of {} held{seen}", tally.judged, ms(policy.open)),
        };
        conclude(&view, B3, Some(noise), tally, words)
    })
}

fn tally(view: &View<'_>, policy: &BreakerPolicy, eps: Duration) -> (Tally, Vec<Duration>) {
    let (mut tally, mut spans) = (Tally::default(), Vec::new());
    for step in view.steps("trip") {
        let x = variant(step);
        let trip = Trip::of(view, step);
        let Some(period) = trip.period(policy) else {
            tally.gap(format!("{step}: the breaker never opened, or was open already"));
            continue;
        };
        let early = named("early", x);
        let watched = view.step(&early).any(|c| c.outcome.sent >= period.from() + period.open / 2);
        if !view.steps("early").is_empty() && !watched {
            tally.gap(format!("{early}: no call was sent in the second half of the open time"));
        }
        judge(view, &period, step, true, eps, (&mut tally, &mut spans));
        let fate = named("fate", x);
        if open_again(policy).is_none() && view.step(&fate).next().is_some() {
            tally.gap(format!("{fate}: a growth of {} makes no length of time of the open time", policy.growth));
        }
        if let Some(second) = reopened(view, policy, x) {
            // A hanging probe may lock the breaker: that is B7's to say. Without any rejection it never reopened:
            // B5's.
            let again = view.calls.iter().find(|c| c.rejected() && c.outcome.sent >= second.from());
            let first = view.hits().into_iter().find(|(c, _)| c.outcome.sent >= second.from());
            if again.is_some_and(|r| first.is_none_or(|(_, h)| r.outcome.ended <= h.arrived)) {
                judge(view, &second, &fate, x != "hangs", eps, (&mut tally, &mut spans));
            } else {
                tally.gap(format!("{fate}: the breaker did not open again after the failed probe"));
            }
        }
    }
    if let Some(shortest) = spans.iter().min() {
        tally.time("shortest time to the first arrival", *shortest);
    }
    (tally, spans)
}

/// Judges one period: its first arrival, and the first call that must find it over.
fn judge(
    view: &View<'_>,
    period: &Period<'_>,
    step: &str,
    judge_late: bool,
    eps: Duration,
    (tally, spans): (&mut Tally, &mut Vec<Duration>),
) {
    let after = |c: &&Call<'_>| c.outcome.sent >= period.from();
    let first: Option<(&Call<'_>, Hit<'_>)> = view.hits().into_iter().find(|(c, _)| after(c));
    let name = format!("the open instant of {step}");
    if let Some((call, hit)) = &first {
        let span = hit.arrived.since(period.from());
        spans.push(span);
        if hit.arrived < period.not_before(eps) {
            let what = format!(
                "{step}: a call arrived {} after the breaker opened, declared open time {}",
                ms(span),
                ms(period.open)
            );
            let class = if leaks(view, period, hit, eps) { class::LEAKS } else { class::UNIT };
            tally.breach(class, what, vec![arrival(call, hit, (&name, period.from()))]);
            return;
        }
    }
    if !judge_late {
        tally.judged += u64::from(first.is_some());
        return;
    }
    let over = view.calls.iter().filter(after).find(|c| c.outcome.sent >= period.surely_over(eps));
    let admitted_before = |limit| first.as_ref().is_some_and(|(_, h)| h.arrived <= limit);
    let Some(deciding) = over else {
        if first.is_some() {
            tally.judged += 1;
        } else {
            tally.gap(format!("{step}: no call was sent after the open time, so that its end is not known"));
        }
        return;
    };
    let group = &deciding.outcome.step;
    let in_group = view.step(group).filter(after).any(|c| !c.rejected());
    if in_group || admitted_before(deciding.outcome.sent) {
        tally.judged += 1;
        return;
    }
    let offset = deciding.outcome.sent.since(period.from());
    let what = format!(
        "{group}: no call was let through {} after the breaker opened, declared open time {}",
        ms(offset),
        ms(period.open)
    );
    let class = if first.is_some() { class::WRONG_START } else { class::NO_TIMER };
    let lines = view.step(group).filter(after).map(|c| outcome(c, "after the open time")).collect();
    tally.late(class, what, lines);
}

/// Whether calls were rejected again after an early call had succeeded: then the open time did not end, it leaks.
fn leaks(view: &View<'_>, period: &Period<'_>, early: &Hit<'_>, eps: Duration) -> bool {
    let while_open = |c: &&Call<'_>| c.outcome.sent > early.ended && c.outcome.sent < period.not_before(eps);
    early.ok && view.calls.iter().filter(while_open).any(Call::rejected)
}
