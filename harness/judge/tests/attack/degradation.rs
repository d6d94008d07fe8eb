//! The scene of answers from memory while the dependency cannot be asked.

use judge::checks::degradation;

use super::promises::degraded_service::{Defect, degradation as played, policy};
use super::scene::{Scene, Steps};
use crate::support::LINK;

pub fn scenes() -> Vec<Scene> {
    let policy = policy();
    let wrong = [
        Defect::Unmarked,
        Defect::Ageless,
        Defect::MarksEverything,
        Defect::UnmarkedPayment,
        Defect::TooOld,
        Defect::TooOldAndSaysSo,
        Defect::AgeOfServing,
        Defect::AgeIsNoNumber,
        Defect::StaysDegraded,
        Defect::FailsAfterwards,
        Defect::StoredAsFresh,
        Defect::AgeStartsAgain,
        Defect::ConfirmedWithoutRow,
        Defect::ConfirmsWhatItIsAsked,
    ];
    vec![Scene {
        name: "degradation",
        checks: vec![
            degradation::degraded_is_marked(&policy, LINK),
            degradation::age_is_bounded(&policy, LINK),
            degradation::fresh_again(&policy, LINK),
            degradation::confirmed_has_a_row(&policy, LINK),
        ],
        sound: played(Defect::Sound),
        broken: wrong.map(|defect| (format!("{defect:?}"), played(defect))).into(),
        more: played(Defect::Sound),
        steps: Steps::Same,
    }]
}
