//! No evidence makes a check panic, and none makes it say two things.

use judge::evidence::{Evidence, Note, NoteWeight};
use judge::{Finding, Ruling};
use proptest::prelude::*;

use crate::mangle::{damages, mangled};
use crate::order::shuffled;
use crate::scene::{PLAYED, SCENES, tries};

/// What holds of every finding, whatever it was made from.
fn well_formed(finding: &Finding) -> Result<(), TestCaseError> {
    prop_assert!(!finding.headline.is_empty() && !finding.promise.is_empty(), "{:#?}", finding);
    prop_assert!(finding.lines.len() <= judge::MAX_LINES, "{:#?}", finding);
    prop_assert_eq!(finding.chance.is_some(), finding.ruling == Ruling::Fail, "{:#?}", finding);
    if let Some(chance) = finding.chance {
        let bound = chance.probability();
        prop_assert!(bound.is_some_and(|p| (0.0..=1e-5).contains(&p)), "{:#?}", finding);
    }
    if finding.ruling == Ruling::Inconclusive {
        prop_assert!(finding.advice.is_some(), "{:#?}", finding);
    }
    Ok(())
}

fn stands(evidence: &Evidence, index: usize, seed: u64) -> Result<(), TestCaseError> {
    let scene = PLAYED[index % PLAYED.len()].0;
    let other = shuffled(evidence, seed);
    for check in &scene.checks {
        let finding = check.judge(evidence);
        well_formed(&finding)?;
        prop_assert_eq!(&finding, &check.judge(&other));
        let spoiled =
            Note { at: judge::evidence::At(0), weight: NoteWeight::Spoils, code: "x".into(), text: "y".into() };
        let mut lossy = evidence.clone();
        lossy.notes.push(spoiled);
        prop_assert_ne!(check.judge(&lossy).ruling, Ruling::Pass);
        lossy.sealed = false;
        prop_assert_eq!(check.judge(&lossy).ruling, Ruling::Inconclusive, "nothing is proven by unsealed evidence");
    }
    Ok(())
}

proptest! {
    #![proptest_config(tries(48))]

    /// Proves that evidence damaged in a few places, in any field and to any value that its type holds, is judged without
    /// a panic and to one finding in any order; that a spoiling note forbids every pass, and a missing seal every verdict.
    #[test]
    fn damaged_evidence_is_judged(index: usize, seed: u64, damages in damages(40)) {
        let evidence = mangled(PLAYED[index % PLAYED.len()].2, &damages);
        stands(&evidence, index, seed)?;
    }

    /// Proves the same of evidence that another scenario's checks read.
    #[test]
    fn evidence_of_another_scenario_is_judged(index: usize, other: usize, damages in damages(20)) {
        let evidence = mangled(PLAYED[index % PLAYED.len()].2, &damages);
        for check in &SCENES[other % SCENES.len()].checks {
            well_formed(&check.judge(&evidence))?;
        }
    }
}
