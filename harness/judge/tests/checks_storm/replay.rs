//! S1: a storm and what jitter makes of it.

use std::sync::Arc;
use std::time::Duration;

use judge::checks::{Check, retry, storm};
use judge::evidence::{At, Evidence};
use judge::promise::Noise;
use judge::sim::Policy;
use judge::{Finding, MAX_LINES, Ruling};

use crate::herd_service::{herd, policy};
use crate::stage::refuse;
use crate::support::{LINK, MS, evidence};

const CLIENTS: usize = 2_000;

fn check(control: Evidence) -> Check {
    storm::storm_replay(&policy(), LINK, Noise::default(), Duration::from_millis(100), Arc::new(control))
}

fn number(finding: &Finding, name: &str) -> f64 {
    let fact = finding.facts.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("{name}: {finding:#?}"));
    fact.value.as_f64().expect("a number")
}

/// Proves the story of the incident: three requests for each payment on both sides, a storm of nearly all retries in one
/// window without jitter, and with it a peak near the 340 that the law makes expect; the control is failed by R3.
#[test]
fn full_jitter_passes_where_the_control_storms() {
    let control = herd(Policy::Immediate, CLIENTS, 2);
    let judged_by_r3 = retry::no_herd(&policy(), LINK, Noise::default()).judge(&control);
    assert_eq!(judged_by_r3.ruling, Ruling::Fail, "{judged_by_r3:#?}");
    let finding = check(control).judge(&herd(Policy::Full, CLIENTS, 2));
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
    assert_eq!((number(&finding, "requests"), number(&finding, "control: requests")), (6_000.0, 6_000.0));
    assert_eq!((number(&finding, "amplification"), number(&finding, "control: amplification")), (3.0, 3.0));
    assert!(number(&finding, "control: retry peak") >= 3_900.0, "{finding:#?}");
    assert!((334.0..346.0).contains(&number(&finding, "expected retry peak")));
    let (peak, critical) = (number(&finding, "retry peak"), number(&finding, "m*"));
    assert!((290.0..390.0).contains(&peak) && peak < critical && critical < 520.0, "{peak} {critical}");
    assert!(number(&finding, "ratio of the peaks") > 9.0);
    let told = |l: &String| l.starts_with("expected of the law: 34") || l.starts_with("expected of the law: 33");
    assert!(finding.exhibit.iter().any(told), "{:#?}", finding.exhibit);
}

/// Proves that a service that storms like its control is failed, and why; and that one that repeats more often than
/// promised is failed for that.
#[test]
fn storms_and_nested_retries_fail() {
    for waits in [Policy::Immediate, Policy::FixedExponential] {
        let finding = check(herd(Policy::Immediate, CLIENTS, 2)).judge(&herd(waits, CLIENTS, 2));
        assert_eq!(finding.ruling, Ruling::Fail, "{waits:?}: {finding:#?}");
        assert!(finding.bug_class.as_deref().is_some_and(|c| c.contains("retry storm")), "{finding:#?}");
        assert_eq!(finding.lines.len(), MAX_LINES);
    }
    let finding = check(herd(Policy::Immediate, CLIENTS, 2)).judge(&herd(Policy::Full, CLIENTS, 3));
    assert_eq!(finding.ruling, Ruling::Fail);
    assert!(finding.headline.contains("8000 requests for 2000 payments"), "{}", finding.headline);
    assert!(finding.bug_class.as_deref().is_some_and(|c| c.starts_with("nested retries")));
}

/// Proves that nothing is acquitted that could not have been found: a control that makes no storm, missing retries, loads
/// of other sizes, pauses above the bound, no canary, a fault that struck too seldom, nothing at all.
#[test]
fn what_shows_nothing_is_inconclusive() {
    let storm = || herd(Policy::Immediate, 400, 2);
    let sound = || herd(Policy::Full, 400, 2);
    assert_eq!(check(storm()).judge(&sound()).ruling, Ruling::Pass);
    let doubted = |control: Evidence, service: Evidence, why: &str| {
        let finding = check(control).judge(&service);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{why}: {finding:#?}");
        assert!(finding.headline.contains(why), "{why}: {}", finding.headline);
        assert!(finding.advice.is_some(), "{why}");
    };
    doubted(sound(), sound(), "it made no storm");
    doubted(storm(), herd(Policy::Full, 400, 1), "promised retries of the service are missing");
    doubted(herd(Policy::Immediate, 300, 2), sound(), "but 300 in the control");
    let mut paused = sound();
    paused.canary[0].max_ns = 90 * MS;
    doubted(storm(), paused, "the machine paused");
    let mut blind = sound();
    blind.canary.clear();
    doubted(storm(), blind, "no canary");
    let mut spared = sound();
    spared.faults[0].fired = 3;
    doubted(storm(), spared, "struck 3 times");
    doubted(evidence("empty"), sound(), "did not run");
    doubted(storm(), evidence("empty"), "did not run");
    doubted(storm(), herd(Policy::Full, 400, 0), "cannot be judged");
}

/// Proves that a refused connection is one request, however many payments were under way when it came.
#[test]
fn a_refused_connection_counts_once() {
    let mut service = herd(Policy::Full, 400, 2);
    let first = service.outcomes.iter().map(|o| o.sent).min().expect("payments");
    let last = service.outcomes.iter().map(|o| o.ended).max().expect("payments");
    let middle = At(first.0.midpoint(last.0));
    assert!(service.outcomes.iter().filter(|o| (o.sent..=o.ended).contains(&middle)).count() > 50);
    for at in [first, middle, middle, last, At(last.0 + 1)] {
        refuse(&mut service, at);
    }
    // One retry less for each connection within the herd: what is left of them is what was promised.
    let finding = check(herd(Policy::Immediate, 400, 2)).judge(&service);
    assert_eq!(number(&finding, "requests"), 1_204.0);
    assert!(finding.headline.contains("1204 requests for 400 payments"), "{}", finding.headline);
    let mut within = service.clone();
    let retries: Vec<_> = within.attempts.iter().filter(|a| a.ordinal == 3).map(|a| a.seq).take(4).collect();
    within.attempts.retain(|a| !retries.contains(&a.seq));
    let finding = check(herd(Policy::Immediate, 400, 2)).judge(&within);
    assert_eq!((number(&finding, "requests"), finding.ruling), (1_200.0, Ruling::Pass), "{finding:#?}");
}

/// Proves that only the payments' own waits count: a driver that sends over an hour changes nothing but the clock's view.
#[test]
fn placing_ignores_the_driver() {
    let mut spread = herd(Policy::Immediate, 400, 2);
    for (i, outcome) in spread.outcomes.iter_mut().enumerate() {
        let shift = i as u64 * 9_000 * MS;
        (outcome.sent, outcome.ended) = (At(outcome.sent.0 + shift), At(outcome.ended.0 + shift));
        for attempt in spread.attempts.iter_mut().filter(|a| a.key == outcome.key) {
            let reply = &mut attempt.reply;
            (attempt.arrived, reply.ended) = (At(attempt.arrived.0 + shift), At(reply.ended.0 + shift));
        }
    }
    let finding = check(spread).judge(&herd(Policy::Full, 400, 2));
    assert_eq!(number(&finding, "control: retry peak"), 800.0);
    assert!(number(&finding, "control: retry peak, by the clock") <= 4.0);
}
