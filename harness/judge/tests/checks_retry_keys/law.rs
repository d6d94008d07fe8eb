//! R2 and R3 on fleets that wait as the law says, and on those that do not.

use judge::Ruling;
use judge::evidence::At;
use judge::sim::Policy;

use crate::judged::{r2, r3};
use crate::scenarios::all_fail;
use crate::service::Defect;
use crate::support::MS;

/// Proves that R2 passes the declared law and fails the ways to wait wrongly that a payments team meets, with the
/// class of bugs, a bound on chance at or below the level, the nearest law and ten gaps with both their timestamps.
#[test]
fn wrong_waits_are_failed_and_named() {
    let wrong = [
        (Policy::FixedExponential, "no jitter", "fixed exponential"),
        (Policy::Immediate, "no jitter", "immediate"),
        (Policy::FixedConstant, "no jitter", "fixed"),
        (Policy::SharedSeed, "seeds alike", "no jitter: every client waits"),
        (Policy::OneDrawPerClient, "one random draw", ""),
        (Policy::NoGrowth, "exponent", "without growth"),
        (Policy::CeilingDoubled, "exponent", "ceiling x2"),
        (Policy::MillisecondsForSeconds, "", ""),
    ];
    for (policy, class, looks_like) in wrong {
        let finding = r2().judge(&all_fail("waves", policy, 100, Defect::Sound));
        assert_eq!(finding.ruling, Ruling::Fail, "{policy}: {finding:#?}");
        let said = finding.bug_class.unwrap_or_default();
        assert!(said.contains(class), "{policy}: `{said}` should speak of `{class}`");
        assert!(finding.headline.contains(looks_like), "{policy}: {}", finding.headline);
        let chance = finding.chance.and_then(|c| c.probability()).expect("a bound");
        assert!(chance <= 7e-7, "{policy}: {chance}");
        assert_eq!(finding.lines.len(), judge::MAX_LINES);
        assert!(finding.lines.iter().all(|l| l.key.is_some() && l.trace.is_some() && l.text.contains("from t+")));
        let histogram = finding.exhibit.iter().filter(|l| l.contains(" to ") && l.starts_with("0.")).count();
        assert!(histogram >= 16, "{policy}: a histogram of 20 bins, {:#?}", finding.exhibit);
    }
    let sound = r2().judge(&all_fail("waves", Policy::Full, 100, Defect::Sound));
    assert_eq!(sound.ruling, Ruling::Pass, "{sound:#?}");
}

/// Proves that a herd without jitter is failed by its peak, and one with the declared jitter is not: the peak of a fixed
/// law is the whole herd, 100 of 100, above m*.
#[test]
fn a_herd_is_failed_by_its_peak() {
    for policy in [Policy::FixedExponential, Policy::Immediate, Policy::SharedSeed] {
        let finding = r3().judge(&all_fail("herd", policy, 100, Defect::Sound));
        assert_eq!(finding.ruling, Ruling::Fail, "{policy}: {finding:#?}");
        assert!(finding.chance.and_then(|c| c.probability()).is_some_and(|p| p <= 1e-7), "{finding:#?}");
        assert!(finding.bug_class.is_some_and(|c| c.contains("retry storm")));
        let number = |name: &str| finding.facts.iter().find(|f| f.name == name).and_then(|f| f.value.as_f64());
        let (seen, critical) = (number("retries in the fullest 20ms"), number("m* of 20ms"));
        assert!(seen >= critical && critical.is_some(), "{policy}: {seen:?} against {critical:?}");
        assert!(finding.measured.contains("expects at most"), "{}", finding.measured);
    }
    let sound = r3().judge(&all_fail("herd", Policy::Full, 100, Defect::Sound));
    assert_eq!(sound.ruling, Ruling::Pass, "{sound:#?}");
}

/// Proves that too few clients are not acquitted, but can be convicted: 20 sound ones are inconclusive with their power
/// in words, 20 without jitter fail.
#[test]
fn few_clients_convict_but_do_not_acquit() {
    let sound = r2().judge(&all_fail("waves", Policy::Full, 20, Defect::Sound));
    assert_eq!(sound.ruling, Ruling::Inconclusive, "{sound:#?}");
    assert!(
        sound.headline.contains("20 clients") && sound.advice.is_some_and(|a| a.contains("60")),
        "{}",
        sound.headline
    );
    let fixed = r2().judge(&all_fail("waves", Policy::FixedExponential, 20, Defect::Sound));
    assert_eq!(fixed.ruling, Ruling::Fail, "{fixed:#?}");
}

/// Proves what a pause costs R3: after one of 30 ms a herd of 100 without jitter is still failed and a sound one passes;
/// after one of 55 ms no window could tell, so that a sound one is not passed.
#[test]
fn a_herd_is_acquitted_only_where_it_could_be_convicted() {
    for (policy, pause, expected) in [
        (Policy::FixedExponential, 30, Ruling::Fail),
        (Policy::Full, 30, Ruling::Pass),
        (Policy::Full, 55, Ruling::Inconclusive),
    ] {
        let mut evidence = all_fail("herd", policy, 100, Defect::Sound);
        evidence.canary[0].max_ns = pause * MS;
        let finding = r3().judge(&evidence);
        assert_eq!(finding.ruling, expected, "{policy} after {pause} ms: {finding:#?}");
    }
}

/// Proves that a herd which the machine smeared over some 40 ms is still seen: the longer windows hold what the
/// shortest one does not.
#[test]
fn a_smeared_herd_is_still_a_herd() {
    let mut evidence = all_fail("herd", Policy::FixedExponential, 100, Defect::Sound);
    for attempt in evidence.attempts.iter_mut().filter(|a| a.ordinal == 2) {
        // Whoever retries 200 ms after its failure arrives up to 38 ms late, in the order of the payments.
        let number: u64 = attempt.key.as_deref().and_then(|k| k.rsplit('-').next()?.parse().ok()).expect("a number");
        let late = number * 38 * MS / 100;
        (attempt.arrived, attempt.reply.ended) = (At(attempt.arrived.0 + late), At(attempt.reply.ended.0 + late));
    }
    let finding = r3().judge(&evidence);
    assert_eq!(finding.ruling, Ruling::Fail, "{finding:#?}");
}
