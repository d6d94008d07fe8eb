//! Puts every mutant into a copy of the repository, and takes out those that do not compile, until the rest does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::mutant::List;
use crate::print::{self, Region};
use crate::site;

/// The package under test.
pub const PACKAGE: &str = "judge";
const SOURCES: &str = "harness/judge/src";
const RUNTIME: &str = include_str!("runtime.rs.txt");

/// Fewer rounds suffice by far; more mean that nothing converges.
const ROUNDS: u32 = 40;

/// What became of each mutant that is not in the build.
pub type Left = BTreeMap<u32, String>;

/// Instruments `tree` from the sources of `clean`; says what was left out.
pub fn instrument(clean: &Path, tree: &Path, list: &List) -> Result<Left, String> {
    let mut unviable = BTreeMap::new();
    for round in 1..=ROUNDS {
        let dropped = unviable.keys().copied().collect();
        let (regions, mut left) = write(clean, tree, list, &dropped)?;
        let errors = check(tree, &regions)?;
        eprintln!("round {round}: {} mutants do not compile", errors.len());
        if errors.is_empty() {
            left.extend(unviable);
            return Ok(left);
        }
        unviable.extend(errors);
    }
    Err(format!("still not compiling after {ROUNDS} rounds; look at cargo check in {}", tree.display()))
}

type Regions = HashMap<String, Vec<Region>>;

fn write(clean: &Path, tree: &Path, list: &List, dropped: &HashSet<u32>) -> Result<(Regions, Left), String> {
    let (mut regions, mut left) = (HashMap::new(), BTreeMap::new());
    for (file, mutants) in &list.files {
        let path = clean.join(file);
        let source = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}; the list must be of this commit", path.display()))?;
        let (edits, remarks) =
            site::find(&source, mutants, dropped).map_err(|error| format!("{file} does not parse: {error}"))?;
        left.extend(remarks.into_iter().map(|(id, why)| {
            (id, if why == "let chain" { "unviable: let chain".to_owned() } else { format!("left over: {why}") })
        }));
        let (text, of_file) = print::print(&source, edits);
        save(&tree.join(file), &text)?;
        regions.insert(file.clone(), of_file);
    }
    let root = tree.join(SOURCES).join("lib.rs");
    let text = fs::read_to_string(&root).map_err(|error| format!("cannot read {}: {error}", root.display()))?;
    if !text.contains("pub mod mutant;") {
        save(&root, &format!("{text}\npub mod mutant;\n"))?;
    }
    let count = (list.names.len() + 1).to_string();
    save(&tree.join(SOURCES).join("mutant.rs"), &RUNTIME.replace("COUNT_HERE", &count))?;
    Ok((regions, left))
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Cargo in the copy. The mutants make many warnings, and none of them means anything.
pub fn cargo(tree: &Path, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let mut command = Command::new("cargo");
    command.args(arguments).args(["-p", PACKAGE, "--message-format=json"]);
    command.current_dir(tree).env("RUSTFLAGS", "--cap-lints allow").stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn check(tree: &Path, regions: &Regions) -> Result<Left, String> {
    let (mut found, mut other) = (BTreeMap::new(), Vec::new());
    for message in cargo(tree, &["check", "--lib"])? {
        let message = &message["message"];
        if message["level"] != "error" {
            continue;
        }
        let spans = message["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
        let primary = spans.iter().filter(|span| span["is_primary"] == true);
        let owners: Vec<u32> = primary.filter_map(|span| owner(span, regions)).collect();
        if owners.is_empty() && !spans.is_empty() {
            other.push(message["rendered"].as_str().unwrap_or_default().to_owned());
        }
        let code = message["code"]["code"].as_str().unwrap_or("syntax");
        found.extend(owners.into_iter().map(|id| (id, format!("unviable: {code}"))));
    }
    // An error elsewhere is usually a consequence, and goes with its cause.
    match other.first() {
        Some(error) if found.is_empty() => Err(format!("an error that belongs to no mutant:\n{error}")),
        _ => Ok(found),
    }
}

/// The mutant that an error points at; in a macro, the one around the call.
fn owner(span: &Value, regions: &Regions) -> Option<u32> {
    let offset = |name: &str| usize::try_from(span[name].as_u64()?).ok();
    let here = span["file_name"].as_str().and_then(|file| regions.get(file));
    let (start, end) = (offset("byte_start")?, offset("byte_end")?);
    here.and_then(|regions| print::owner(regions, start, end))
        .or_else(|| owner(span.get("expansion")?.get("span")?, regions))
}
