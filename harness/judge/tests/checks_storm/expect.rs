//! H5 and H6: what a scenario expects of its variants.

use judge::checks::{Check, trust};
use judge::evidence::Header;
use judge::expect::{Bound, Missed, expected_numbers, known_bad};
use judge::promise::Noise;
use judge::{Finding, Ruling};

use crate::support::evidence;

fn header() -> Header {
    evidence("storm/control").header
}

/// A finding of a real check, with the ruling that the test needs.
fn finding(ruling: Ruling) -> Finding {
    let check: Check = trust::canary_is_quiet(Noise::default());
    let finding = check.judge(&evidence("storm/control"));
    Finding { ruling, advice: Some("be quiet".to_owned()), ..finding }
}

fn expects(ruling: Ruling) -> Vec<(String, Ruling)> {
    vec![("H1".to_owned(), ruling)]
}

/// Proves the four ways a control can go: found out, not found out, undecided, not judged at all.
#[test]
fn a_control_must_be_found_out() {
    let bad = known_bad(&header(), &expects(Ruling::Fail), &[finding(Ruling::Fail)]);
    assert_eq!((bad.ruling, bad.check.as_str()), (Ruling::Pass, "H5"));
    assert!(bad.exhibit[0].starts_with("FAIL H1 QuietMachine"), "{bad:#?}");

    let missed = known_bad(&header(), &expects(Ruling::Fail), &[finding(Ruling::Pass)]);
    assert_eq!(missed.ruling, Ruling::Fail);
    assert_eq!(missed.headline, "H1 is PASS on the control, expected FAIL");

    let unclear = known_bad(&header(), &expects(Ruling::Fail), &[finding(Ruling::Inconclusive)]);
    assert_eq!((unclear.ruling, unclear.advice.as_deref()), (Ruling::Inconclusive, Some("be quiet")));

    assert_eq!(known_bad(&header(), &expects(Ruling::Fail), &[]).ruling, Ruling::Inconclusive);
    assert_eq!(known_bad(&header(), &[], &[finding(Ruling::Fail)]).ruling, Ruling::Inconclusive);
    // A failure is not excused by what is unclear beside it.
    let both = [("H9".to_owned(), Ruling::Fail), ("H1".to_owned(), Ruling::Fail)];
    assert_eq!(known_bad(&header(), &both, &[finding(Ruling::Pass)]).ruling, Ruling::Fail);
}

/// Proves that bounds include their ends, that a number outside of them fails, and that one which is not there, or whose
/// check could not judge, decides nothing.
#[test]
fn numbers_must_lie_within_their_bounds() {
    let bound = |min: f64, max: f64| Bound {
        check: "H1".to_owned(),
        number: "canary, max".to_owned(),
        min: Some(min),
        max: Some(max),
        missed: Missed::Fail,
    };
    let judged = |bound: &Bound, ruling| expected_numbers(&header(), std::slice::from_ref(bound), &[finding(ruling)]);
    // The canary of the stage paused for 3 ms.
    for (min, max) in [(3.0, 3.0), (0.0, 3.0), (3.0, 9.0)] {
        assert_eq!(judged(&bound(min, max), Ruling::Pass).ruling, Ruling::Pass, "{min} {max}");
    }
    let high = judged(&bound(4.0, 9.0), Ruling::Pass);
    assert_eq!(high.ruling, Ruling::Fail);
    assert_eq!(high.headline, "H1: canary, max is 3, expected 4 to 9");
    let spoilt = judged(&Bound { missed: Missed::Inconclusive, ..bound(4.0, 9.0) }, Ruling::Pass);
    assert_eq!((spoilt.ruling, spoilt.headline), (Ruling::Inconclusive, high.headline));
    let open = Bound { min: None, ..bound(0.0, 2.0) };
    assert!(judged(&open, Ruling::Pass).headline.ends_with("expected any to 2"));
    assert_eq!(judged(&bound(0.0, 9.0), Ruling::Inconclusive).ruling, Ruling::Inconclusive);
    let unknown = judged(&Bound { number: "canary, mx".to_owned(), ..bound(0.0, 9.0) }, Ruling::Pass);
    assert_eq!(unknown.ruling, Ruling::Inconclusive);
    assert!(unknown.advice.is_some_and(|a| a.contains("canary, max")), "the numbers that there are");
    assert_eq!(expected_numbers(&header(), &[], &[]).ruling, Ruling::Inconclusive);
}
