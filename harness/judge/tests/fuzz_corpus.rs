//! Every input that the fuzzer has kept, as a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use judge::checks::CATALOGUE;

#[path = "../fuzz/claims.rs"]
mod claims;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    entries.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect()
}

/// Proves that the target `verdicts` judges by every check, but for those that judge more than one evidence or none.
#[test]
fn every_check_that_can_be_bound_is_claimed_of() {
    let bound: BTreeSet<&str> = claims::checks().iter().map(|c| c.info().id).collect();
    let all: BTreeSet<&str> = CATALOGUE.iter().map(|c| c.id).collect();
    assert_eq!(all.difference(&bound).copied().collect::<Vec<_>>(), ["H5", "H6", "S1"]);
}

/// Proves that each target has a corpus, and that every input in it keeps the target's claims.
#[test]
fn the_corpus_keeps_the_claims() {
    let targets = names(&folder().join("fuzz_targets"));
    assert_eq!(targets, names(&folder().join("corpus")), "each target has a corpus");
    for target in targets {
        let corpus = folder().join("corpus").join(&target);
        let inputs: Vec<_> = fs::read_dir(corpus).expect("a corpus").map(|e| e.expect("an entry").path()).collect();
        assert!(inputs.len() >= 10, "{target} has only {} inputs", inputs.len());
        for input in inputs {
            claims::run(&target, &fs::read(input).expect("an input"));
        }
    }
}
