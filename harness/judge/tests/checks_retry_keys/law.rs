//! R2 and R3 on fleets that wait as the law says, and on those that do not.

use judge::Ruling;
use judge::sim::Policy;

use crate::judged::{r2, r3};
use crate::scenarios::all_fail;
use crate::service::Defect;

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
        let (seen, critical) = (number("retries in the fullest window"), number("m*"));
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
