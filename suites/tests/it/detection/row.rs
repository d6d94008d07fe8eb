//! One row of the detection matrix: what each check said about one defect.
//!
//! With `HARNESS_MATRIX` set to a folder every case runs the whole battery, and not only the scenarios that it needs, and
//! leaves its row there; `cargo ci matrix` puts the rows together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harness::judge::checks::CATALOGUE;
use harness::judge::{Finding, Ruling};

/// The folder of the rows; `None` when no matrix is being made.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os("HARNESS_MATRIX").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Leaves the row of a defect: its name, the owner, the companions, and each check with its worst ruling, between tabs.
pub fn leave(defect: &str, owner: &str, companions: &[&str], findings: &[Finding]) {
    let Some(folder) = folder() else { return };
    let mut worst: BTreeMap<&str, Ruling> = BTreeMap::new();
    for finding in findings {
        let known = worst.entry(&finding.check).or_insert(finding.ruling);
        *known = finding.ruling.max(*known);
    }
    let rulings: Vec<_> = CATALOGUE
        .iter()
        .filter_map(|info| worst.get(info.id).map(|ruling| format!("{}={}", info.id, ruling.word())))
        .collect();
    let row = format!("{defect}\t{owner}\t{}\t{}\n", companions.join(","), rulings.join(","));
    std::fs::create_dir_all(&folder).expect("the folder of HARNESS_MATRIX can be made");
    std::fs::write(folder.join(format!("{defect}.tsv")), row).expect("the row can be written");
}

/// Leaves the columns: every check of the catalogue, in its order.
#[test]
fn the_columns_are_the_catalogue() {
    assert!(!CATALOGUE.is_empty());
    let Some(folder) = folder() else { return };
    let lines: String = CATALOGUE.iter().map(|info| format!("{}\t{}\n", info.id, info.name)).collect();
    std::fs::create_dir_all(&folder).expect("the folder of HARNESS_MATRIX can be made");
    std::fs::write(folder.join("checks.columns"), lines).expect("the columns can be written");
}
