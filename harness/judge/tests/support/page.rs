//! A finding as a page: all that a person reads of it, held against a text that is kept beside the tests.

use std::fmt::Write;
use std::path::Path;

use judge::Finding;

/// A number by six digits: what follows them is the arithmetic of the machine.
fn value(value: &serde_json::Value) -> String {
    match value.as_f64() {
        Some(n) if !value.is_u64() => format!("{n:.5e}"),
        _ => value.to_string(),
    }
}

fn page(finding: &Finding) -> String {
    let mut page = format!("{:?}: {}\n", finding.ruling, finding.headline);
    let bound = finding.chance.and_then(|c| c.probability()).map(|p| format!("{p:.3e}"));
    let parts = [
        ("promise", Some(finding.promise.clone())),
        ("measured", Some(finding.measured.clone())),
        ("class", finding.bug_class.clone()),
        ("chance", bound),
        ("advice", finding.advice.clone()),
    ];
    for (name, text) in parts {
        text.into_iter().for_each(|text| writeln!(page, "{name}: {text}").expect("a string takes it"));
    }
    for fact in &finding.facts {
        writeln!(page, "fact: {} = {} {}", fact.name, value(&fact.value), fact.unit).expect("a string takes it");
    }
    for line in &finding.lines {
        let (key, rank) = (line.key.as_deref().unwrap_or("-"), line.attempt.unwrap_or(0));
        writeln!(page, "line: {} {key} {rank} {}", line.at, line.text).expect("a string takes it");
    }
    finding.exhibit.iter().for_each(|line| writeln!(page, "exhibit: {line}").expect("a string takes it"));
    page.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The finding reads as `tests/pages/<name>.txt` says, letter by letter.
pub fn reads(finding: &Finding, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(format!("{name}.txt"));
    let kept = std::fs::read_to_string(&path).expect("the page is kept");
    assert_eq!(page(finding), kept, "{name}");
}
