//! What a file of each minor can say is kept, so that nobody adds to the format without raising the minor.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use judge::evidence::{MINOR, VERSION};

use crate::page::{enumerations, fields};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence_format/shapes")
}

/// Every field of every record, with a `?` where it may be absent, and every word.
fn shape() -> BTreeSet<String> {
    let (full, least) = (fields(true), fields(false));
    let of_fields = full.iter().flat_map(|(kind, fields)| {
        let mark = |field: &String| if least[kind].contains(field) { "" } else { "?" };
        fields.iter().map(move |field| format!("{kind}.{field}{}", mark(field)))
    });
    let of_words =
        |(kind, words): (&'static str, Vec<String>)| words.into_iter().map(move |w| format!("{kind} says {w}"));
    of_fields.chain(enumerations().into_iter().flat_map(of_words)).collect()
}

fn kept(minor: u32) -> BTreeSet<String> {
    let path = folder().join(format!("{VERSION}.{minor}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}

/// Proves that the format is what its minor says. Whoever adds to it raises `MINOR`, and writes the new shape beside the old
/// ones, which stay what they were.
#[test]
fn the_format_is_that_of_its_minor() {
    let (shape, kept) = (shape(), kept(MINOR));
    let added: Vec<_> = shape.difference(&kept).collect();
    let removed: Vec<_> = kept.difference(&shape).collect();
    assert!(added.is_empty() && removed.is_empty(), "raise MINOR for what is added {added:#?} (removed: {removed:#?})");
    let next = folder().join(format!("{VERSION}.{}.txt", MINOR + 1));
    assert!(!next.exists(), "{} is of no minor", next.display());
}

/// Proves that a minor only adds, and nothing that older files would have to have: what is new and always there belongs to a
/// kind of record, or to an object, that is new itself.
#[test]
fn a_minor_only_adds() {
    for minor in 2..=MINOR {
        let (before, after) = (kept(minor - 1), kept(minor));
        let removed: Vec<_> = before.difference(&after).collect();
        assert!(removed.is_empty(), "1.{minor} lacks {removed:#?}");
        let added: BTreeSet<&String> = after.difference(&before).collect();
        assert!(!added.is_empty(), "1.{minor} adds nothing");
        for field in added.iter().filter(|f| !f.contains(' ') && !f.ends_with('?')) {
            let (kind, _) = field.split_once('.').expect("a kind and a field");
            let known = before.iter().any(|f| f.starts_with(&format!("{kind}.")));
            assert!(!known, "1.{minor}: no older file has `{field}`");
        }
    }
}
