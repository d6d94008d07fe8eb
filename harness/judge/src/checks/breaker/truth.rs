//! B12: what the breaker's endpoint says does not contradict the wire.

use std::time::Duration;

use crate::checks::Check;
use crate::checks::catalogue::{B12, class};
use crate::checks::support::EARLY;
use crate::evidence::{At, BreakerReading, BreakerState};
use crate::finding::Line;
use crate::promise::{BreakerPolicy, BreakerProfile};

use super::conclude::{Tally, Words, conclude};
use super::timeline::{Change, State, changes};
use super::view::{Call, View};

/// **B12** The breaker's endpoint does not contradict what the wire shows.
///
/// - *Measure*: readings of the endpoint, against the stretches in which calls at the proxy prove a state: closed
///   while they arrive, open from the open instant for the open time or until the next arrival. Its counter of calls
///   not permitted, against the calls that were rejected.
/// - *Test*: no reading says open while the wire proves closed, or closed while it proves open, or half-open where no
///   probe came before; none has a state that the profile does not know. The counter is not behind the rejections that callers had
///   seen (since the breaker opened; since the start, for one that only grows), and not ahead of all that were asked
///   for by then, where each call makes one attempt.
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
        let view = View::of(evidence, &link, &policy);
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
    let readings = view.evidence.breakers.iter().filter(|r| r.source != "span" && r.from.is_none());
    let readings: Vec<_> = readings.collect();
    if readings.is_empty() {
        tally.gap("the breaker's endpoint was never read".to_owned());
        return tally;
    }
    let Some(ours) = named_ours(readings, view, &mut tally) else { return tally };
    let eps = Duration::from_nanos(view.evidence.header.eps_ns);
    let proofs = proofs(view, policy, eps);
    for reading in ours {
        known(reading, policy.profile, &mut tally);
        state(reading, &proofs, &mut tally);
        counter(view, reading, &proofs, eps, &mut tally);
    }
    if tally.judged == 0 {
        tally.gap("no reading was taken while the wire proves a state".to_owned());
    }
    tally
}

/// Readings of this link's breaker: by its name, or all of them where there is only one.
pub(super) fn named_ours<'r>(
    readings: Vec<&'r BreakerReading>,
    view: &View<'_>,
    tally: &mut Tally,
) -> Option<Vec<&'r BreakerReading>> {
    let one_name = readings.iter().all(|r| r.name == readings[0].name);
    let (none, all) = (readings.is_empty(), one_name);
    let ours: Vec<_> = readings.into_iter().filter(|r| all || r.name == view.link).collect();
    if ours.is_empty() && !none {
        tally.gap(format!("the endpoint shows several breakers and none is named `{}`", view.link));
        return None;
    }
    Some(ours)
}

/// A stretch in which the wire proves a state.
struct Proof {
    state: State,
    /// It follows from the end of probes: the wire cannot tell whether the breaker took them for decisive, so that it may
    /// still be half-open.
    probed: bool,
    from: At,
    to: At,
}

/// The proven stretches, kept clear of changes by the noise bound.
fn proofs(view: &View<'_>, policy: &BreakerPolicy, eps: Duration) -> Vec<Proof> {
    let changes = changes(view);
    let end = view.hits().iter().map(|(_, h)| h.ended).max().unwrap_or_default();
    let until = |next: Option<&Change>| next.map_or(end, |c| c.at);
    let before = [None].into_iter().chain(changes.iter().map(Some));
    let next = changes.iter().skip(1).map(Some).chain([None]);
    changes
        .iter()
        .zip(before.zip(next))
        .filter_map(|(change, (before, next))| {
            let promised = match change.state {
                State::Closed => until(next),
                // Rejections right behind good probes may be those of a breaker that stayed half-open.
                State::Open if change.passed == 0 => return None,
                // Without a call nobody knows whether it turned half-open by itself when the open time was over.
                State::Open => next.map_or(At(u64::MAX), |c| c.at).min(change.at + policy.open.saturating_sub(EARLY)),
                State::HalfOpen => return None,
            };
            let probed = before.is_some_and(|b| b.state == State::HalfOpen);
            Some(Proof { state: change.state, probed, from: change.at + eps, to: promised - eps })
        })
        .filter(|p| p.from < p.to)
        .collect()
}

/// A state that the profile does not have is a lie whatever the wire shows.
fn known(reading: &BreakerReading, profile: BreakerProfile, tally: &mut Tally) {
    let special =
        matches!(reading.state, BreakerState::Disabled | BreakerState::ForcedOpen | BreakerState::MetricsOnly);
    let foreign = match profile {
        BreakerProfile::Classic => special,
        BreakerProfile::Resilience4j => false,
        BreakerProfile::Ejection => special || reading.state == BreakerState::HalfOpen,
    };
    if foreign {
        let what = format!(
            "`{}` said {:?} at {}, a state that the profile {profile:?} does not have",
            shown(&reading.name),
            reading.state,
            reading.at
        );
        tally.breach(class::ILLEGAL_CHANGE, what, vec![line(reading)]);
    }
}

fn state(reading: &BreakerReading, proofs: &[Proof], tally: &mut Tally) {
    let Some(proof) = proofs.iter().find(|p| p.from <= reading.at && reading.at <= p.to) else { return };
    let says_closed =
        matches!(reading.state, BreakerState::Closed | BreakerState::Disabled | BreakerState::MetricsOnly);
    let says_open = matches!(reading.state, BreakerState::Open | BreakerState::ForcedOpen);
    let says_half = reading.state == BreakerState::HalfOpen && !proof.probed;
    tally.judged += 1;
    let (class, what) = match proof.state {
        State::Closed if says_open || says_half => (class::STALE_STATE, "calls were arriving at the dependency"),
        State::Open if says_closed || says_half => (class::SAYS_CLOSED, "calls were being rejected"),
        _ => return,
    };
    let what = format!("`{}` said {:?} at {} while {what}", shown(&reading.name), reading.state, reading.at);
    tally.breach(class, what, vec![line(reading)]);
}

/// The counter against the rejections that callers have seen, from both sides.
fn counter(view: &View<'_>, reading: &BreakerReading, proofs: &[Proof], eps: Duration, tally: &mut Tally) {
    let Some(counted) = reading.not_permitted else { return };
    let rejected: Vec<_> = view.calls.iter().filter(|c| c.rejected() && c.outcome.status().is_some()).collect();
    // Each rejected call must be in it: since the start where it only ever grows, else since it opened, for libraries
    // that count anew with each state.
    let open = proofs.iter().find(|p| p.state == State::Open && p.from <= reading.at && reading.at <= p.to);
    let since = if reading.source == "prometheus" { Some(At(0)) } else { open.map(|o| o.from) };
    if let Some(since) = since {
        let seen = |c: &&&Call<'_>| c.outcome.sent + eps >= since && c.outcome.ended + eps <= reading.at;
        let seen = rejected.iter().filter(seen).count() as u64;
        tally.judged += 1;
        if counted < seen {
            let from = if since == At(0) { "" } else { " since it opened" };
            miscounted(reading, counted, &format!("callers had seen {seen}{from}"), class::OTHER_BREAKER, tally);
        }
    }
    // A service that retries inside a call may be refused more than once for it.
    let once = view.calls.iter().all(|c| c.hits.len() <= 1);
    let asked = rejected.iter().filter(|c| c.outcome.sent <= reading.at).count() as u64;
    if once && counted > asked {
        let what = format!("only {asked} calls had been rejected since the start");
        miscounted(reading, counted, &what, class::MISCOUNTED, tally);
    }
}

fn miscounted(reading: &BreakerReading, counted: u64, seen: &str, class: &'static str, tally: &mut Tally) {
    let what =
        format!("`{}` had counted {counted} calls not permitted at {}, {seen}", shown(&reading.name), reading.at);
    tally.breach(class, what, vec![line(reading)]);
}

fn line(reading: &BreakerReading) -> Line {
    let counter = reading.not_permitted.map(|n| format!(", {n} not permitted")).unwrap_or_default();
    let text = format!("{} says `{}` is {:?}{counter}", shown(&reading.source), shown(&reading.name), reading.state);
    Line { at: reading.at, key: None, attempt: None, trace: None, text }
}

/// Names come from the service: no control characters in headlines.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(80).collect::<String>().escape_debug().to_string()
}
