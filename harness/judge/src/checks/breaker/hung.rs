//! B7: a probe that gets no answer does not lock the breaker.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B7, class};
use crate::checks::support::ms;
use crate::promise::{BreakerPolicy, Noise};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::{reopened, running_at};
use super::view::View;

/// **B7** A probe that gets no answer does not lock the breaker: a new one is let through after a further open time.
///
/// - *Measure*: the probe of `fate/hangs`, whose call hangs at the proxy until the service gives it up, and the calls
///   of `probe/hangs`, sent after the open time that follows.
/// - *Test*: at least one of them arrives. (That no more than one does at a time is for
///   [`super::half_open_single_probe`].)
/// - *False alarms*: none while no pause exceeds the noise bound.
/// - *Inconclusive*: the breaker was not open before, the probe did not arrive or did not hang, the service still had
///   not given it up an open time before the last later call, or a pause beyond the noise bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-relapse".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::probe_never_answers(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// ```
#[must_use]
pub fn probe_never_answers(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B7, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        if !view.steps("fate").is_empty() {
            judge(&view, &policy, noise.eps, &mut tally);
        }
        let words = Words {
            promise: "a probe that hangs does not lock the breaker: after a further open time a new one is let through"
                .to_owned(),
            measured: "calls that reached the proxy after the service gave up a hanging probe".to_owned(),
            pass: "a new probe was let through after the hanging one was given up".to_owned(),
        };
        conclude(&view, B7, Some(noise), tally, words)
    })
}

fn judge(view: &View<'_>, policy: &BreakerPolicy, eps: Duration, tally: &mut Tally) {
    let (fate, later) = ("fate/hangs", "probe/hangs");
    if view.step(fate).next().is_none() {
        tally.gap(format!("{fate}: no probe was made to hang; declare the service's attempt timeout in the contract"));
        return;
    }
    if running_at(view, policy, fate).is_none() {
        tally.gap(format!("{fate}: the breaker was not open when the probe came"));
        return;
    }
    let Some(period) = reopened(view, policy, "hangs") else {
        tally.gap(format!("{fate}: the probe did not reach the link, or was answered"));
        return;
    };
    tally.time("the probe hung for", period.cause.ended.since(period.cause.arrived));
    let calls: Vec<_> = view.step(later).collect();
    if calls.iter().any(|c| !c.rejected()) {
        tally.judged += 1;
        return;
    }
    let last = calls.iter().map(|c| c.outcome.sent).max().unwrap_or_default();
    if last < period.surely_over(eps) {
        tally.gap(format!(
            "{later}: no call was sent {} after the service gave up the hanging probe; \
             a shorter attempt timeout would show more",
            ms(period.open.saturating_add(eps))
        ));
        return;
    }
    let what = format!(
        "{later}: no call of {} was let through {} after the hanging probe was given up, \
             declared open time {}: the breaker is stuck",
        calls.len(),
        ms(last.since(period.from())),
        ms(period.open)
    );
    let probes = view.step(fate).flat_map(|c| c.hits.iter().map(move |h| (c, h)));
    let mut lines: Vec<_> = probes.map(|(c, h)| arrival(c, h, ("the probe ended", period.from()))).collect();
    lines.extend(calls.iter().map(|c| outcome(c, "after the further open time")));
    tally.late(class::LOST_PERMIT, what, lines);
}
