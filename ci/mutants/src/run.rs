//! Runs each mutant against the tests that reach it, until one fails.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::cover::{self, Cover, Ending};
use crate::mutant::List;
use crate::viable::Left;

/// What a test may take beyond eight times its time on the original, before the mutant counts as a timeout.
const SLACK: Duration = Duration::from_secs(3);

/// Writes one line for each mutant in `files` to `results`: number, outcome, test. Those that are there are not run
/// again, so that a run that was stopped goes on.
pub fn run(
    tree: &Path,
    list: &List,
    left: &Left,
    cover: &Cover,
    only: Option<&str>,
    results: &Path,
) -> Result<(), String> {
    let broken = |error| format!("cannot write {}: {error}", results.display());
    let known = fs::read_to_string(results).unwrap_or_default();
    let known: HashSet<u32> = known.lines().filter_map(|line| line.split('\t').next()?.parse().ok()).collect();
    let mut file = File::options().create(true).append(true).open(results).map_err(broken)?;
    for (id, name) in (1..).zip(&list.names) {
        if known.contains(&id) || only.is_some_and(|only| !name.starts_with(only)) {
            continue;
        }
        let (outcome, test) = match (left.get(&id), cover.reach.get(&id)) {
            (Some(why), _) => (why.as_str(), ""),
            (None, None) => ("unreached", ""),
            (None, Some(tests)) => one(tree, id, tests, cover)?,
        };
        writeln!(file, "{id}\t{outcome}\t{test}\t{name}").map_err(broken)?;
    }
    Ok(())
}

fn one<'a>(tree: &Path, id: u32, tests: &[usize], cover: &'a Cover) -> Result<(&'static str, &'a str), String> {
    for &index in tests {
        let test = &cover.tests[index];
        let choice = ("MUTANT", id.to_string());
        match cover::run(tree, &test.program, &test.name, (choice.0, &choice.1), SLACK + 8 * test.time)? {
            Ending::Passed => {}
            Ending::Failed => return Ok(("caught", &test.name)),
            Ending::TimedOut => return Ok(("timeout", &test.name)),
        }
    }
    Ok(("missed", ""))
}
