//! Each defect is failed by the checks that own it, and by no other.

use judge::{Finding, Ruling};

use crate::judged::{SCENARIOS, judge};
use crate::service::Defect;

/// The defect, and for each scenario where it shows the checks that must fail there.
type Owned = (Defect, &'static [(&'static str, &'static [&'static str])]);

const OWNERS: &[Owned] = &[
    (Defect::OneAttemptMore, &[("retry-herd", &["R1"]), ("retry-law", &["R1"])]),
    (Defect::OneAttemptLess, &[("retry-herd", &["R1"]), ("retry-law", &["R1"])]),
    (Defect::NestedRetries, &[("retry-herd", &["R1"]), ("retry-law", &["R1"])]),
    (Defect::RetriesClientErrors, &[("retry-table", &["R6"])]),
    (Defect::RepeatsRefused, &[("retry-table", &["R6"])]),
    // Whoever gives up after one attempt breaks both the table and the count of attempts.
    (Defect::NeverRetries503, &[("retry-herd", &["R1"]), ("retry-law", &["R1"]), ("retry-table", &["R6"])]),
    (Defect::HidesTheRetry, &[("retry-table", &["R6"])]),
    (
        Defect::NewKeyPerAttempt,
        // Where the first answer was lost, the second key charges a second time.
        &[("one-effect", &["I1", "R13"]), ("retry-law", &["R13"]), ("retry-table", &["I1", "R13"])],
    ),
    (Defect::BodyChanges, &[("one-effect", &["R12"]), ("retry-law", &["R12"]), ("retry-table", &["R12"])]),
    (Defect::BodyConsumed, &[("one-effect", &["R12"]), ("retry-law", &["R12"]), ("retry-table", &["R12"])]),
    (Defect::LengthWrong, &[("one-effect", &["R12"]), ("retry-law", &["R12"]), ("retry-table", &["R12"])]),
    (Defect::ChargesAgainAfterLost, &[("one-effect", &["I1", "R13"]), ("retry-table", &["I1", "R13"])]),
    (
        Defect::SecondRow,
        &[
            ("duplicates", &["I1"]),
            ("one-effect", &["I1"]),
            ("restart", &["I1", "I6"]),
            ("retry-table", &["I1"]),
            ("steady", &["I1"]),
        ],
    ),
    (
        Defect::NeverSettles,
        &[
            ("duplicates", &["I1"]),
            ("one-effect", &["I1"]),
            ("restart", &["I1", "I6"]),
            ("retry-table", &["I1"]),
            ("steady", &["I1"]),
        ],
    ),
    (
        Defect::WrongAmount,
        &[
            ("duplicates", &["I1"]),
            ("one-effect", &["I1"]),
            ("restart", &["I1"]),
            ("retry-table", &["I1"]),
            ("steady", &["I1"]),
        ],
    ),
    (Defect::TwinsBothRun, &[("duplicates", &["I1", "I2"]), ("one-effect", &["I1", "R13"])]),
    (Defect::TwinsGet500, &[("duplicates", &["I2"])]),
    (Defect::TwinsGetPlain409, &[("duplicates", &["I2"])]),
    // In a burst or a crowd nobody can tell a late twin from a replay: there the marked answer that called again is I3's.
    (Defect::TwinRerunsAfterwards, &[("duplicates", &["I2", "I3"]), ("one-effect", &["I3"])]),
    (Defect::ReplayReruns, &[("duplicates", &["I3"]), ("one-effect", &["I3"]), ("restart", &["I6"])]),
    (Defect::ReplayAltered, &[("duplicates", &["I3"]), ("one-effect", &["I3"]), ("restart", &["I6"])]),
    (Defect::ReplayOtherStatus, &[("duplicates", &["I3"]), ("one-effect", &["I3"]), ("restart", &["I6"])]),
    (Defect::ReplayUnmarked, &[("duplicates", &["I3"]), ("one-effect", &["I3"])]),
    (Defect::EverythingMarked, &[("duplicates", &["I3"]), ("one-effect", &["I3"])]),
    (Defect::PayloadNotChecked, &[("duplicates", &["I4"])]),
    (Defect::PayloadOverwrites, &[("duplicates", &["I1", "I4"])]),
    (Defect::MissingKeyAccepted, &[("duplicates", &["I5"])]),
    (Defect::MissingKeyCallsBank, &[("duplicates", &["I5"])]),
    (Defect::InFlightForEver, &[("restart", &["I6"])]),
    (Defect::RecoversWithNewKey, &[("restart", &["I1", "I6"])]),
    // The first caller of all is told 503, so where it has twins they have no success to share.
    (Defect::FailsAtFirst, &[("duplicates", &["I2"]), ("steady", &["H4"])]),
    // The third request of all is sent twice, whatever it is.
    (Defect::RetriesWithoutFault, &[("duplicates", &["I2"]), ("retry-table", &["R6"]), ("steady", &["H4"])]),
];

/// Proves detection and its sharpness: the named checks fail, in the named scenarios, and no others anywhere. And every
/// failure has the one shape: lines that a person can look up, and the chance of a false alarm.
#[test]
fn each_defect_is_failed_by_its_owners_and_by_no_other() {
    let mut wrong = Vec::new();
    for (defect, owners) in OWNERS {
        let mut seen = Vec::new();
        for played in SCENARIOS {
            let failed: Vec<_> = judge(played, *defect).into_iter().filter(|f| f.ruling == Ruling::Fail).collect();
            failed.iter().for_each(has_the_shape);
            let mut ids: Vec<_> = failed.into_iter().map(|f| f.check).collect();
            ids.sort();
            if !ids.is_empty() {
                seen.push((played.0, ids));
            }
        }
        seen.sort();
        let expected: Vec<_> =
            owners.iter().map(|(s, ids)| (*s, ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())).collect();
        if seen != expected {
            wrong.push(format!("{defect:?}:\n  seen     {seen:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn has_the_shape(finding: &Finding) {
    assert!(!finding.lines.is_empty() && finding.lines.len() <= judge::MAX_LINES, "{finding:#?}");
    assert!(finding.lines.iter().all(|l| !l.text.is_empty()), "{finding:#?}");
    assert!(finding.lines.iter().any(|l| l.key.is_some() || l.trace.is_some()), "{finding:#?}");
    assert_eq!(finding.chance.and_then(|c| c.probability()), Some(0.0), "{finding:#?}");
    assert!(
        !finding.promise.is_empty() && !finding.measured.is_empty() && !finding.headline.is_empty(),
        "{finding:#?}"
    );
    assert!(!finding.facts.is_empty() || matches!(finding.check.as_str(), "I4" | "I5"), "{finding:#?}");
}
