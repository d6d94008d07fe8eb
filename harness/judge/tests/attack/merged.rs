//! Evidence in several files is the evidence in one.

use std::collections::HashMap;

use judge::evidence::{At, Evidence, MergeError, Record, write};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::scene::{PLAYED, SCENES, tries};

/// Deals the records of one evidence out to `parts`, one in ten to more than one of them.
fn dealt(evidence: &Evidence, parts: usize, seed: u64) -> Vec<Evidence> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let nothing = Evidence { sealed: evidence.sealed, ..Evidence::new(evidence.header.clone()) };
    let mut hands = vec![nothing; parts];
    let mut bytes = Vec::new();
    write(evidence, &mut bytes).expect("memory");
    // A record that was recorded twice is twice in each hand that has it.
    let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
    for line in String::from_utf8(bytes).expect("JSON").lines().skip(1) {
        let Ok(record) = serde_json::from_str::<Record>(line) else { continue };
        let owners = owners.entry(line.to_owned()).or_insert_with(|| {
            // The log of a breaker's changes is one recorder's, which keeps their order.
            let change = matches!(&record, Record::Breaker(b) if b.from.is_some());
            let owner = if change { 0 } else { rng.random_range(0..parts) };
            if change {
                return vec![owner];
            }
            (0..parts).filter(|i| *i == owner || rng.random_bool(0.1)).collect()
        });
        owners.iter().for_each(|i| hands[*i].push(record.clone()));
    }
    hands
}

fn merged(parts: impl IntoIterator<Item = Evidence>) -> Evidence {
    parts.into_iter().reduce(|a, b| a.merge(b).expect("parts of one evidence")).expect("a part")
}

/// Proves that a file merged with itself is itself, and with an empty one too.
#[test]
fn merging_is_idempotent() {
    for (_, name, evidence) in PLAYED.iter() {
        let nothing = Evidence { sealed: true, ..Evidence::new(evidence.header.clone()) };
        let itself = evidence.ordered().into_owned();
        assert_eq!(merged([(*evidence).clone(), (*evidence).clone()]), itself, "{name}");
        assert_eq!(merged([nothing, (*evidence).clone()]), itself, "{name}");
    }
}

proptest! {
    #![proptest_config(tries(48))]

    /// Proves that it does not matter into how many files evidence was written, nor in which order they are merged.
    #[test]
    fn the_order_of_merging_does_not_matter(index: usize, parts in 2_usize..5, seed: u64) {
        let (scene, name, evidence) = &PLAYED[index % PLAYED.len()];
        let hands = dealt(evidence, parts, seed);
        let there = merged(hands.iter().cloned());
        let back = merged(hands.into_iter().rev());
        prop_assert_eq!(&there, &back, "{}", name);
        prop_assert_eq!(&there, &*evidence.ordered(), "{}", name);
        for check in &scene.checks {
            prop_assert_eq!(check.judge(&there), check.judge(evidence), "{}", name);
        }
    }
}

/// Proves that one unsealed part leaves the whole unsealed: what is missing there is missing in the whole.
#[test]
fn one_killed_recorder_spoils_the_whole() {
    for (_, name, evidence) in PLAYED.iter() {
        let mut hands = dealt(evidence, 2, 1);
        hands[1].sealed = false;
        assert!(!merged(hands.iter().cloned()).sealed && !merged(hands.into_iter().rev()).sealed, "{name}");
    }
}

/// Proves that what does not belong together is not merged, on either side, and that the error says why.
#[test]
fn strangers_are_not_merged() {
    let sound = &SCENES[0].sound;
    let refused = |change: fn(&mut Evidence)| {
        let mut other = sound.clone();
        change(&mut other);
        let (there, back) = (sound.clone().merge(other.clone()), other.merge(sound.clone()));
        let (there, back) = (there.expect_err("strangers"), back.expect_err("strangers"));
        assert_eq!(std::mem::discriminant(&there), std::mem::discriminant(&back));
        there
    };
    let field = |error: MergeError| match error {
        MergeError::OtherHeader { field, .. } => field,
        MergeError::NumberedTwice { what, .. } => what,
    };
    assert_eq!(field(refused(|e| e.header.run.push('x'))), "run");
    assert_eq!(field(refused(|e| e.header.scenario.push('x'))), "scenario");
    assert_eq!(field(refused(|e| e.header.service.push('x'))), "service");
    assert_eq!(field(refused(|e| e.header.seed += 1)), "seed");
    assert_eq!(field(refused(|e| e.header.placement.push('x'))), "placement");
    assert_eq!(field(refused(|e| e.header.time.monotonic_ns += 1)), "time.monotonic_ns");
    assert_eq!(field(refused(|e| e.header.time.wall_ns += 1)), "time.wall_ns");
    assert_eq!(field(refused(|e| e.header.eps_ns += 1)), "eps_ns");
    assert_eq!(field(refused(|e| e.outcomes[0].sent = At(7))), "an outcome with seq");
    assert_eq!(field(refused(|e| e.attempts[0].arrived = At(7))), "an attempt with seq");
    // Every attempt of this scene failed at the proxy, so its bank kept an empty journal.
    let mut steady = SCENES[2].sound.clone();
    let one = steady.clone();
    steady.bank[0].at = At(7);
    assert_eq!(field(one.merge(steady).expect_err("strangers")), "a bank entry with seq");
    let words = refused(|e| e.header.run.push('x')).to_string();
    assert!(words.contains("`run` (r and rx)") && words.contains("same run"), "{words}");
    // Two links number their attempts each for itself.
    let mut other = sound.clone();
    other.attempts.iter_mut().for_each(|a| (a.link, a.arrived) = ("ledger".to_owned(), At(7)));
    assert_eq!(sound.clone().merge(other).expect("two links").attempts.len(), 2 * sound.attempts.len());
}

/// Proves that two versions of a recorder are no two runs.
#[test]
fn another_recorder_is_no_stranger() {
    let (one, mut other) = (SCENES[0].sound.clone(), SCENES[0].sound.clone());
    other.header.recorder = "0.9".to_owned();
    assert_eq!(merged([one.clone(), other.clone()]), merged([other, one]));
}
