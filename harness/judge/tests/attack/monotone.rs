//! Clean evidence acquits nobody.

use judge::Ruling;
use proptest::prelude::*;

use crate::clean::added;
use crate::scene::{PLAYED, tries};

/// The ruling after more good behaviour was seen may not be better than before.
fn not_better(index: usize, times: u8) -> Result<(), TestCaseError> {
    let (scene, name, base) = &PLAYED[index % PLAYED.len()];
    let more = (1..=times).fold((*base).clone(), |all, nth| added(&all, &scene.more, nth, scene.steps));
    for check in &scene.checks {
        let (before, after) = (check.judge(base), check.judge(&more));
        if before.ruling == Ruling::Fail {
            prop_assert_eq!(after.ruling, Ruling::Fail, "{}: {:#?}", name, after);
        } else {
            prop_assert!(after.ruling >= before.ruling, "{}: {:#?} became {:#?}", name, before, after);
        }
    }
    Ok(())
}

/// Proves for every broken evidence that one more run of good behaviour acquits it of nothing, and accuses a sound one of
/// nothing.
#[test]
fn a_good_run_more_acquits_nobody() {
    for (index, (scene, name, base)) in PLAYED.iter().enumerate() {
        not_better(index, 1).expect("not better");
        if name.ends_with(", sound") {
            let more = added(base, &scene.more, 1, scene.steps);
            for check in &scene.checks {
                assert_ne!(check.judge(&more).ruling, Ruling::Fail, "{name}: {:#?}", check.judge(&more));
            }
        }
    }
}

proptest! {
    #![proptest_config(tries(24))]

    /// Proves that much good behaviour acquits of nothing either: a breach is a breach in whatever company.
    #[test]
    fn many_good_runs_acquit_nobody(index: usize, times in 2_u8..6) {
        not_better(index, times)?;
    }
}
