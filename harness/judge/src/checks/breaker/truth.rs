//! B12: what the breaker's endpoint says does not contradict the wire.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B12, class};
use crate::evidence::{At, BreakerReading, BreakerState};
use crate::finding::Line;
use crate::promise::BreakerPolicy;

use super::conclude::{Tally, Words, conclude};
use super::period::ROUNDING;
use super::timeline::{Change, State, changes};
use super::view::{Call, View};

/// **B12** The breaker's endpoint does not contradict what the wire shows.
///
/// - *Measure*: readings of the endpoint, against the stretches in which calls at the proxy prove a state: closed
///   while they arrive, open from the open instant for the open time or until the next arrival.
/// - *Test*: no reading says open while the wire proves closed, or closed while it proves open; a counter of calls
///   not permitted, read while open, is not behind the rejections that callers had seen since it opened.
/// - *False alarms*: none, readings within the noise bound of a change are left out.
/// - *Inconclusive*: no reading was taken in such a stretch, or the endpoint shows several breakers and none has the
///   link's name. Claims in spans are left to other checks: their clock is the service's own.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-trip".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::state_is_truthful(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert_eq!(finding.headline, "the breaker's endpoint was never read");
/// ```
#[must_use]
pub fn state_is_truthful(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B12, move |evidence| {
        let view = View::of(evidence, &link);
        let tally = tally(&view, &policy);
        let words = Words {
            promise: "the breaker's endpoint shows the state that the wire shows".to_owned(),
            measured: "readings of the endpoint in stretches in which the wire proves a state".to_owned(),
            pass: format!("{} readings, none contradicts the wire", tally.judged),
        };
        conclude(&view, B12, None, tally, words)
    })
}

fn tally(view: &View<'_>, policy: &BreakerPolicy) -> Tally {
    let mut tally = Tally::default();
    let readings: Vec<_> = view.evidence.breakers.iter().filter(|r| r.source != "span").collect();
    if readings.is_empty() {
        tally.gap("the breaker's endpoint was never read".to_owned());
        return tally;
    }
    let one_name = readings.iter().all(|r| r.name == readings[0].name);
    let ours: Vec<_> = readings.into_iter().filter(|r| one_name || r.name == view.link).collect();
    if ours.is_empty() {
        tally.gap(format!("the endpoint shows several breakers and none is named `{}`", view.link));
        return tally;
    }
    let eps = Duration::from_nanos(view.evidence.header.eps_ns);
    let proofs = proofs(view, policy, eps);
    for reading in ours {
        state(reading, &proofs, &mut tally);
        counter(view, reading, &proofs, eps, &mut tally);
    }
    if tally.judged == 0 {
        tally.gap("no reading was taken while the wire proves a state".to_owned());
    }
    tally
}

/// A stretch in which the wire proves a state.
struct Proof {
    state: State,
    from: At,
    to: At,
}

/// The proven stretches, kept clear of changes by the noise bound.
fn proofs(view: &View<'_>, policy: &BreakerPolicy, eps: Duration) -> Vec<Proof> {
    let changes = changes(view);
    let end = view.hits().iter().map(|(_, h)| h.ended).max().unwrap_or_default();
    let until = |next: Option<&Change>| next.map_or(end, |c| c.at);
    let pairs = changes.iter().zip(changes.iter().skip(1).map(Some).chain([None]));
    pairs
        .filter_map(|(change, next)| {
            let promised = match change.state {
                State::Closed => until(next),
                // Without a call nobody knows whether it turned half-open by itself when the open time was over.
                State::Open => {
                    next.map_or(At(u64::MAX), |c| c.at).min(change.at + policy.open.saturating_sub(ROUNDING))
                }
                State::HalfOpen => return None,
            };
            Some(Proof { state: change.state, from: change.at + eps, to: promised - eps })
        })
        .filter(|p| p.from < p.to)
        .collect()
}

fn state(reading: &BreakerReading, proofs: &[Proof], tally: &mut Tally) {
    let Some(proof) = proofs.iter().find(|p| p.from <= reading.at && reading.at <= p.to) else { return };
    let says_closed =
        matches!(reading.state, BreakerState::Closed | BreakerState::Disabled | BreakerState::MetricsOnly);
    let says_open = matches!(reading.state, BreakerState::Open | BreakerState::ForcedOpen);
    tally.judged += 1;
    let what = match proof.state {
        State::Closed if says_open => "calls were arriving at the dependency",
        State::Open if says_closed => "calls were being rejected",
        _ => return,
    };
    let what = format!("`{}` said {:?} at {} while {what}", shown(&reading.name), reading.state, reading.at);
    tally.breach(class::STALE_STATE, what, vec![line(reading)]);
}

/// Each call that was rejected since the breaker opened must be in its counter, whether the counter starts anew with
/// each state or not.
fn counter(view: &View<'_>, reading: &BreakerReading, proofs: &[Proof], eps: Duration, tally: &mut Tally) {
    let Some(counted) = reading.not_permitted else { return };
    let open = proofs.iter().find(|p| p.state == State::Open && p.from <= reading.at && reading.at <= p.to);
    let Some(open) = open else { return };
    let since_open = |c: &&Call<'_>| c.outcome.sent + eps >= open.from && c.outcome.ended + eps <= reading.at;
    let rejected = view.calls.iter().filter(|c| c.rejected() && c.outcome.status().is_some());
    let seen = rejected.filter(since_open).count();
    tally.judged += 1;
    if counted < seen as u64 {
        let what = format!(
            "`{}` had counted {counted} calls not permitted at {}, callers had seen {seen} since it opened",
            shown(&reading.name),
            reading.at
        );
        tally.breach(class::OTHER_BREAKER, what, vec![line(reading)]);
    }
}

fn line(reading: &BreakerReading) -> Line {
    let counter = reading.not_permitted.map(|n| format!(", {n} not permitted")).unwrap_or_default();
    let text = format!("{} says `{}` is {:?}{counter}", shown(&reading.source), shown(&reading.name), reading.state);
    Line { at: reading.at, key: None, attempt: None, trace: None, text }
}

/// Names come from the service: no control characters in headlines.
fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
