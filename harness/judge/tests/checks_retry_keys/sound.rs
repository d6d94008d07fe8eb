//! What must pass, and what proves nothing.

use judge::Ruling;
use judge::evidence::Evidence;

use crate::judged::{SCENARIOS, all, judge};
use crate::scenarios;
use crate::service::Defect;

/// Proves that a sound service passes every check of every scenario: no false alarm, and no doubt without a reason.
#[test]
fn a_sound_service_passes_everything() {
    for played in SCENARIOS {
        for finding in judge(played, Defect::Sound) {
            assert_eq!(finding.ruling, Ruling::Pass, "{}: {finding:#?}", played.0);
            assert!(!finding.headline.is_empty() && !finding.measured.is_empty(), "{finding:#?}");
            assert_eq!(finding.chance, None, "a pass claims no chance: {finding:#?}");
        }
    }
}

/// Proves that evidence without a record never passes, and says what to run.
#[test]
fn nothing_seen_is_inconclusive() {
    let nothing = Evidence::new(scenarios::steady(Defect::Sound).header);
    for check in all() {
        let finding = check.judge(&nothing);
        assert_eq!(finding.ruling, Ruling::Inconclusive, "{finding:#?}");
        assert!(finding.advice.is_some_and(|a| !a.is_empty()), "{}", finding.check);
    }
}

/// Proves that a check reads its own scenario only: judged by another one's evidence it does not fail a sound service, and
/// what it passes it has seen (attempts, keys, effects are the same everywhere).
#[test]
fn no_check_fails_a_sound_service_in_any_scenario() {
    for (name, play, _) in SCENARIOS {
        let evidence = play(Defect::Sound);
        for check in all() {
            let finding = check.judge(&evidence);
            assert_ne!(finding.ruling, Ruling::Fail, "{name}: {finding:#?}");
        }
    }
}

/// Proves that the order of the records within the evidence decides nothing.
#[test]
fn the_order_of_records_does_not_matter() {
    for (name, play, checks) in SCENARIOS {
        for defect in [Defect::Sound, Defect::NewKeyPerAttempt, Defect::TwinsBothRun] {
            let evidence = play(defect);
            let mut reversed = evidence.clone();
            reversed.attempts.reverse();
            reversed.outcomes.reverse();
            reversed.bank.reverse();
            reversed.spans.reverse();
            reversed.steps.reverse();
            for check in checks() {
                assert_eq!(check.judge(&evidence).ruling, check.judge(&reversed).ruling, "{name} {check:?} {defect:?}");
            }
        }
    }
}
