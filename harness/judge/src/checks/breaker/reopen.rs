//! B5: a failed probe opens the breaker again for a full open time.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B5, class};
use crate::checks::support::ms;
use crate::promise::{BreakerPolicy, Noise};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::{reopened, running_at};
use super::view::{Hit, View, named, variant};

/// **B5** A failed probe opens the breaker again for a full open time.
///
/// - *Measure*: the failure instant of the probe of each `fate/f`, and the calls of `reopened/f` after it.
/// - *Test*: they are rejected: none arrives within the new open time before one was rejected. An arrival after
///   rejections is an open time that is too short or leaks; [`super::stays_open`] fails it, and this check is
///   inconclusive.
/// - *False alarms*: none, an arrival cannot be made early by delay.
/// - *Inconclusive*: the breaker was not open before the probe, the probe did not arrive or did not fail, no call
///   followed within the new open time, or a pause beyond the noise bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-relapse".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "1s", "growth": 2.0 }"#).unwrap();
/// let finding = breaker::probe_failure_reopens(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("2000.0 ms"));
/// ```
#[must_use]
pub fn probe_failure_reopens(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B5, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let (tally, calls) = tally(&view, &policy, noise.eps);
        let words = Words {
            promise: format!(
                "a failed probe opens the breaker again for {}",
                super::period::open_again(&policy).map_or("a time that no clock can hold".to_owned(), ms)
            ),
            measured: "calls that reached the proxy within the open time that follows a failed probe".to_owned(),
            pass: format!(
                "opened again after each of {} failed probes: {calls} calls, none reached the dependency",
                tally.judged
            ),
        };
        conclude(&view, B5, Some(noise), tally, words)
    })
}

fn tally(view: &View<'_>, policy: &BreakerPolicy, eps: Duration) -> (Tally, usize) {
    let (mut tally, mut seen) = (Tally::default(), 0);
    for fate in view.steps("fate") {
        let x = variant(fate);
        if running_at(view, policy, fate).is_none() {
            tally.gap(format!("{fate}: the breaker was not open when the probe came"));
            continue;
        }
        let Some(period) = reopened(view, policy, x) else {
            tally.gap(format!("{fate}: the probe did not reach the link, or did not fail there"));
            continue;
        };
        let step = named("reopened", x);
        let calls: Vec<_> = view
            .step(&step)
            .filter(|c| c.outcome.sent >= period.from() && c.outcome.sent < period.not_before(eps))
            .collect();
        if calls.is_empty() {
            tally.gap(format!("{step}: no call was sent within the open time that follows the failed probe"));
            continue;
        }
        seen += calls.len();
        tally.judged += 1;
        let early = |h: &Hit<'_>| h.arrived < period.not_before(eps);
        let leaks: Vec<_> = calls.iter().filter(|c| c.hits.iter().any(early)).collect();
        let Some(first) = leaks.first().and_then(|c| c.hits.first()) else { continue };
        let after = ms(first.arrived.since(period.from()));
        if calls.iter().any(|c| c.rejected() && c.outcome.ended <= first.arrived) {
            tally.gap(format!(
                "{step}: it opened again, but a call arrived {after} later: \
                 for how long it stays open is for B3 to judge"
            ));
            continue;
        }
        let what = format!(
            "{step}: {} of {} calls reached the dependency, the first {after} after the probe failed, \
             declared open time {}",
            leaks.len(),
            calls.len(),
            ms(period.open)
        );
        let class = if first.ok { class::FAILURE_CLOSES } else { class::STAYS_HALF_OPEN };
        let mut lines: Vec<_> = leaks
            .iter()
            .flat_map(|c| c.hits.iter().map(|h| arrival(c, h, ("the probe failed", period.from()))))
            .collect();
        lines.extend(view.step(fate).map(|c| outcome(c, &period.cause.fate())));
        tally.breach(class, what, lines);
    }
    tally.count("calls after failed probes", seen);
    (tally, seen)
}
