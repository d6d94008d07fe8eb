//! A sound fallback passes, and each wrong one is failed by the check that owns it.

use judge::checks::{Check, catalogue, degradation};
use judge::evidence::Evidence;
use judge::{Finding, Ruling};

use crate::degraded_service::{Defect, degradation as played, policy};
use crate::keys::{LINK, fails, passes};

pub fn g1() -> Check {
    degradation::degraded_is_marked(&policy(), LINK)
}

pub fn g2() -> Check {
    degradation::age_is_bounded(&policy(), LINK)
}

pub fn g3() -> Check {
    degradation::fresh_again(&policy(), LINK)
}

pub fn g4() -> Check {
    degradation::confirmed_has_a_row(&policy(), LINK)
}

pub fn all() -> [Check; 4] {
    [g1(), g2(), g3(), g4()]
}

/// Proves that a sound fallback passes all four, and that each says what it saw.
#[test]
fn a_sound_fallback_passes() {
    let evidence = played(Defect::Sound);
    for check in all() {
        let finding = passes(&check, &evidence);
        assert!(!finding.facts.is_empty() && !finding.headline.is_empty(), "{finding:#?}");
    }
}

/// Proves that each wrong fallback is failed with its class, by its owner and by those whose promise it breaks as well.
#[test]
fn each_wrong_fallback_is_failed_by_its_owner() {
    let class = |info: &judge::checks::CheckInfo, n: usize| Some(info.bug_classes[n]);
    let cases: [(Defect, Check, Option<&str>, &[&str]); 15] = [
        (Defect::Unmarked, g1(), class(catalogue::G1, 0), &[]),
        (Defect::Ageless, g1(), class(catalogue::G1, 1), &[]),
        (Defect::MarksEverything, g1(), class(catalogue::G1, 2), &["G3"]),
        (Defect::UnmarkedPayment, g1(), class(catalogue::G1, 0), &[]),
        // An age that stops at its bound no longer grows.
        (Defect::TooOld, g2(), class(catalogue::G2, 0), &["G3"]),
        (Defect::TooOldAndSaysSo, g2(), class(catalogue::G2, 0), &[]),
        // What is always as young as its serving gets no older between two of them.
        (Defect::AgeOfServing, g2(), class(catalogue::G2, 1), &["G3"]),
        (Defect::AgeIsNoNumber, g2(), None, &[]),
        (Defect::StaysDegraded, g3(), class(catalogue::G3, 0), &[]),
        (Defect::FailsAfterwards, g3(), class(catalogue::G3, 0), &[]),
        (Defect::StoredAsFresh, g3(), class(catalogue::G3, 1), &[]),
        // An age that starts again is also below the true one, and outlives its bound.
        (Defect::AgeStartsAgain, g3(), class(catalogue::G3, 1), &["G2"]),
        (Defect::ConfirmedWithoutRow, g4(), class(catalogue::G4, 0), &[]),
        (Defect::ConfirmsWhatItIsAsked, g4(), class(catalogue::G4, 1), &["G3"]),
        (Defect::NeverDegrades, g4(), None, &[]),
    ];
    for (defect, owner, class, companions) in cases {
        let evidence = played(defect);
        if defect == Defect::NeverDegrades {
            assert_eq!(failed(&evidence), Vec::<String>::new());
            continue;
        }
        fails(&owner, &evidence, class);
        let others: Vec<_> = failed(&evidence).into_iter().filter(|c| c != owner.info().id).collect();
        assert_eq!(others, companions, "{defect:?}");
    }
}

fn failed(evidence: &Evidence) -> Vec<String> {
    let findings = all().map(|c| c.judge(evidence));
    let failed = |f: Finding| (f.ruling == Ruling::Fail).then_some(f.check);
    findings.into_iter().filter_map(failed).collect()
}
