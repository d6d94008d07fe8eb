//! The counts of a run, and the mutants that no test noticed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Reads the results that a run wrote.
pub fn report(results: &Path) -> Result<String, String> {
    let text = fs::read_to_string(results)
        .map_err(|error| format!("cannot read {}: {error}; run the mutants first", results.display()))?;
    let (mut counts, mut survivors) = (BTreeMap::<&str, u32>::new(), String::new());
    for line in text.lines() {
        let mut columns = line.split('\t');
        let (_, outcome, _, name) = (columns.next(), columns.next(), columns.next(), columns.next());
        let (Some(outcome), Some(name)) = (outcome, name) else { continue };
        // `unviable: E0277` counts as unviable.
        let kind = outcome.split(':').next().unwrap_or(outcome);
        *counts.entry(kind).or_default() += 1;
        if matches!(kind, "missed" | "unreached") {
            survivors += &format!("{kind}\t{name}\n");
        }
    }
    let counts = counts.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ");
    Ok(format!("{survivors}{counts}\n"))
}
