//! The list that `cargo mutants --list --json` prints. A mutant's number is its place in it, from 1.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;

/// What stands at a site instead of the original.
#[derive(Debug, Clone)]
pub struct Mutant {
    pub id: u32,
    pub replacement: String,
}

/// Where a mutant is: its genre, line and column, both from 1.
pub type Place = (String, usize, usize);

/// The mutants of each file by place.
pub type ByFile = BTreeMap<String, HashMap<Place, Vec<Mutant>>>;

/// The list as it is reported and as it is rewritten.
pub struct List {
    /// `file:line:column: description`; mutant 1 comes first.
    pub names: Vec<String>,
    pub files: ByFile,
}

/// Reads the list.
pub fn load(path: &Path) -> Result<List, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("cannot read {}: {error}; make it with cargo mutants --list --json -p PACKAGE", path.display())
    })?;
    let all: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| format!("{} is not a list of mutants: {error}", path.display()))?;
    let mut list = List { names: Vec::new(), files: BTreeMap::new() };
    for (id, value) in (1..).zip(&all) {
        let entry = read(value).ok_or_else(|| {
            format!("mutant {id} lacks a field; this tool knows the list of cargo-mutants 25 and 26, with --json")
        })?;
        let (file, place, replacement, name) = entry;
        list.names.push(name);
        list.files.entry(file).or_default().entry(place).or_default().push(Mutant { id, replacement });
    }
    Ok(list)
}

fn read(value: &Value) -> Option<(String, Place, String, String)> {
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let start = value.get("span")?.get("start")?;
    let number = |name: &str| usize::try_from(start.get(name)?.as_u64()?).ok();
    Some((text("file")?, (text("genre")?, number("line")?, number("column")?), text("replacement")?, text("name")?))
}
