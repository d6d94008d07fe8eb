//! The order of records decides nothing.

use judge::evidence::Evidence;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::scene::{PLAYED, tries};

/// The same records in another order, in every list.
pub fn shuffled(evidence: &Evidence, seed: u64) -> Evidence {
    let (mut e, mut rng) = (evidence.clone(), ChaCha8Rng::seed_from_u64(seed));
    e.steps.shuffle(&mut rng);
    e.attempts.shuffle(&mut rng);
    e.connections.shuffle(&mut rng);
    e.outcomes.shuffle(&mut rng);
    e.ledger.shuffle(&mut rng);
    e.ledger.iter_mut().for_each(|l| l.rows.shuffle(&mut rng));
    e.bank.shuffle(&mut rng);
    e.spans.shuffle(&mut rng);
    // Changes of state stand in the order in which they happened.
    let (changes, mut readings): (Vec<_>, Vec<_>) = e.breakers.into_iter().partition(|b| b.from.is_some());
    readings.shuffle(&mut rng);
    e.breakers = readings.into_iter().chain(changes).collect();
    e.faults.shuffle(&mut rng);
    e.edges.shuffle(&mut rng);
    e.canary.shuffle(&mut rng);
    e.disk.shuffle(&mut rng);
    e.notes.shuffle(&mut rng);
    e
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
