//! What is claimed of every reader of foreign bytes, as functions that panic when a claim does not hold. The fuzz
//! targets (`fuzz/`) feed them new inputs; a test feeds them the corpus that was kept.
//!
//! Not part of the public interface: it is there only for tests and with the feature `fuzzing`.

mod go_json;
mod message;
mod names;
mod peer;
mod request;
mod response;
mod rules;

/// A claim over any bytes; panics when it does not hold.
pub type Target = fn(&[u8]);

/// Every target, by the name of its corpus folder and its fuzz binary.
pub const TARGETS: &[(&str, Target)] = &[
    ("request", request::check),
    ("response", response::check),
    ("rules", rules::check),
    ("names", names::check),
    ("go_json", go_json::check),
    ("toxic", go_json::toxic),
];

/// Runs one target by its name.
///
/// # Panics
/// When its claim does not hold, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target of that name");
    target(bytes);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    // Proves every claim over every input of the kept corpus, that each target has one, and that no folder is without
    // its target.
    #[test]
    fn the_corpus_holds() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
        for (name, target) in TARGETS {
            let mut files = 0;
            for entry in std::fs::read_dir(corpus.join(name)).expect("the target's corpus") {
                let path = entry.expect("an entry").path();
                let bytes = std::fs::read(&path).expect("an input");
                if let Err(panic) = std::panic::catch_unwind(|| target(&bytes)) {
                    eprintln!("input: {}", path.display());
                    std::panic::resume_unwind(panic);
                }
                files += 1;
            }
            assert!(files > 0, "{name} has no corpus");
        }
        let folders = std::fs::read_dir(&corpus).expect("corpus").map(|e| e.expect("an entry").file_name());
        let folders: BTreeSet<_> = folders.map(|name| name.to_string_lossy().into_owned()).collect();
        assert_eq!(folders, TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
