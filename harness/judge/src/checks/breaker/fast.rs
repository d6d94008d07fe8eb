//! B2: while open, callers are refused at once, with the declared answer, and the dependency gets no call.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B2, class};
use crate::checks::support::ms;
use crate::promise::{BreakerPolicy, Noise};

use super::conclude::{Tally, Words, arrival, conclude, outcome};
use super::period::{Period, Trip};
use super::view::{Call, View, named, variant};

/// **B2** While the breaker is open, callers are refused at once with the declared answer, and the dependency gets no
/// call.
///
/// - *Measure*: the calls that the wire proves to be sent while open (the rejected calls of `trip`, and `open`):
///   arrivals at the proxy, latency, status, `Retry-After`, problem details.
/// - *Test*: no arrival; the declared status; latency at most `fast_fail` plus the noise bound; `Retry-After`, when
///   it is there, a number of seconds no greater than the open time left, rounded up to a whole second; the `status`
///   member of problem details equal to the wire status. A reply that carries the contract's degradation marker may
///   have another status.
/// - *False alarms*: none for counts and answers; none for latencies while no pause exceeds the noise bound.
/// - *Inconclusive*: the breaker never opened, no call of `open` was surely sent while it was, or a pause beyond the
///   bound.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-trip".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::{BreakerPolicy, Noise}};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::open_fails_fast(&policy, "bank", Noise::default()).judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive); // nothing was seen, so nothing is proven
/// assert!(finding.promise.contains("503"));
/// ```
#[must_use]
pub fn open_fails_fast(policy: &BreakerPolicy, link: &str, noise: Noise) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B2, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let (tally, slowest) = tally(&view, &policy, noise.eps);
        let words = Words {
            promise: format!(
                "while open: no call to the dependency, {} within {}",
                policy.reject,
                ms(policy.fast_fail)
            ),
            measured: "arrivals at the proxy, and latency and content of every answer, of the calls sent while open"
                .to_owned(),
            pass: format!(
                "{} calls while open: none reached the dependency, all answered {} within {} (limit {} + noise {})",
                tally.judged,
                policy.reject,
                ms(slowest),
                ms(policy.fast_fail),
                ms(noise.eps)
            ),
        };
        conclude(&view, B2, Some(noise), tally, words)
    })
}

fn tally(view: &View<'_>, policy: &BreakerPolicy, eps: Duration) -> (Tally, Duration) {
    let (mut tally, mut slowest) = (Tally::default(), Duration::ZERO);
    for step in view.steps("trip") {
        let trip = Trip::of(view, step);
        let (Some(period), Some(first)) = (trip.period(policy), trip.first_rejected) else {
            tally.gap(format!("{step}: the breaker never opened, so that nothing was rejected"));
            continue;
        };
        let open = named("open", variant(step));
        let later = trip.calls.iter().copied().filter(|c| c.outcome.sent >= first.outcome.sent).chain(view.step(&open));
        let surely: Vec<_> = later.filter(|c| c.outcome.sent < period.not_before(eps)).collect();
        if !surely.iter().any(|c| c.outcome.step == open) {
            tally.gap(format!("{open}: no call was sent while the breaker was surely open"));
        }
        for call in &surely {
            judge(call, &period, policy, eps, &mut tally);
            slowest = slowest.max(call.outcome.latency());
        }
        tally.judged += surely.len() as u64;
    }
    tally.count("calls while open", usize::try_from(tally.judged).unwrap_or(usize::MAX));
    tally.time("slowest answer while open", slowest);
    (tally, slowest)
}

fn judge(call: &Call<'_>, period: &Period<'_>, policy: &BreakerPolicy, eps: Duration, tally: &mut Tally) {
    let step = &call.outcome.step;
    if let Some(hit) = call.hits.first() {
        let what = format!(
            "{step}: a call reached the dependency {} after the breaker opened",
            ms(hit.arrived.since(period.from()))
        );
        let lines = vec![arrival(call, hit, ("the open instant", period.from()))];
        // Sent while the breaker was surely open, but who knows when the service came to it: it may be the probe.
        match hit.arrived < period.not_before(eps) {
            true => tally.breach(class::LOOKS_TOO_LATE, what, lines),
            false => tally.late(class::LOOKS_TOO_LATE, what, lines),
        }
        return;
    }
    let lines = |remark: &str| vec![outcome(call, remark)];
    let latency = call.outcome.latency();
    if latency > policy.fast_fail.saturating_add(eps) {
        let what = format!(
            "{step}: a rejected call was answered after {}, limit {} + noise {}",
            ms(latency),
            ms(policy.fast_fail),
            ms(eps)
        );
        tally.late(class::WAITS, what, lines("too late"));
    }
    let reply = call.outcome.reply();
    let degraded = reply.is_some_and(|r| r.degraded.is_some());
    if call.outcome.status() != Some(policy.reject) && !degraded {
        let what = format!("{step}: a rejected call got {}, declared {}", call.answer(), policy.reject);
        tally.breach(class::OTHER_ANSWER, what, lines("not the declared answer"));
    }
    let Some(reply) = reply else { return };
    if let Some(member) = reply.problem_status.filter(|s| *s != reply.status) {
        let what = format!("{step}: problem details say status {member}, the wire says {}", reply.status);
        tally.breach(class::OTHER_ANSWER, what, lines("problem details contradict the status line"));
    }
    if let Some(value) = &reply.retry_after {
        retry_after(call, value, period, eps, tally);
    }
}

/// A value in seconds may promise what is left when the call was sent, rounded up. A date has a grain of a second and
/// the wall clock between it and the truth: only its form is judged.
fn retry_after(call: &Call<'_>, value: &str, period: &Period<'_>, eps: Duration, tally: &mut Tally) {
    let step = &call.outcome.step;
    let is_date = value.contains(',') && value.trim_end().ends_with("GMT");
    match value.trim().parse::<u64>() {
        Ok(seconds) => {
            let left = period.surely_over(eps).since(call.outcome.sent);
            let most = left.as_secs() + u64::from(left.subsec_nanos() > 0);
            if seconds > most {
                let what = format!(
                    "{step}: Retry-After {seconds} s with {} of the open time left",
                    ms(left.saturating_sub(eps))
                );
                tally.late(
                    class::RETRY_AFTER,
                    what,
                    vec![outcome(call, "Retry-After promises more than what is left")],
                );
            }
        }
        Err(_) if is_date => {}
        Err(_) => {
            let what = format!("{step}: Retry-After `{}` is neither whole seconds nor a date", value.escape_debug());
            tally.breach(class::RETRY_AFTER, what, vec![outcome(call, "unusable Retry-After")]);
        }
    }
}
