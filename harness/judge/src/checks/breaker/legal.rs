//! B13: the changes of state that the service tells of are those of its family, one after another, and none is missing
//! that the wire shows.

use crate::checks::Check;
use crate::checks::catalogue::{B13, class};
use crate::evidence::{BreakerReading, BreakerState};
use crate::finding::Line;
use crate::promise::{BreakerPolicy, BreakerProfile};

use super::conclude::{Tally, Words, conclude};
use super::timeline::{Change, State, changes};
use super::truth::{named_ours, shown};
use super::view::View;

/// **B13** The changes of state that the service tells of are legal for its profile, leave no gap between one and the
/// next, and hold every opening that the wire shows.
///
/// - *Measure*: the changes in the service's event log, in their order, and the openings in a replay of the wire: a
///   call was rejected after others had passed.
/// - *Test*: each change is an edge of the profile's automaton and begins in the state that the one before it ended in,
///   the first one in closed. There are as many openings as on the wire. *Classic*: closed to open, open
///   to half-open, half-open to closed or open. *resilience4j*: the same, and the states that only an operator enters or
///   leaves: disabled, metrics-only, forced-open. *Ejection*: closed to open and back, without half-open.
/// - *False alarms*: none, the order is the service's own.
/// - *Inconclusive*: no change was told, no call was seen on the link, part of the log was overwritten before it was read, or a state has a name that
///   no profile knows.
///
/// ```
/// # use judge::evidence::{Evidence, Header, TimeBase};
/// # let time = TimeBase { monotonic_ns: 0, wall_ns: 0 };
/// # let header = Header { run: "r".into(), scenario: "breaker-recovery".into(), service: "payments".into(), seed: 1,
/// #     placement: "simulated".into(), time, eps_ns: 60_000_000, recorder: "0".into() };
/// use judge::{Ruling, checks::breaker, promise::BreakerPolicy};
///
/// let policy: BreakerPolicy = serde_json::from_str(r#"{ "threshold": 5, "open": "400ms" }"#).unwrap();
/// let finding = breaker::sequence_is_legal(&policy, "bank").judge(&Evidence::new(header));
/// assert_eq!(finding.ruling, Ruling::Inconclusive);
/// assert_eq!(finding.headline, "the service told of no change of its breaker's state");
/// ```
#[must_use]
pub fn sequence_is_legal(policy: &BreakerPolicy, link: &str) -> Check {
    let (policy, link) = (policy.clone(), link.to_owned());
    Check::new(B13, move |evidence| {
        let view = View::of(evidence, &link, &policy);
        let tally = tally(&view, policy.profile);
        let words = Words {
            promise: format!("goes only through the changes of state of the profile {}", profile_word(policy.profile)),
            measured: "the changes in the service's event log, and the openings that the wire shows".to_owned(),
            pass: format!("{} changes of state, all legal, and every opening of the wire among them", tally.judged),
        };
        conclude(&view, B13, None, tally, words)
    })
}

fn profile_word(profile: BreakerProfile) -> &'static str {
    match profile {
        BreakerProfile::Classic => "classic",
        BreakerProfile::Resilience4j => "resilience4j",
        BreakerProfile::Ejection => "ejection",
    }
}

fn tally(view: &View<'_>, profile: BreakerProfile) -> Tally {
    let mut tally = Tally::default();
    let told: Vec<_> = view.evidence.breakers.iter().filter(|r| r.from.is_some()).collect();
    let Some(told) = named_ours(told, view, &mut tally) else { return tally };
    if told.is_empty() {
        tally.gap("the service told of no change of its breaker's state".to_owned());
        return tally;
    }
    if view.evidence.notes.iter().any(|n| matches!(&*n.code, "breaker-events-lost" | "breaker-events-unreadable")) {
        tally.gap("part of the breaker's event log was overwritten, or could not be read".to_owned());
    }
    let gaps = !tally.gaps.is_empty();
    let mut state = BreakerState::Closed;
    for (i, change) in told.iter().enumerate() {
        let from = change.from.unwrap_or(BreakerState::Unknown);
        tally.judged += 1;
        if from == BreakerState::Unknown || change.state == BreakerState::Unknown {
            tally.gap(format!("change {} has a state that no profile knows", i + 1));
        } else if !is_edge(profile, from, change.state) {
            let what = format!(
                "change {}: {} to {}, which the profile {} does not have",
                i + 1,
                word(from),
                word(change.state),
                profile_word(profile)
            );
            tally.breach(class::ILLEGAL_CHANGE, what, around(&told, i));
        } else if from != state && !gaps {
            let what =
                format!("change {}: it leaves {}, but the breaker was {} before it", i + 1, word(from), word(state));
            tally.breach(class::LOST_CHANGE, what, around(&told, i));
        }
        state = change.state;
    }
    if !gaps {
        openings(view, &told, &mut tally);
    }
    if view.hits().is_empty() {
        tally.gap("no call was seen on the link, so that the service's own word is all there is".to_owned());
    }
    tally
}

/// Whether the profile has that change.
fn is_edge(profile: BreakerProfile, from: BreakerState, to: BreakerState) -> bool {
    use BreakerState::{Closed, Disabled, ForcedOpen, HalfOpen, MetricsOnly, Open};
    let special = |s| matches!(s, Disabled | ForcedOpen | MetricsOnly);
    match (profile, from, to) {
        (BreakerProfile::Ejection, Closed, Open) | (BreakerProfile::Ejection, Open, Closed) => true,
        (BreakerProfile::Ejection, ..) => false,
        (_, Closed, Open) | (_, Open, HalfOpen) | (_, HalfOpen, Closed | Open) => true,
        // An operator enters and leaves the special states, from and to any.
        (BreakerProfile::Resilience4j, ..) => special(from) || special(to),
        (BreakerProfile::Classic, ..) => false,
    }
}

/// Whether each opening that the wire proves was told of: calls had passed, and then one was rejected. What follows from
/// the end of a probe is inferred, not proven, and other checks judge it.
fn openings(view: &View<'_>, told: &[&BreakerReading], tally: &mut Tally) {
    // State and log are read together; what came after the last reading may be told of later.
    let last_read = view.evidence.breakers.iter().map(|r| r.at).max().unwrap_or_default();
    let wire = changes(view);
    let proven = |c: &&Change| c.state == State::Open && c.passed > 0 && c.at <= last_read;
    let trips = wire.iter().zip(wire.iter().skip(1)).filter(|(before, _)| before.state == State::Closed);
    let shown: Vec<_> = trips.map(|(_, c)| c).filter(proven).collect();
    let opened = |r: &&&BreakerReading| {
        matches!(r.state, BreakerState::Open | BreakerState::ForcedOpen) && r.from != Some(BreakerState::HalfOpen)
    };
    let opened = told.iter().filter(opened).count();
    tally.count("changes told of", told.len());
    tally.count("openings told of", opened);
    tally.count("openings that the wire shows", shown.len());
    if let Some(untold) = shown.get(opened) {
        let what = format!(
            "the wire shows {} openings, and the service tells of {opened}: none for the one at {} ({})",
            shown.len(),
            untold.at,
            untold.why
        );
        tally.breach(class::LOST_CHANGE, what, around(told, told.len().saturating_sub(1)));
    }
}

/// The changes up to that one.
fn around(told: &[&BreakerReading], at: usize) -> Vec<Line> {
    let line = |(i, r): (usize, &&BreakerReading)| {
        let from = r.from.unwrap_or(BreakerState::Unknown);
        let text = format!(
            "{}: change {} of `{}`: {} to {}",
            shown(&r.source),
            i + 1,
            shown(&r.name),
            word(from),
            word(r.state)
        );
        Line { at: r.at, key: None, attempt: None, trace: None, text }
    };
    let first = at.saturating_sub(4);
    told.iter().enumerate().skip(first).take(at + 1 - first).map(line).collect()
}

fn word(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed => "closed",
        BreakerState::Open => "open",
        BreakerState::HalfOpen => "half-open",
        BreakerState::Disabled => "disabled",
        BreakerState::ForcedOpen => "forced-open",
        BreakerState::MetricsOnly => "metrics-only",
        BreakerState::Unknown => "unknown",
    }
}
