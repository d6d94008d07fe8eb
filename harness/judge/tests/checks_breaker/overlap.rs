//! Outcomes that come late, that overlap, and that are classified; changes of state that are told of.

use std::collections::BTreeSet;

use judge::checks::{Check, breaker, catalogue};
use judge::evidence::{BreakerState, Evidence, Note, NoteWeight};
use judge::promise::{BreakerPolicy, BreakerProfile, Noise};
use judge::{Finding, Ruling};

use crate::late::{crowd, late, outcomes};
use crate::machine::Defect;
use crate::scenarios::{start_over, times, window};
use crate::stage::{Bank, EPS_MS, Stage, part};
use crate::support::MS;
use crate::{policy, windowed};

fn declared() -> BreakerPolicy {
    serde_json::from_str(
        r#"{ "threshold": 5, "open": "500ms", "slow_call": "300ms",
             "outcomes": { "success": [402], "ignored": [409], "failure": [429, "hang"] } }"#,
    )
    .expect("a policy")
}

/// The checks of the three scenarios.
fn checks(policy: &BreakerPolicy, scenario: &str) -> Vec<Check> {
    match scenario {
        "breaker-late" => vec![
            breaker::stale_outcomes_change_nothing(policy, "bank", Noise::default()),
            breaker::state_is_truthful(policy, "bank"),
            breaker::sequence_is_legal(policy, "bank"),
        ],
        "breaker-crowd" => vec![breaker::overshoot_is_bounded(policy, "bank")],
        "breaker-window" => vec![breaker::trips_at_threshold(policy, "bank")],
        _ => vec![breaker::outcomes_count_as_declared(policy, "bank", Noise::default())],
    }
}

fn judged(policy: &BreakerPolicy, defect: Defect, seed: u64) -> Vec<Finding> {
    let mut runs = vec![late(policy, defect, seed), crowd(policy, defect, seed)];
    if policy.outcomes.is_some() {
        runs.push(outcomes(policy, defect, seed));
    }
    if policy.window.is_some() {
        runs.push(window(policy, defect, seed));
    }
    runs.iter().flat_map(|e| checks(policy, &e.header.scenario).into_iter().map(|c| c.judge(e))).collect()
}

/// Proves that no check is out of reach, and that unusual promises that are kept pass: several probes, a growing open
/// time, a window, declared classes and slow calls.
#[test]
fn the_sound_breaker_passes() {
    let probes = BreakerPolicy { probes: 3, ..declared() };
    let growing = BreakerPolicy { growth: 2.0, ..declared() };
    let in_window = BreakerPolicy { outcomes: declared().outcomes, ..windowed() };
    for policy in [policy(), declared(), probes, growing, in_window] {
        for seed in 0..30 {
            for finding in judged(&policy, Defect::None, seed) {
                assert_eq!(finding.ruling, Ruling::Pass, "{policy:?}, seed {seed}: {finding:#?}");
            }
        }
    }
}

/// Proves detection, attribution and the words: each mistake is failed by its owner with the class of bugs that it is.
#[test]
fn each_mistake_is_failed_by_its_owner() {
    let class = |check: &str, n: usize| (check.to_owned(), n);
    let table = [
        (Defect::StaleSuccessCloses, policy(), class("B8", 0), &["B12", "B13"][..]),
        (Defect::StaleFailureReopens, policy(), class("B8", 1), &["B13"]),
        (Defect::StaleFreesPermit, policy(), class("B8", 2), &[]),
        (Defect::StaleRestartsOpen, policy(), class("B8", 3), &[]),
        (Defect::ClientErrorsTrip, declared(), class("B9", 0), &[]),
        (Defect::SuccessIgnored, declared(), class("B9", 1), &[]),
        (Defect::FailureNotCounted, declared(), class("B9", 2), &[]),
        (Defect::TimeoutNotCounted, declared(), class("B9", 3), &[]),
        (Defect::SlowNotCounted, declared(), class("B9", 4), &[]),
        (Defect::IgnoredResets, declared(), class("B9", 5), &[]),
        (Defect::IgnoredCloses, declared(), class("B9", 6), &[]),
        (Defect::IgnoredKeepsPermit, declared(), class("B9", 7), &[]),
        (Defect::IgnoredReopens, declared(), class("B9", 7), &[]),
        (Defect::LostUpdate, policy(), class("B10", 0), &[]),
        (Defect::NeverSlides, windowed(), class("B1", 0), &[]),
        (Defect::TumblingWindow, windowed(), class("B1", 3), &[]),
        (Defect::SaysClosed, policy(), class("B12", 2), &[]),
        (Defect::CountsTwice, policy(), class("B12", 3), &[]),
        (Defect::HidesHalfOpen, policy(), class("B13", 0), &[]),
    ];
    for (defect, policy, (owner, n), companions) in table {
        for seed in 0..10 {
            let findings = judged(&policy, defect, seed);
            let failed: Vec<_> = findings.iter().filter(|f| f.ruling == Ruling::Fail).collect();
            let seen: Vec<_> = findings.iter().map(|f| (&f.check, &f.scenario, f.ruling, &f.headline)).collect();
            let strays: BTreeSet<_> =
                failed.iter().map(|f| f.check.as_str()).filter(|c| *c != owner && !companions.contains(c)).collect();
            assert!(strays.is_empty(), "{defect:?}, seed {seed}: {strays:?} in {seen:#?}");
            let owned = failed.iter().find(|f| f.check == owner);
            let owned = owned.unwrap_or_else(|| panic!("{owner} passed {defect:?}, seed {seed}: {seen:#?}"));
            let info = catalogue::info(&owner).expect("in the catalogue");
            assert_eq!(owned.bug_class.as_deref(), info.bug_classes.get(n).copied(), "{defect:?}: {owned:#?}");
            assert!(!owned.lines.is_empty() && !owned.exhibit.is_empty(), "{owned:#?}");
            assert_eq!(owned.chance.and_then(|c| c.probability()), Some(0.0));
        }
    }
}

/// Proves that the number is reported, and that a person reads where, how many, and how many were declared.
#[test]
fn overshoot_is_a_number() {
    let of = |defect| {
        let evidence = crowd(&policy(), defect, 3);
        breaker::overshoot_is_bounded(&policy(), "bank").judge(&evidence)
    };
    let sound = of(Defect::None);
    assert_eq!(sound.headline, "overshoot past the threshold, of the calls in flight then: 0 of 20 in 1 crowd(s)");
    let lost = of(Defect::LostUpdate);
    assert_eq!(
        lost.headline,
        "crowd/1: 4 call(s) reached the dependency that were sent after 20 failures had been answered, declared \
         threshold 5: overshoot 4, 20 in flight"
    );
    // One that never opens is for B1 to judge.
    assert_eq!(of(Defect::PerRequest).ruling, Ruling::Inconclusive);
}

/// Proves that what was not seen is no pass: nothing at all, a hold that never fired, a late answer that the service
/// did not wait for, a crowd of too few, ends other than the planned ones.
#[test]
fn what_was_not_seen_is_inconclusive() {
    let ruling = |evidence: &Evidence| {
        let found: Vec<_> = checks(&declared(), &evidence.header.scenario).iter().map(|c| c.judge(evidence)).collect();
        found.into_iter().next().expect("a check")
    };
    for scenario in ["breaker-late", "breaker-crowd", "breaker-outcomes"] {
        let stage = Stage::new(&declared(), Defect::None, scenario, 1);
        let finding = ruling(&stage.evidence);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{scenario}");
        assert!(finding.advice.is_some());
    }
    let mut unheld = late(&policy(), Defect::None, 1);
    unheld.attempts.iter_mut().filter_map(|a| a.fault.as_mut()).for_each(|f| (f.held, f.released) = (None, None));
    assert_eq!(ruling(&unheld).ruling, Ruling::Inconclusive);
    let mut given_up = late(&policy(), Defect::None, 1);
    let end = judge::evidence::End::ClientLeft;
    given_up.attempts.iter_mut().filter(|a| a.fault.is_some()).for_each(|a| a.reply.end = end);
    assert_eq!(ruling(&given_up).ruling, Ruling::Inconclusive);
    let mut few = crowd(&policy(), Defect::None, 1);
    few.outcomes.retain(|o| o.step != "crowd/1" || o.seq % 4 == 0);
    assert_eq!(ruling(&few).ruling, Ruling::Inconclusive);
    let mut other = outcomes(&declared(), Defect::None, 1);
    other.attempts.iter_mut().filter(|a| a.reply.status == Some(409)).for_each(|a| a.reply.status = Some(418));
    assert_eq!(ruling(&other).ruling, Ruling::Inconclusive);
}

/// Proves that a call that happened to be slow excuses a breaker that counts slow calls, and no other.
#[test]
fn an_unplanned_slow_call_excuses() {
    let slow = |policy: &BreakerPolicy| {
        let mut evidence = crowd(policy, Defect::LostUpdate, 1);
        evidence.attempts[0].reply.ended.0 += 400 * MS;
        breaker::overshoot_is_bounded(policy, "bank").judge(&evidence)
    };
    assert_eq!(slow(&policy()).ruling, Ruling::Fail);
    let excused = slow(&declared());
    assert_eq!(excused.ruling, Ruling::Inconclusive);
    assert!(excused.headline.contains("slow_call"), "{}", excused.headline);
}

/// Proves that the endpoint's lies are found in both kinds of counters, and that its honest forms are not.
#[test]
fn the_endpoint_is_held_against_the_wire() {
    let of = |defect, source| {
        let mut stage = Stage::new(&policy(), defect, "breaker-trip", 2);
        stage.source = source;
        crate::scenarios::run_trip(&mut stage);
        breaker::state_is_truthful(&policy(), "bank").judge(&stage.evidence)
    };
    for source in ["actuator", "prometheus"] {
        assert_eq!(of(Defect::None, source).ruling, Ruling::Pass, "{source}");
        for defect in [Defect::SaysClosed, Defect::SaysHalfOpen, Defect::CountsTwice, Defect::CountsNothing] {
            assert_eq!(of(defect, source).ruling, Ruling::Fail, "{source}, {defect:?}");
        }
    }
}

/// Proves that a breaker that a hanging probe locked half-open, and says so, is not called a liar: the wire cannot tell
/// half-open from open there.
#[test]
fn a_stuck_half_open_is_no_lie() {
    let mut stage = Stage::new(&policy(), Defect::StuckProbe, "breaker-relapse", 6);
    crate::scenarios::open_it(&mut stage, "trip");
    stage.wait_until(stage.opened + 150 * MS);
    stage.read_endpoint();
    stage.wait_until(stage.opened + part(policy().open, 1.0) + EPS_MS * MS);
    stage.call("fate", Bank::Hangs);
    for _ in 0..10 {
        stage.call("reopened", Bank::Good);
        stage.wait_until(stage.now + 20 * MS);
    }
    stage.read_endpoint();
    let says: Vec<_> = stage.evidence.breakers.iter().map(|r| r.state).collect();
    assert_eq!(says, [BreakerState::Open, BreakerState::HalfOpen]);
    let finding = breaker::state_is_truthful(&policy(), "bank").judge(&stage.evidence);
    assert_eq!(finding.ruling, Ruling::Pass, "{finding:#?}");
}

/// Proves the automata: what one family may do another may not, and an operator's states belong to resilience4j alone.
#[test]
fn each_profile_has_its_own_automaton() {
    use BreakerState::{Closed, ForcedOpen, HalfOpen, MetricsOnly, Open};
    let told = |profile, changes: &[(BreakerState, BreakerState)]| {
        let policy = BreakerPolicy { profile, ..policy() };
        let mut stage = Stage::new(&policy, Defect::None, "breaker-recovery", 1);
        // Without a call on the wire the service's own word would be all there is.
        stage.call("good", Bank::Good);
        let mut evidence = stage.evidence.clone();
        stage.read_endpoint();
        for (from, to) in changes {
            let reading = judge::evidence::BreakerReading {
                from: Some(*from),
                state: *to,
                not_permitted: None,
                ..stage.evidence.breakers[0].clone()
            };
            evidence.breakers.push(reading);
        }
        breaker::sequence_is_legal(&policy, "bank").judge(&evidence)
    };
    let cycle = [(Closed, Open), (Open, HalfOpen), (HalfOpen, Open), (Open, HalfOpen), (HalfOpen, Closed)];
    let ejected = [(Closed, Open), (Open, Closed)];
    let by_hand = [(Closed, ForcedOpen), (ForcedOpen, Closed), (Closed, MetricsOnly), (MetricsOnly, Closed)];
    use BreakerProfile::{Classic, Ejection, Resilience4j};
    for (changes, allowed) in [
        (&cycle[..], &[Classic, Resilience4j][..]),
        (&ejected[..], &[Ejection][..]),
        (&by_hand[..], &[Resilience4j][..]),
    ] {
        for profile in [Classic, Resilience4j, Ejection] {
            let expected = if allowed.contains(&profile) { Ruling::Pass } else { Ruling::Fail };
            let finding = told(profile, changes);
            assert_eq!(finding.ruling, expected, "{profile:?}, {changes:?}: {finding:#?}");
        }
    }
    let torn = told(Classic, &[(Closed, Open), (HalfOpen, Closed)]);
    assert_eq!(torn.ruling, Ruling::Fail);
    assert!(torn.headline.contains("it leaves half-open, but the breaker was open"), "{}", torn.headline);
}

/// Proves that changes that the wire shows must be told of, and that a log that was overwritten proves nothing.
#[test]
fn the_wire_is_held_against_the_events() {
    let mut silent = late(&policy(), Defect::None, 4);
    let last = silent.breakers.iter().rposition(|r| r.from.is_some()).expect("changes were told of");
    silent.breakers.drain(last - 2..=last);
    let check = breaker::sequence_is_legal(&policy(), "bank");
    let finding = check.judge(&silent);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
    assert!(finding.headline.contains("none for the one at"), "{}", finding.headline);
    let text = "the log turned over".to_owned();
    let at = silent.breakers[0].at;
    silent.notes.push(Note { at, weight: NoteWeight::Info, code: "breaker-events-lost".into(), text });
    assert_eq!(check.judge(&silent).ruling, Ruling::Inconclusive);
}

/// Proves the ejection profile without half-open: it trips, comes back whole, and passes what applies to it; a breaker
/// that closes without a probe although it declares one does not.
#[test]
fn ejection_has_no_probe() {
    let run = |policy: &BreakerPolicy, defect| {
        let mut stage = Stage::new(policy, defect, "breaker-trip", 5);
        for _ in 0..2 {
            crate::scenarios::open_it(&mut stage, "trip");
            stage.wait_until(stage.opened + part(policy.open, 0.5));
            stage.read_endpoint();
            stage.wait_until(stage.opened + part(policy.open, 1.0) + EPS_MS * MS);
            times(&mut stage, "back", 8, Bank::Good);
            start_over(&mut stage, "back");
        }
        stage.read_events();
        stage.read_endpoint();
        [breaker::sequence_is_legal(policy, "bank"), breaker::state_is_truthful(policy, "bank")]
            .map(|c| c.judge(&stage.evidence).ruling)
    };
    let ejection = BreakerPolicy { profile: BreakerProfile::Ejection, ..policy() };
    assert_eq!(run(&ejection, Defect::None), [Ruling::Pass, Ruling::Pass]);
    assert_eq!(run(&policy(), Defect::None), [Ruling::Pass, Ruling::Pass]);
    assert_eq!(run(&policy(), Defect::SkipsHalfOpen)[0], Ruling::Fail);
}

/// Proves that a hold that was never released is told as such, and is not passed over in silence: the cycle says nothing of
/// what a late answer does while half-open.
#[test]
fn a_probe_that_was_never_released_is_a_gap() {
    let mut evidence = late(&policy(), Defect::None, 1);
    let probes: Vec<_> = evidence.outcomes_of("probe").iter().map(|o| o.context.trace).collect();
    let held = evidence.attempts.iter_mut().filter(|a| a.context.is_some_and(|c| probes.contains(&c.trace)));
    held.filter_map(|a| a.fault.as_mut()).for_each(|f| f.released = None);
    let finding = breaker::stale_outcomes_change_nothing(&policy(), "bank", Noise::default()).judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
    assert!(finding.headline.contains("were not held, or never released"), "{}", finding.headline);
}
