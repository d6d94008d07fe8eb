//! The guide's page on evidence has every field of every record, and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use judge::evidence::*;
use serde::Serialize;
use serde_json::Value;

use crate::samples::{header, records};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/evidence.md");
    std::fs::read_to_string(path).expect("the guide's page on evidence")
}

/// The text of the section `### name`.
fn section<'p>(page: &'p str, name: &str) -> &'p str {
    let title = format!("\n### {name}\n");
    let begin = page.find(&title).unwrap_or_else(|| panic!("the page has no section `### {name}`")) + title.len();
    let rest = &page[begin..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len()).min(rest.find("\n### ").unwrap_or(rest.len()))]
}

/// Field and type of each row of the section's first table.
fn table(section: &str) -> BTreeMap<String, String> {
    let rows = section.lines().skip_while(|l| !l.starts_with("| field |")).take_while(|l| l.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 3 && !cells[2].is_empty(), "a row with field, type and meaning: {row}");
        (cells[0].trim_matches('`').to_owned(), cells[1].to_owned())
    })
    .collect()
}

/// The path of every field, `[]` for the entries of lists. What stands below `attributes` is the service's.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    if !path.is_empty() && !path.ends_with("[]") {
        found.insert(path.to_owned());
    }
    match value {
        Value::Object(fields) if !path.ends_with("attributes") => {
            for (name, inner) in fields {
                paths(inner, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| paths(inner, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// The paths of each kind of record among the samples.
pub fn fields(full: bool) -> BTreeMap<String, BTreeSet<String>> {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for record in records(full) {
        let Value::Object(record) = serde_json::to_value(record).expect("JSON") else {
            panic!("a record is an object")
        };
        let (kind, value) = record.into_iter().next().expect("its kind");
        paths(&value, "", kinds.entry(kind).or_default());
    }
    paths(&serde_json::to_value(header()).expect("JSON"), "", kinds.entry("header".to_owned()).or_default());
    kinds
}

/// Proves that the tables and the types are one: each field that a record can have is in its table, each row of a table is
/// a field, and `?` marks exactly those that may be absent.
#[test]
fn the_page_has_every_field_and_no_other() {
    let (page, full, least) = (page(), fields(true), fields(false));
    for (kind, fields) in &full {
        let table = table(section(&page, kind));
        let documented: BTreeSet<String> = table.keys().cloned().collect();
        assert_eq!(&documented, fields, "### {kind} of harness/docs/guide/evidence.md");
        for (field, of_type) in &table {
            let inner = field.rsplit_once('.').is_some_and(|(outer, _)| {
                table.get(outer.trim_end_matches("[]")).is_some_and(|t| t.ends_with('?')) || outer == "answer"
            });
            // Within an object that may be absent only the full sample tells.
            if !inner {
                assert_eq!(least[kind].contains(field), !of_type.ends_with('?'), "{kind}: `{field}` is `{of_type}`");
            }
        }
    }
    let sections: BTreeSet<&str> = page.lines().filter_map(|l| l.strip_prefix("### ")).collect();
    let strange: Vec<_> = sections.iter().filter(|s| **s != "Versions" && !full.contains_key(**s)).collect();
    assert!(strange.is_empty(), "sections about no record: {strange:?}");
}

/// The words of an enumeration, by a match that a new variant breaks.
macro_rules! words {
    ($of:ident: $($variant:ident),+) => {{
        let known = |word: $of| match word { $($of::$variant => {})+ };
        [$($of::$variant),+].map(|word| { known(word); word_of(&word) }).to_vec()
    }};
}

fn word_of(word: &impl Serialize) -> String {
    serde_json::to_value(word).expect("JSON").as_str().expect("a word").to_owned()
}

/// Every enumeration: the kind of record that says it, and its words.
pub fn enumerations() -> Vec<(&'static str, Vec<String>)> {
    vec![
        ("attempt", words!(End: Replied, Reset, Cut, ClientLeft, UpstreamFailed, Unfinished, Malformed)),
        ("connection", words!(ConnectionEnd: ByClient, ByUpstream, CutByFault, ResetByFault, ByShutdown)),
        ("bank", words!(BankEntryKind: Arrival, Charge, Reply)),
        ("span", words!(SpanKind: Unspecified, Internal, Server, Client, Producer, Consumer)),
        ("breaker", words!(BreakerState: Closed, Open, HalfOpen, Disabled, ForcedOpen, MetricsOnly, Unknown)),
        ("edge", words!(EdgeChange: Armed, Changed, Disarmed)),
        ("edge", words!(FaultKind: Rule, Toxic)),
        ("note", words!(NoteWeight: Info, Spoils)),
        ("outcome", ["reply", "failed", "timed_out", "left"].map(str::to_owned).to_vec()),
    ]
}

/// Proves that every moment of a record is found to be moved to another axis, and nothing else: the documented type says
/// which fields are moments.
#[test]
fn every_moment_is_visited() {
    let page = page();
    for record in records(true) {
        let mut moved = record.clone();
        moved.each_moment(&mut |at| at.0 += 1_000_000);
        let (before, after) =
            (serde_json::to_value(&record).expect("JSON"), serde_json::to_value(&moved).expect("JSON"));
        let kind = before.as_object().and_then(|o| o.keys().next()).expect("its kind").clone();
        let table = table(section(&page, &kind));
        let leaves = |value: &Value| {
            let mut found = Vec::new();
            numbers(&value[&kind], "", &mut found);
            found
        };
        for ((path, before), (_, after)) in leaves(&before).into_iter().zip(leaves(&after)) {
            let is_moment = table.get(&path).is_some_and(|t| t.starts_with("moment") || t == "claim");
            let by = if is_moment { 1_000_000 } else { 0 };
            assert_eq!(after, before + by, "{kind}.{path}");
        }
    }
}

/// The whole numbers of a value with their paths, in order.
fn numbers(value: &Value, path: &str, found: &mut Vec<(String, u64)>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                numbers(inner, &if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| numbers(inner, &format!("{path}[]"), found)),
        Value::Number(number) => found.extend(number.as_u64().map(|n| (path.to_owned(), n))),
        _ => {}
    }
}

/// Proves that the page has every word of every enumeration, in the section of the record that says it.
#[test]
fn the_page_has_every_word() {
    let page = page();
    for (kind, words) in enumerations() {
        let section = section(&page, kind);
        for word in words {
            assert!(section.contains(&format!("`{word}`")), "### {kind} does not say `{word}`");
        }
    }
}

/// Proves that the page's example of a file is of the version and minor that are written.
#[test]
fn the_page_names_the_version() {
    let first = format!(r#"{{"format":"{FORMAT}","version":{VERSION},"minor":{MINOR},"header":"#);
    assert!(page().contains(&first), "the example should begin with {first}");
}
