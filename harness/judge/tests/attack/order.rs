//! The order of records decides nothing.

use judge::evidence::Evidence;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::scene::{PLAYED, tries};

/// The same records in another order, in every list.
pub fn shuffled(evidence: &Evidence, seed: u64) -> Evidence {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Taken apart field by field, so that a list which is new in the format cannot be forgotten here.
    let Evidence {
        header,
        mut steps,
        mut attempts,
        mut connections,
        mut outcomes,
        mut ledger,
        mut bank,
        mut spans,
        breakers,
        mut faults,
        mut edges,
        mut canary,
        mut disk,
        mut notes,
        sealed,
    } = evidence.clone();
    steps.shuffle(&mut rng);
    attempts.shuffle(&mut rng);
    connections.shuffle(&mut rng);
    outcomes.shuffle(&mut rng);
    ledger.shuffle(&mut rng);
    ledger.iter_mut().for_each(|l| l.rows.shuffle(&mut rng));
    bank.shuffle(&mut rng);
    spans.shuffle(&mut rng);
    // Changes of state stand in the order in which they happened.
    let (changes, mut readings): (Vec<_>, Vec<_>) = breakers.into_iter().partition(|b| b.from.is_some());
    readings.shuffle(&mut rng);
    let breakers = readings.into_iter().chain(changes).collect();
    faults.shuffle(&mut rng);
    edges.shuffle(&mut rng);
    canary.shuffle(&mut rng);
    disk.shuffle(&mut rng);
    notes.shuffle(&mut rng);
    Evidence {
        header,
        steps,
        attempts,
        connections,
        outcomes,
        ledger,
        bank,
        spans,
        breakers,
        faults,
        edges,
        canary,
        disk,
        notes,
        sealed,
    }
}

fn same(index: usize, seed: u64) -> Result<(), TestCaseError> {
    let (scene, name, evidence) = &PLAYED[index % PLAYED.len()];
    let other = shuffled(evidence, seed);
    for check in &scene.checks {
        prop_assert_eq!(check.judge(evidence), check.judge(&other), "{}", name);
    }
    Ok(())
}

/// Proves for every evidence that its records may come in any order: not only the ruling, the whole finding is the same,
/// down to the order of its lines.
#[test]
fn a_shuffle_changes_no_finding() {
    (0..PLAYED.len()).for_each(|index| same(index, 1).expect("the same finding"));
}

proptest! {
    #![proptest_config(tries(96))]

    /// The same over many orders.
    #[test]
    fn no_shuffle_changes_a_finding(index: usize, seed: u64) {
        same(index, seed)?;
    }
}
