//! B6: a successful probe closes the breaker and starts the count anew.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B6, class};
use crate::promise::BreakerPolicy;

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::count::failures;
use super::period::{opens_after, running_at};
use super::view::{Call, View, named, variant};

/// **B6** A successful probe closes the breaker and starts the count anew.
///
/// - *Measure*: after each successful `probe/c`: `closed/c` (good calls), `below/c` (threshold-1 failing calls) and
///   `alive/c` (a good call), and which of them arrived at the proxy.
/// - *Test*: all of them arrive. In every cycle.
/// - *False alarms*: none, arrivals are counted.
/// - *Inconclusive*: the breaker was not open before the probe, the probe did not succeed, the steps after it have no
///   calls, or service retries alone exceed the threshold.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-recovery".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::probe_success_resets(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("4 new failures"));
/// ```
#[must_use]
pub fn probe_success_resets(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B6, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let mut tally = Tally::default();
        for probe in view.steps("probe") {
            judge(&view, &policy, probe, &mut tally);
        }
        let below = policy.threshold.saturating_sub(1);
        let words = Words {
            promise: format!("a successful probe closes the breaker, and {below} new failures do not open it"),
            measured: "which calls reached the proxy after a successful probe".to_owned(),
            pass: format!("closed with a fresh count after each of {} successful probes", tally.judged),
        };
        conclude(&view, B6, None, tally, words)
    })
}

fn judge(view: &View<'_>, policy: &BreakerPolicy, probe: &str, tally: &mut Tally) {
    if running_at(view, policy, probe).is_none() {
        tally.gap(format!("{probe}: the breaker was not open when the probe came"));
        return;
    }
    let good = view.step(probe).flat_map(|c| &c.hits).filter(|h| h.ok).count();
    let bad = view.step(probe).flat_map(|c| &c.hits).filter(|h| !h.ok).count();
    if bad > 0 || good < policy.probes as usize {
        tally.gap(format!(
            "{probe}: {good} probe(s) succeeded and {bad} failed, so that nothing promises a closed breaker"
        ));
        return;
    }
    let x = variant(probe);
    let steps = [named("closed", x), named("below", x), named("alive", x)];
    let calls: Vec<&Call<'_>> = steps.iter().flat_map(|s| view.step(s)).collect();
    if calls.is_empty() {
        tally.gap(format!("{}: no call followed the successful probe", steps[0]));
        return;
    }
    let failed = view.step(&steps[1]).flat_map(|c| &c.hits).filter(|h| !h.ok).count();
    tally.count(&format!("{}: failures after the probe", steps[1]), failed);
    let Some(rejected) = calls.iter().find(|c| c.rejected()) else {
        let below = policy.threshold.saturating_sub(1) as usize;
        // Relapse cycles have no `below` step: there only the closing is judged.
        if view.step(&steps[2]).next().is_some() && failed < below {
            tally.gap(format!("{}: only {failed} failures arrived where {below} were planned", steps[1]));
        }
        tally.judged += 1;
        return;
    };
    let eps = Duration::from_nanos(view.evidence.header.eps_ns);
    let counted = failures(view, policy, rejected.outcome.sent, eps);
    if counted.most >= policy.threshold as usize {
        tally.gap(format!(
            "{}: the service's retries made {} failures; isolate the breaker from retries",
            rejected.outcome.step, counted.most
        ));
        return;
    }
    let opened_after = opens_after(view);
    if failed > 0 && failed >= opened_after {
        tally.gap(format!("{}: it opens after {opened_after} failures anyway, which is for B1 to judge", steps[1]));
        return;
    }
    let (class, what) = if failed == 0 {
        (class::STAYS_LIMITED, "a call was rejected after a successful probe".to_owned())
    } else {
        let what =
            format!("a call was rejected after {failed} new failure(s), declared threshold {}", policy.threshold);
        (class::NOT_RESET, what)
    };
    let since = view.step(probe).filter_map(|c| c.hits.first()).map(|h| h.ended).max().unwrap_or_default();
    let mut lines: Vec<_> = calls
        .iter()
        .filter(|c| c.outcome.sent <= rejected.outcome.sent)
        .flat_map(|c| c.hits.iter().map(|h| arrival(c, h, ("the probe succeeded", since))))
        .collect();
    lines.push(outcome(rejected, "after a successful probe"));
    tally.breach(class, format!("{}: {what}", rejected.outcome.step), lines);
}
