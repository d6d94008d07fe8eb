//! The detection matrix: every defect against every check, as one table.
//!
//! The suites run each defect through the whole battery and leave one row each; this puts the rows together.

mod table;

use std::path::Path;

use crate::folder::fresh;
use crate::step::Step;
use crate::workspace::Workspace;
use crate::{Failure, options};

use table::Table;

/// Runs the detection suite with rows, prints the table, and writes it to a file if one is named. A defect that its owner
/// did not fail, or that an unlisted check failed, is red; the table is printed all the same. A run that is red before it has
/// left a row, because nothing was built for instance, is just that: no table is printed or written.
///
/// With `--kept` nothing runs: the rows that are there make the table, e.g. after one of them was made again.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let (kept, rest): (Vec<_>, Vec<_>) = arguments.iter().cloned().partition(|word| word == "--kept");
    let out = options::text(&rest, "--out", "")?;
    let workspace = Workspace::load()?;
    let rows = workspace.target.join("detection-matrix");
    if kept.is_empty() { made(&workspace, &rows, &out) } else { shown(&workspace, &read(&rows)?, &out) }
}

fn made(workspace: &Workspace, rows: &Path, out: &str) -> Result<(), Failure> {
    fresh(rows)?;
    let step = Step::cargo("matrix", &["test", "-p", "suites", "--test", "it", "detection::"])
        .env("HARNESS_MATRIX", rows.to_string_lossy());
    let (table, tested) = outcome(rows, step.run())?;
    shown(workspace, &table, out)?;
    tested
}

/// Prints the table, and writes its page where one is named.
fn shown(workspace: &Workspace, table: &Table, out: &str) -> Result<(), Failure> {
    let text = table.to_string();
    print!("{text}");
    if out.is_empty() {
        return Ok(());
    }
    std::fs::write(workspace.root.join(out), page(&text, table))
        .map_err(|e| Failure::Tool(format!("cannot write {out}: {e}")))
}

/// The table beside what became of the run; a run that left none is told by its own failure.
fn outcome(rows: &Path, tested: Result<(), Failure>) -> Result<(Table, Result<(), Failure>), Failure> {
    match read(rows) {
        Ok(table) => Ok((table, tested)),
        Err(unreadable) => Err(tested.err().unwrap_or(unreadable)),
    }
}

fn read(rows: &Path) -> Result<Table, Failure> {
    let broken = |e: std::io::Error| Failure::Tool(format!("cannot read the rows in {}: {e}", rows.display()));
    let columns = std::fs::read_to_string(rows.join("checks.columns")).map_err(broken)?;
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(rows).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        if path.extension().is_some_and(|it| it == "tsv") {
            texts.push(std::fs::read_to_string(path).map_err(broken)?);
        }
    }
    if texts.is_empty() {
        return Err(Failure::Tool(format!("no defect has left a row in {}", rows.display())));
    }
    Table::parse(&columns, &texts).map_err(|what| Failure::Tool(format!("a row of the matrix is unreadable: {what}")))
}

fn page(text: &str, table: &Table) -> String {
    let text: String = text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
    format!(
        "# The detection matrix\n\n\
        Printed by `cargo ci matrix --out harness/docs/detection-matrix.md`: each named defect of the reference service\n\
        goes through the whole battery, and each check says what it thinks. {} defects, {} checks. One row is made again by\n\
        `HARNESS_MATRIX=FOLDER cargo test -p suites -- CASE`, with `target/detection-matrix` as the folder, and `cargo ci matrix --kept --out FILE`\n\
        writes the page.\n\n\
        ```text\n{text}```\n\n\
        `F` the owner failed it, `f` another check failed it too and is listed as an expected companion, `!` a failure that\n\
        nobody expects, `?` inconclusive (the machine paused, or the defect leaves nothing to judge), `.` passed, blank: not\n\
        judged in that battery.\n",
        table.defects(),
        table.checks()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a red run without rows is red and not a broken tool, that a green one without rows is no success, and
    /// that a red one with rows has its table.
    #[test]
    fn a_red_run_is_told_as_that() {
        let rows = std::env::temp_dir().join(format!("ci-matrix-{}", std::process::id()));
        let red = || Err(Failure::Red("the build failed".to_owned()));
        fresh(&rows).expect("a folder");
        for _step in ["nothing at all", "columns only"] {
            assert_eq!(outcome(&rows, red()).map(drop), red());
            assert!(matches!(outcome(&rows, Ok(())), Err(Failure::Tool(_))));
            std::fs::write(rows.join("checks.columns"), "R1\tBoundedAttempts\n").expect("columns");
        }
        std::fs::write(rows.join("sound.tsv"), "sound\t-\t\tR1=PASS\n").expect("a row");
        let (table, tested) = outcome(&rows, red()).expect("a table");
        assert_eq!((table.checks(), tested), (1, red()));
        std::fs::remove_dir_all(&rows).expect("removed");
    }
}
